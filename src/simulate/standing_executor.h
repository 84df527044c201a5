// The executor of one simulated process among several: it can stand still, as a process does that is stopped
// or starved, while time goes on for the others.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <utility>

#include "base/executor.h"

namespace berth::simulate {

class StandingExecutor final : public Executor {
 public:
  // `inner` must outlive it. Destroying it drops what has not run: the process is dead.
  explicit StandingExecutor(Executor& inner);
  ~StandingExecutor() override;

  Time now() const override;
  void post(Task task) override;
  TimerId at(Time when, Task task) override;
  void cancel(TimerId timer) override;

  void stand_still();
  // What was posted meanwhile, such as answers that were on their way, comes before the timers that became
  // due: the worst order for whoever relies on a timer to notice.
  void go_on();

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with tasks of the inner executor, which find it gone
};

}  // namespace berth::simulate
