#include "controller/work_queue.h"

#include <algorithm>
#include <utility>

#include "base/planted.h"

namespace berth::controller {
namespace {
constexpr Duration kFirstRetry = std::chrono::milliseconds(20);
constexpr Duration kLastRetry = std::chrono::seconds(30);
// A key may run kFreeRuns times within kWindow. Then each run is delayed longer, up to kSlowest.
constexpr Duration kWindow = std::chrono::seconds(10);
constexpr int kFreeRuns = 50;
constexpr Duration kSlowest = std::chrono::seconds(5);
constexpr int kFirstInARow = 7;          // then one of the others runs, if any waits
constexpr std::size_t kFewPaces = 1024;  // more keys than this are looked at, and old ones dropped
}  // namespace

WorkQueue::WorkQueue(Executor& executor, Work work, Duration delay, kube::RateLimit* rate, std::size_t most_running)
    : executor_(executor),
      work_(std::move(work)),
      line_([](const std::string& key) { return key.substr(0, key.find('/')); }),
      delay_(delay),
      rate_(rate),
      most_running_(most_running) {}

WorkQueue::~WorkQueue() {
  for (const auto& [key, entry] : entries_) {
    if (entry.timer != 0) executor_.cancel(entry.timer);
  }
}

void WorkQueue::add(const std::string& key) { add(key, delay_); }

void WorkQueue::add_at_once(const std::string& key) { add(key, Duration(0)); }

void WorkQueue::add_first(const std::string& key) {
  add(key, delay_);
  Entry& entry = entries_.at(key);
  if (std::exchange(entry.first, true) || entry.waits != Waits::kInLine) return;
  first_.push(line_(key), key);
  if (++moved_ <= waiting_.size() / 2) return;
  waiting_.erase_if([this](const auto& one) { return !in_line(one, false); });
  moved_ = 0;
}

bool WorkQueue::in_line(const std::string& key, bool first) const {
  const auto entry = entries_.find(key);
  return entry != entries_.end() && entry->second.waits == Waits::kInLine && entry->second.first == first;
}

void WorkQueue::add(const std::string& key, Duration delay) {
  Entry& entry = entries_[key];
  if (entry.running) {
    entry.again = !planted(Planted::kLostWakeUp);
    return;
  }
  if (entry.waits != Waits::kNo) return;
  // A change may fix what made the key fail, so the key does not wait for the rest of its retry delay.
  const bool sooner = delay < delay_ && !entry.at_once;
  if (entry.timer != 0 && !entry.has_turn && (entry.failures > 0 || sooner)) {
    executor_.cancel(entry.timer);
    entry.timer = 0;
  }
  entry.at_once = entry.at_once || sooner;
  if (entry.timer == 0) entry.timer = executor_.after(delay_of(key, delay), [this, key] { run(key); });
}

Duration WorkQueue::delay_of(const std::string& key, Duration delay) {
  const Time now = executor_.now();
  if (pace_.size() >= drop_at_) {
    std::erase_if(pace_, [now](const auto& p) { return now - p.second.since > kWindow; });
    drop_at_ = std::max(kFewPaces, 2 * pace_.size());
  }
  Pace& pace = pace_[key];
  if (now - pace.since > kWindow) pace = {now, 0};
  const int beyond = ++pace.runs - kFreeRuns;
  if (beyond <= 0) return delay;
  return std::max(delay, std::min(kFirstRetry * (1 << std::min(beyond, 12)), kSlowest));
}

void WorkQueue::run(const std::string& key) {
  Entry& entry = entries_.at(key);
  entry.timer = 0;
  if (rate_ != nullptr && !std::exchange(entry.has_turn, true)) {
    const Duration wait = rate_->reserve(executor_.now());
    if (wait > Duration(0)) {
      entry.timer = executor_.after(wait, [this, key] { run(key); });
      return;
    }
  }
  if (running_ >= most_running_) return wait(key, entry);
  ++running_;
  start(key, entry);
}

void WorkQueue::start(const std::string& key, Entry& entry) {
  entry.waits = Waits::kNo;
  entry.has_turn = false;
  entry.at_once = false;
  entry.first = false;
  entry.running = true;
  entry.again = false;
  work_(key, lifetime_.guard([this, key](bool ok) { finished(key, ok); }));
}

void WorkQueue::wait(const std::string& key, Entry& entry) {
  entry.waits = Waits::kInLine;
  (entry.first ? first_ : waiting_).push(line_(key), key);
}

// The next one is posted: work that is done at once would nest without end.
void WorkQueue::run_next() {
  while (!first_.empty() || !waiting_.empty()) {
    const bool first = !first_.empty() && (waiting_.empty() || in_a_row_ < kFirstInARow);
    std::string key = (first ? first_ : waiting_).pop();
    if (!in_line(key, first)) continue;  // it moved
    entries_.at(key).waits = Waits::kCalled;
    in_a_row_ = first ? in_a_row_ + 1 : 0;
    ++running_;  // its place: what becomes due in the meantime waits behind it
    return executor_.post(lifetime_.guard([this, key = std::move(key)] { start(key, entries_.at(key)); }));
  }
}

void WorkQueue::finished(const std::string& key, bool ok) {
  --running_;
  run_next();
  Entry& entry = entries_.at(key);
  entry.running = false;
  if (ok) {
    entry.failures = 0;
    if (!entry.again) {
      entries_.erase(key);
      return;
    }
    entry.timer = executor_.after(delay_of(key, delay_), [this, key] { run(key); });
    return;
  }
  const Duration delay = std::min(kFirstRetry * (1 << std::min(entry.failures, 12)), kLastRetry);
  ++entry.failures;
  entry.timer = executor_.after(delay, [this, key] { run(key); });
}

}  // namespace berth::controller
