// Runs tasks and timers and tells the time. All code that decides runs on one executor, one task at a time, and takes
// the time from it, not from a clock. In production the executor is the event loop; in tests and simulations it has
// virtual time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "base/time.h"

namespace berth {

using Task = std::function<void()>;
using TimerId = std::uint64_t;  // 0 is no timer

class Executor {
 public:
  virtual ~Executor() = default;
  virtual Time now() const = 0;
  // Runs soon, after tasks posted earlier; callable from any thread
  virtual void post(Task task) = 0;
  // Runs once at `when` (soon if past); call on the executor's thread
  virtual TimerId at(Time when, Task task) = 0;
  virtual void cancel(TimerId timer) = 0;  // no effect after it ran
  TimerId after(Duration d, Task task) { return at(now() + d, std::move(task)); }
};

// Virtual time: tasks run in the order of (time, posting); the clock jumps to the next task. Single-threaded.
class VirtualExecutor final : public Executor {
 public:
  explicit VirtualExecutor(Time start) : now_(start) {}
  Time now() const override { return now_; }
  void post(Task task) override { at(now_, std::move(task)); }
  TimerId at(Time when, Task task) override;
  void cancel(TimerId timer) override;

  bool step();                            // runs the next task; false when there is none
  void run_until(Time end);               // runs all tasks due up to and including `end`, then now() == end
  bool run_ready(std::size_t max_tasks);  // runs the tasks due now; false when there are more
  std::optional<Time> next_due() const;

 private:
  Time now_;
  TimerId last_ = 0;
  std::map<std::pair<Time, TimerId>, Task> tasks_;
  std::map<TimerId, Time> due_;
};

}  // namespace berth
