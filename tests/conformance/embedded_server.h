// The embedded API server in this process, in virtual time, called through its router.
#pragma once

#include <memory>
#include <string>

#include "base/executor.h"
#include "conformance/player.h"
#include "embedded/apiserver/router/router.h"
#include "embedded/apiserver/server/api_server.h"

namespace berth::conformance {

class EmbeddedServer final : public Server {
 public:
  EmbeddedServer();
  ~EmbeddedServer() override;

  Played send(apiserver::http::HttpRequest request, const Caller& caller, const Listen& listen,
              const std::function<void()>& during) override;
  std::string revision() override;
  Time now() const override { return executor_.now(); }
  bool real_time() const override { return false; }
  void install_kueue() override;

 private:
  VirtualExecutor executor_;
  std::unique_ptr<apiserver::ApiServer> core_;
  std::unique_ptr<apiserver::http::Router> router_;
};

}  // namespace berth::conformance
