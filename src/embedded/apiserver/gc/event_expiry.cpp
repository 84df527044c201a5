#include "embedded/apiserver/gc/event_expiry.h"

namespace berth::apiserver {
namespace {

constexpr Duration kLife = std::chrono::hours(1);
constexpr Duration kExpiryPause = std::chrono::seconds(1);  // retry delay when the store accepts no writes
const std::string kEventBucket = bucket_of("", "events");

}  // namespace

EventExpiry::~EventExpiry() {
  if (timer_ != 0) core_.executor.cancel(timer_);
}

void EventExpiry::load() {
  core_.store.scan(kEventBucket, "", "", core_.store.revision(), [&](std::string_view item, const JsonPtr&) {
    keep(std::string(item));
    return true;
  });
}

void EventExpiry::on_change(const Change& change) {
  if (!change.key.starts_with(kEventBucket)) return;
  const std::string item = change.key.substr(kEventBucket.size());
  if (change.type == Change::Type::kDeleted) {
    forget(item);
  } else {
    keep(item);
  }
}

void EventExpiry::keep(const std::string& item) {
  forget(item);
  const Time due = core_.executor.now() + kLife;
  due_[item] = due;
  queue_.emplace(due, item);
  arm();
}

void EventExpiry::forget(const std::string& item) {
  const auto it = due_.find(item);
  if (it == due_.end()) return;
  queue_.erase({it->second, item});
  due_.erase(it);
}

void EventExpiry::arm() {
  if (timer_ != 0 || queue_.empty()) return;
  timer_ = core_.executor.at(queue_.begin()->first, [this] {
    timer_ = 0;
    expire();
  });
}

void EventExpiry::expire() {
  while (!queue_.empty() && queue_.begin()->first <= core_.executor.now()) {
    const std::string item = queue_.begin()->second;
    const Revision revision = core_.store.revision_of(kEventBucket, item);
    if (revision > 0) {
      const auto removed = core_.store.remove({kEventBucket, item}, revision);
      if (!removed && passes(removed.error())) {
        timer_ = core_.executor.after(kExpiryPause, [this] {
          timer_ = 0;
          expire();
        });
        return;
      }
    }
    forget(item);
  }
  arm();
}

}  // namespace berth::apiserver
