// Plays recordings against the embedded API server in one process, in virtual time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/http/router.h"
#include "apiserver/server/api_server.h"
#include "base/executor.h"
#include "conformance/match.h"
#include "conformance/recording.h"

namespace berth::conformance {

struct Played : apiserver::http::HttpResponse {
  bool stream = false;  // the body holds the events of a watch
};

// An API server of its own, reached through its router.
class Server {
 public:
  Server();
  ~Server();

  // Runs until the answer is complete; a watch until `listen` of virtual time has passed. `during` is called
  // when a watch has begun.
  Played send(apiserver::http::HttpRequest request, Duration listen, const std::function<void()>& during);
  void send(const Preparation& preparation, const Bindings& bindings);
  void install_kueue();  // the CustomResourceDefinitions
  std::string revision() const;
  Time now() const { return executor_.now(); }

 private:
  VirtualExecutor executor_;
  std::unique_ptr<apiserver::ApiServer> core_;
  std::unique_ptr<apiserver::http::Router> router_;
};

struct StepResult {
  std::string title;
  std::vector<Difference> differences;
};

// One recording on a server of its own, step by step.
std::vector<StepResult> play(const std::string& name);

}  // namespace berth::conformance
