// A client for controllers: a webhook that is not Berth's guards a job.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "api/rest.h"
#include "api/status.h"
#include "base/executor.h"

namespace berth::controller {

// Somebody's webhook refuses to start the job "a", each time with another text.
class GuardedJob final : public api::RestClient {
 public:
  GuardedJob(api::RestClient& server, Executor& executor) : server_(server), executor_(executor) {
    streamed_lists_not_offered();
  }
  void call(api::RestRequest request, std::function<void(api::RestResponse)> done) override {
    if (!guards || request.verb != api::Verb::kPatch || request.name != "a" ||
        bool_at(request.body, {"spec", "suspend"}, true))
      return server_.call(std::move(request), std::move(done));
    const std::string why =
        "admission webhook \"guard.example.org\" denied the request: not today, ticket " + std::to_string(++tickets);
    executor_.post([done = std::move(done), why] { done({403, api::make_status(403, "Forbidden", why), {}}); });
  }
  std::unique_ptr<api::WatchHandle> watch(api::RestRequest request,
                                          std::function<void(const api::WatchEvent&)> on_event,
                                          std::function<void()> on_end) override {
    return server_.watch(std::move(request), std::move(on_event), std::move(on_end));
  }
  bool guards = true;
  int tickets = 0;

 private:
  api::RestClient& server_;
  Executor& executor_;
};

}  // namespace berth::controller
