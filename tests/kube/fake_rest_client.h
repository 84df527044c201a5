// A fake API server, on a virtual executor: the test gives its answers.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "api/rest.h"
#include "api/status.h"
#include "base/executor.h"

namespace berth::kube {

class FakeRestClient final : public api::RestClient {
 public:
  explicit FakeRestClient(VirtualExecutor& executor) : executor_(executor) {}

  struct Call {
    api::RestRequest request;
    std::function<void(api::RestResponse)> done;
  };
  struct Watch {
    api::RestRequest request;
    std::function<void(const api::WatchEvent&)> on_event;
    std::function<void()> on_end;
    bool open = true;
  };

  std::deque<Call> calls;                       // not answered yet
  std::vector<std::shared_ptr<Watch>> watches;  // all that were ever started

  void call(api::RestRequest request, std::function<void(api::RestResponse)> done) override {
    calls.push_back({std::move(request), std::move(done)});
  }

  std::unique_ptr<api::WatchHandle> watch(api::RestRequest request,
                                          std::function<void(const api::WatchEvent&)> on_event,
                                          std::function<void()> on_end) override {
    auto w = std::make_shared<Watch>(Watch{std::move(request), std::move(on_event), std::move(on_end)});
    watches.push_back(w);
    return std::make_unique<Handle>(w);
  }

  // Answers the oldest open call and runs the tasks that follow.
  api::RestRequest answer(api::RestResponse response) {
    if (calls.empty()) {
      ADD_FAILURE() << "no call to answer";
      return {};
    }
    Call call = std::move(calls.front());
    calls.pop_front();
    executor_.post(
        [done = std::move(call.done), response = std::move(response)]() mutable { done(std::move(response)); });
    EXPECT_TRUE(executor_.run_ready(1000));
    return call.request;
  }

  Watch& last_watch() { return *watches.back(); }
  std::size_t open_watches() const {
    std::size_t count = 0;
    for (const auto& w : watches) count += w->open ? 1 : 0;
    return count;
  }

  // Sends an event on the newest watch; does nothing when that is closed.
  void send(api::WatchEvent::Type type, const Json& object) {
    const auto w = watches.back();
    executor_.post([w, event = api::WatchEvent{type, std::make_shared<const Json>(object)}] {
      if (w->open) w->on_event(event);
    });
    EXPECT_TRUE(executor_.run_ready(1000));
  }
  void end_watch() {
    const auto w = watches.back();
    executor_.post([w] {
      if (!w->open) return;
      w->open = false;
      w->on_end();
    });
    EXPECT_TRUE(executor_.run_ready(1000));
  }

 private:
  struct Handle final : api::WatchHandle {
    explicit Handle(std::shared_ptr<Watch> w) : watch(std::move(w)) {}
    ~Handle() override { watch->open = false; }
    std::shared_ptr<Watch> watch;
  };

  VirtualExecutor& executor_;
};

}  // namespace berth::kube
