#include "base/executor.h"

#include <algorithm>

namespace berth {

TimerId VirtualExecutor::at(Time when, Task task) {
  const TimerId id = ++last_;
  const Time due = std::max(when, now_);
  tasks_.emplace(std::pair(due, id), std::move(task));
  due_.emplace(id, due);
  return id;
}

void VirtualExecutor::cancel(TimerId timer) {
  const auto it = due_.find(timer);
  if (it == due_.end()) return;
  tasks_.erase({it->second, timer});
  due_.erase(it);
}

bool VirtualExecutor::step() {
  if (tasks_.empty()) return false;
  auto node = tasks_.extract(tasks_.begin());
  now_ = node.key().first;
  due_.erase(node.key().second);
  node.mapped()();
  return true;
}

void VirtualExecutor::run_until(Time end) {
  while (!tasks_.empty() && tasks_.begin()->first.first <= end) step();
  now_ = std::max(now_, end);
}

bool VirtualExecutor::run_ready(std::size_t max_tasks) {
  for (std::size_t n = 0; !tasks_.empty() && tasks_.begin()->first.first <= now_; ++n) {
    if (n == max_tasks) return false;
    step();
  }
  return true;
}

std::optional<Time> VirtualExecutor::next_due() const {
  if (tasks_.empty()) return std::nullopt;
  return tasks_.begin()->first.first;
}

}  // namespace berth
