// A client that can be cut off from its server, or left without answers.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "api/rest.h"
#include "api/status.h"
#include "base/executor.h"

namespace berth::controller::multikueue_fixture {

// The connection from the manager to a worker.
struct Wire {
  enum class State { kUp, kCut, kSilent };  // kCut: every request fails at once; kSilent: none is answered
  State state = State::kUp;
  // Answers instead of the server; nullopt: the server answers. May be empty.
  std::function<std::optional<api::RestResponse>(const api::RestRequest&)> instead;
  std::set<std::function<void()>*> watches;  // ends of those that run
  // A connection that was silent is broken: what was sent meanwhile does not come later.
  void heal() {
    cut();
    state = State::kUp;
  }
  void cut(State how = State::kCut) {
    state = how;
    if (how != State::kCut) return;
    for (auto* end : std::set(watches)) (*end)();
  }
};

class WireClient final : public api::RestClient {
 public:
  WireClient(api::RestClient& server, Executor& executor, std::shared_ptr<Wire> wire)
      : server_(server), executor_(executor), wire_(std::move(wire)) {}

  void call(api::RestRequest request, std::function<void(api::RestResponse)> done) override {
    if (auto answer = wire_->instead ? wire_->instead(request) : std::nullopt)
      return executor_.post([done, answer = std::move(*answer)] { done(answer); });
    if (wire_->state == Wire::State::kSilent) return time_out(std::move(done));
    if (wire_->state == Wire::State::kCut)
      return executor_.post([done] { done({0, api::make_status(0, "", "the wire is cut"), {}}); });
    server_.call(std::move(request), [this, wire = wire_, done = std::move(done)](api::RestResponse response) {
      if (wire->state == Wire::State::kSilent) return time_out(done);
      if (wire->state == Wire::State::kCut) response = {0, api::make_status(0, "", "the answer was lost"), {}};
      done(std::move(response));
    });
  }

  std::unique_ptr<api::WatchHandle> watch(api::RestRequest request,
                                          std::function<void(const api::WatchEvent&)> on_event,
                                          std::function<void()> on_end) override {
    auto handle = std::make_unique<Handle>();
    handle->wire = wire_;
    handle->end = [this, alive = std::weak_ptr<bool>(handle->alive), on_end] {
      executor_.post([alive, on_end] {
        if (alive.lock()) on_end();
      });
    };
    wire_->watches.insert(&handle->end);
    if (auto answer = wire_->instead ? wire_->instead(request) : std::nullopt) {
      executor_.post([alive = std::weak_ptr<bool>(handle->alive), on_event, on_end, body = std::move(answer->body)] {
        if (alive.lock()) on_event({api::WatchEvent::Type::kError, std::make_shared<const Json>(body)});
        if (alive.lock()) on_end();
      });
      return handle;
    }
    if (wire_->state == Wire::State::kCut) handle->end();
    if (wire_->state == Wire::State::kCut) return handle;
    if (wire_->state == Wire::State::kSilent) return handle;
    handle->inner = server_.watch(
        std::move(request),
        [wire = wire_, on_event](const api::WatchEvent& event) {
          if (wire->state == Wire::State::kUp) on_event(event);
        },
        on_end);
    return handle;
  }

 private:
  void time_out(std::function<void(api::RestResponse)> done) {
    executor_.after(std::chrono::seconds(20),
                    [done = std::move(done)] { done({0, api::make_status(0, "", "no answer"), {}}); });
  }
  struct Handle final : api::WatchHandle {
    ~Handle() override { wire->watches.erase(&end); }
    std::shared_ptr<Wire> wire;
    std::function<void()> end;
    std::shared_ptr<bool> alive = std::make_shared<bool>(true);
    std::unique_ptr<api::WatchHandle> inner;
  };
  api::RestClient& server_;
  Executor& executor_;
  std::shared_ptr<Wire> wire_;
};

}  // namespace berth::controller::multikueue_fixture
