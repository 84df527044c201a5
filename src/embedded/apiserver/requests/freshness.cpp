#include "embedded/apiserver/requests/freshness.h"

#include <algorithm>
#include <utility>

namespace berth::apiserver {

constexpr Duration kLongestWait = std::chrono::seconds(3);

Freshness::~Freshness() {
  for (const auto& [key, waiting] : waiting_) executor_.cancel(waiting.timer);
}

std::uint64_t Freshness::wait(Revision revision, std::function<void(bool)> done) {
  const std::pair key{revision, ++last_id_};
  Waiting& waiting = waiting_[key];
  waiting.done = std::move(done);
  waiting.timer = executor_.after(kLongestWait, [this, key] {
    auto node = waiting_.extract(key);
    if (!node.empty()) node.mapped().done(false);
  });
  return key.second;
}

void Freshness::cancel(std::uint64_t id) {
  const auto it = std::ranges::find_if(waiting_, [&](const auto& entry) { return entry.first.second == id; });
  if (it == waiting_.end()) return;
  executor_.cancel(it->second.timer);
  waiting_.erase(it);
}

void Freshness::advance(Revision durable) {
  while (!waiting_.empty() && waiting_.begin()->first.first <= durable) {
    auto node = waiting_.extract(waiting_.begin());
    executor_.cancel(node.mapped().timer);
    node.mapped().done(true);
  }
}

void Freshness::abandon() {
  while (!waiting_.empty()) {
    auto node = waiting_.extract(waiting_.begin());
    executor_.cancel(node.mapped().timer);
    node.mapped().done(false);
  }
}

}  // namespace berth::apiserver
