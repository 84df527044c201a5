// Plays recordings of requests and answers against an API server.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apiserver/http/message.h"
#include "base/time.h"
#include "conformance/match.h"
#include "conformance/recording.h"

namespace berth::conformance {

struct Played : apiserver::http::HttpResponse {
  bool stream = false;  // the body holds the events of a watch
};

// How long a watch is listened to: until so many events came and then no other one, or so long.
struct Listen {
  Duration at_most{};
  std::size_t events = 0;
};

// Whose request it is.
struct Caller {
  std::string name = "kubernetes-admin";  // of a client certificate for system:masters; "": anonymous
  std::string token;                      // or of a token: bob's, or a wrong one
};

inline constexpr const char* kBobsToken = "bobtoken";  // bob, in the group team-a
inline constexpr const char* kBobsUid = "5b0c1d2e-0000-4000-8000-0000000000b0";

// A new API server of its own.
class Server {
 public:
  virtual ~Server() = default;
  // Until the answer is complete. `during` is called when a watch has begun.
  virtual Played send(apiserver::http::HttpRequest request, const Caller& caller, const Listen& listen,
                      const std::function<void()>& during) = 0;
  virtual std::string revision() = 0;  // of the store, at present
  virtual Time now() const = 0;
  virtual bool real_time() const = 0;
  virtual void install_kueue() = 0;  // the CustomResourceDefinitions
};

// Throws std::runtime_error when the answer is no success.
void send(Server& server, const Preparation& preparation, const Bindings& bindings);

struct StepResult {
  std::string title;
  std::vector<Difference> differences;
};

// One recording, step by step, on a server on which nothing happened yet.
std::vector<StepResult> play(Server& server, const std::string& name);

}  // namespace berth::conformance
