#include "embedded/cluster/shared/looks.h"

#include <algorithm>
#include <utility>

namespace berth::cluster {
namespace {
constexpr Duration kMaxRetry = std::chrono::minutes(1);
constexpr int kMaxDoublings = 12;
}  // namespace

Duration doubled(Duration first, int times, Duration most) {
  return std::min(most, first * (1 << std::clamp(times, 0, kMaxDoublings)));
}

Looks::Looks(Executor& executor, Duration first_retry, std::function<void(const std::string& key)> look)
    : executor_(executor), first_retry_(first_retry), look_(std::move(look)) {}

Looks::~Looks() {
  for (const auto& [key, entry] : entries_) {
    if (entry.timer != 0) executor_.cancel(entry.timer);
  }
}

void Looks::add(const std::string& key) {
  Entry& entry = entries_[key];
  if (entry.open > 0) {
    entry.again = true;
    return;
  }
  if (std::exchange(entry.queued, true)) return;
  executor_.post(lifetime_.guard([this, key] {
    entries_[key].queued = false;
    look_(key);
  }));
}

void Looks::add_at(const std::string& key, Time when) {
  Entry& entry = entries_[key];
  if (entry.timer != 0) executor_.cancel(entry.timer);
  entry.timer = executor_.at(when, [this, key] {
    entries_[key].timer = 0;
    add(key);
  });
}

void Looks::forget(const std::string& key) {
  const auto at = entries_.find(key);
  if (at == entries_.end()) return;
  if (at->second.timer != 0) executor_.cancel(at->second.timer);
  entries_.erase(at);
}

void Looks::answered(const std::string& key, bool ok) {
  Entry& entry = entries_[key];
  entry.failed = entry.failed || !ok;
  if (--entry.open > 0) return;
  const bool again = std::exchange(entry.again, false);
  if (!std::exchange(entry.failed, false)) {
    entry.failures = 0;
    return add(key);
  }
  add_at(key, executor_.now() + doubled(first_retry_, entry.failures++, kMaxRetry));
  if (again) add(key);
}

}  // namespace berth::cluster
