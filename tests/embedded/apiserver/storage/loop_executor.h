// An executor for tests with real threads: tasks run on the thread that calls run_until().
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>

#include "base/executor.h"

namespace berth {

class LoopExecutor final : public Executor {
 public:
  Time now() const override { return now_; }
  void post(Task task) override {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    wake_.notify_one();
  }
  // Time stands still: timers are kept, and never due.
  TimerId at(Time, Task task) override {
    timers_.emplace(++last_, std::move(task));
    return last_;
  }
  void cancel(TimerId timer) override { timers_.erase(timer); }

  template <typename Done>
  void run_until(const Done& done) {
    while (!done()) {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return !tasks_.empty(); });
      run_one(std::move(lock));
    }
  }
  // Runs the next task. False when none came within `timeout`.
  bool run_next(Duration timeout) {
    std::unique_lock lock(mutex_);
    if (!wake_.wait_for(lock, timeout, [this] { return !tasks_.empty(); })) return false;
    run_one(std::move(lock));
    return true;
  }

 private:
  void run_one(std::unique_lock<std::mutex> lock) {
    const Task task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
  }

  Time now_{std::chrono::hours(24 * 365 * 50)};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Task> tasks_;
  std::map<TimerId, Task> timers_;
  TimerId last_ = 0;
};

}  // namespace berth
