// The executor of one simulated process among several. It can stop while time continues for the others, as a process
// that is suspended or starved of CPU.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <utility>

#include "base/executor.h"

namespace berth::lab {

class StandingExecutor final : public Executor {
 public:
  // `inner` must outlive it. The destructor drops tasks that have not run: the process is dead.
  explicit StandingExecutor(Executor& inner);
  ~StandingExecutor() override;

  Time now() const override;
  void post(Task task) override;
  TimerId at(Time when, Task task) override;
  void cancel(TimerId timer) override;

  void stand_still();
  // Tasks posted meanwhile, such as answers that had arrived, run before the timers that became due. This is the
  // worst order for code that relies on a timer to notice the pause.
  void go_on();

 private:
  struct State;
  std::shared_ptr<State> state_;  // tasks of the inner executor hold it weakly and do nothing once it is gone
};

}  // namespace berth::lab
