// A client whose watches bring one object late.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/rest.h"

namespace berth::controller {

// Keeps back the events of one object. Other requests see it. Later events of the same watch would overtake them, and a
// cache takes none that is older than itself.
class LateClient final : public api::RestClient {
 public:
  explicit LateClient(api::RestClient& server) : server_(server) {}

  void call(api::RestRequest request, std::function<void(api::RestResponse)> done) override {
    if (!request.field_selector.empty() && request.resource.resource == late_) ++questions;
    if (lose > 0 && request.verb == api::Verb::kPatch && request.resource.resource == late_) {
      --lose;
      done = [done = std::move(done)](const api::RestResponse&) { done({0, Json(), {}}); };
    } else if (refuse > 0 && request.verb == api::Verb::kPatch && request.resource.resource == late_) {
      --refuse;
      return done({503, Json(), {}});
    }
    server_.call(std::move(request), std::move(done));
  }
  std::unique_ptr<api::WatchHandle> watch(api::RestRequest request,
                                          std::function<void(const api::WatchEvent&)> on_event,
                                          std::function<void()> on_end) override {
    const std::string resource = request.resource.resource;
    return server_.watch(
        std::move(request),
        [this, resource, on_event](const api::WatchEvent& event) {
          if (resource != late_ || string_at(*event.object, {"metadata", "name"}) != name_) return on_event(event);
          held_.emplace_back([on_event, event] { on_event(event); });
        },
        std::move(on_end));
  }
  void be_late(const std::string& resource, const std::string& name) {
    late_ = resource;
    name_ = name;
  }
  void catch_up() {
    late_.clear();
    for (const auto& deliver : std::exchange(held_, {})) deliver();
  }

  int questions = 0;
  int lose = 0;    // the next `lose` patches of objects such as the late one are carried out without an answer
  int refuse = 0;  // the next `refuse` ones are not carried out: the server is not available

 private:
  api::RestClient& server_;
  std::string late_, name_;
  std::vector<std::function<void()>> held_;
};

}  // namespace berth::controller
