// The production executor: one event loop on one thread, with the system clock.
#pragma once

#include <memory>

#include "base/executor.h"

namespace berth::http {

class AsioExecutor final : public Executor {
 public:
  AsioExecutor();
  ~AsioExecutor() override;  // drops tasks that have not run

  Time now() const override;
  void post(Task task) override;
  TimerId at(Time when, Task task) override;
  void cancel(TimerId timer) override;

  // Runs tasks on this thread until stop(). With `rest` > 0, tasks that arrive within that time run together: see
  // run_loop().
  void run(Duration rest = Duration::zero());
  void stop();  // from any thread; tasks that are already in the queue run first

  // Calls `task` on the executor for each of these signals, once the loop runs.
  void on_signals(std::initializer_list<int> signals, std::function<void(int)> task);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::http
