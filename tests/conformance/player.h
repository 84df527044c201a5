// Plays recordings of requests and answers against an API server.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/time.h"
#include "conformance/match.h"
#include "conformance/recording.h"
#include "embedded/apiserver/http/message.h"

namespace berth::conformance {

struct Played : apiserver::http::HttpResponse {
  bool stream = false;  // the body holds the events of a watch
};

// How long to listen to a watch: until `events` events arrived and then no other one, or for `at_most`.
struct Listen {
  Duration at_most{};
  std::size_t events = 0;
};

// The user that sends a request.
struct Caller {
  std::string name = "kubernetes-admin";  // of a client certificate in system:masters; "": no certificate
  std::string token;                      // bearer token: bob's, or a wrong one; with no name and no token: anonymous
};

inline constexpr const char* kBobsToken = "bobtoken";  // bob, in the group team-a
inline constexpr const char* kBobsUid = "5b0c1d2e-0000-4000-8000-0000000000b0";

// A new, separate API server.
class Server {
 public:
  virtual ~Server() = default;
  // Waits until the answer is complete. Calls `during` when a watch has begun.
  virtual Played send(apiserver::http::HttpRequest request, const Caller& caller, const Listen& listen,
                      const std::function<void()>& during) = 0;
  virtual std::string revision() = 0;  // the current revision of the store
  virtual Time now() const = 0;
  virtual bool real_time() const = 0;
  virtual void install_kueue() = 0;  // installs the CustomResourceDefinitions
};

// Throws std::runtime_error unless the answer is a success.
void send(Server& server, const Preparation& preparation, const Bindings& bindings);

struct StepResult {
  std::string title;
  std::vector<Difference> differences;
};

// Plays one recording step by step on a new server.
std::vector<StepResult> play(Server& server, const std::string& name);

}  // namespace berth::conformance
