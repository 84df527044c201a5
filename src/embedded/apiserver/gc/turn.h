// Schedules the work of an internal controller on the executor; at most one run is scheduled at a time.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "base/executor.h"

namespace berth::apiserver {

class Turn {
 public:
  Turn(Executor& executor, std::function<void()> work)
      : executor_(executor), state_(std::make_shared<State>(std::move(work))) {}
  ~Turn() { state_->work = nullptr; }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  void soon() {
    if (std::exchange(state_->waiting, true)) return;
    executor_.post([state = state_] { run(*state); });
  }
  // Runs after `delay`, for example because the store accepts no writes.
  void later(Duration delay) {
    if (std::exchange(state_->waiting, true)) return;
    executor_.after(delay, [state = state_] { run(*state); });
  }

 private:
  struct State {
    explicit State(std::function<void()> w) : work(std::move(w)) {}
    std::function<void()> work;
    bool waiting = false;
  };
  static void run(State& state) {
    state.waiting = false;
    if (state.work) state.work();
  }

  Executor& executor_;
  std::shared_ptr<State> state_;
};

}  // namespace berth::apiserver
