#include "embedded/lab/standing_executor.h"

namespace berth::lab {

struct StandingExecutor::State : std::enable_shared_from_this<State> {
  explicit State(Executor& i) : inner(i) {}

  Executor& inner;
  bool standing = false;
  TimerId last = 0;
  std::map<TimerId, TimerId> waiting;  // timers that are not due: own ID -> ID of the inner executor
  std::deque<Task> posts;
  std::map<std::pair<Time, TimerId>, Task> overdue;

  void due(TimerId id, Time when, Task task) {
    waiting.erase(id);
    if (!standing) return task();
    overdue.emplace(std::pair(when, id), std::move(task));
  }
};

StandingExecutor::StandingExecutor(Executor& inner) : state_(std::make_shared<State>(inner)) {}
StandingExecutor::~StandingExecutor() {
  for (const auto& [ours, theirs] : state_->waiting) state_->inner.cancel(theirs);
}

Time StandingExecutor::now() const { return state_->inner.now(); }

void StandingExecutor::post(Task task) {
  state_->inner.post([weak = std::weak_ptr(state_), task = std::move(task)] {
    const auto state = weak.lock();
    if (!state) return;
    if (!state->standing) return task();
    state->posts.push_back(task);
  });
}

TimerId StandingExecutor::at(Time when, Task task) {
  const TimerId id = ++state_->last;
  state_->waiting[id] = state_->inner.at(when, [weak = std::weak_ptr(state_), id, when, task = std::move(task)] {
    if (const auto state = weak.lock()) state->due(id, when, task);
  });
  return id;
}

void StandingExecutor::cancel(TimerId timer) {
  if (const auto it = state_->waiting.find(timer); it != state_->waiting.end()) {
    state_->inner.cancel(it->second);
    state_->waiting.erase(it);
    return;
  }
  std::erase_if(state_->overdue, [timer](const auto& entry) { return entry.first.second == timer; });
}

void StandingExecutor::stand_still() { state_->standing = true; }

void StandingExecutor::go_on() {
  state_->standing = false;
  for (auto& task : std::exchange(state_->posts, {})) post(std::move(task));
  // Put back among the timers until they run, so that they can still be cancelled.
  for (auto& [key, task] : std::exchange(state_->overdue, {})) {
    const auto& [when, id] = key;
    state_->waiting[id] = state_->inner.at(now(), [weak = std::weak_ptr(state_), id, when, run = std::move(task)] {
      if (const auto state = weak.lock()) state->due(id, when, run);
    });
  }
}

}  // namespace berth::lab
