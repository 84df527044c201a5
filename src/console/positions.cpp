#include "console/positions.h"

#include <utility>

#include "api/meta.h"
#include "api/visibility/visibility.h"

namespace berth::console {
namespace {

// Names of queues are DNS names; anything else could lead to another path.
bool plain_name(std::string_view name) {
  return !name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-") == std::string_view::npos &&
         name.find("..") == std::string_view::npos;
}

}  // namespace

Positions::Positions(Collection& positions, Executor& executor, ReadPath read)
    : rows_(positions), executor_(executor), read_(std::move(read)) {}

void Positions::queue_changed(const std::string& name, const Json* now) {
  if (now == nullptr || !plain_name(name)) {
    const auto it = queues_.find(name);
    if (it == queues_.end()) return;
    drop(it->second, {});
    queues_.erase(it);
    return;
  }
  Queue& queue = queues_[name];
  queue.changed = true;
  queue.pending = int_at(*now, {"status", "pendingWorkloads"}) > 0;
}

void Positions::ask(bool watched) {
  if (!watched || !read_ || queues_.empty()) return;
  auto it = queues_.upper_bound(next_);
  for (std::size_t looked = 0; looked < queues_.size() && in_flight_ < kQueuesAtOnce; ++looked) {
    if (it == queues_.end()) it = queues_.begin();
    auto& [name, queue] = *it++;
    const Duration since = executor_.now() - queue.asked;
    const bool due = queue.changed ? since >= kAskQueueAgain && (queue.pending || !queue.keys.empty())
                                   : since >= kAskQuietQueue && queue.pending;
    if (queue.asking || !due) continue;
    next_ = name;
    ask_queue(name, queue);
  }
}

void Positions::ask_queue(const std::string& name, Queue& queue) {
  queue.asking = true;
  queue.changed = false;
  queue.asked = executor_.now();
  ++in_flight_;
  const std::string path = "/apis/" + std::string(api::visibility::kGroup) + "/" +
                           std::string(api::visibility::kVersions[0]) + "/clusterqueues/" + name + "/" +
                           std::string(api::visibility::kSubresource) +
                           "?limit=" + std::to_string(kMaxPositionsOfQueue);
  read_(path, lifetime_.guard([this, name](const api::RestResponse& response) {
    --in_flight_;
    const auto it = queues_.find(name);
    if (it == queues_.end()) return;
    it->second.asking = false;
    if (response.ok()) take(name, response.body);
    if (in_flight_ < kQueuesAtOnce) ask(true);
  }));
}

void Positions::take(const std::string& name, const Json& summary) {
  Queue& queue = queues_[name];
  std::set<std::string> keys;
  for (const Json& item : array_at(summary, {"items"})) {
    const std::string ns(string_at(item, {"metadata", "namespace"}));
    const std::string key = api::object_key(ns, string_at(item, {"metadata", "name"}));
    if (ns.empty() || keys.size() >= kMaxPositionsOfQueue || (!rows_.contains(key) && rows_.size() >= kMaxPositions))
      continue;
    rows_.set({key, ns,
               to_string(JsonObject{{"key", key},
                                    {"cq", name},
                                    {"position", int_at(item, {"positionInClusterQueue"})},
                                    {"localPosition", int_at(item, {"positionInLocalQueue"})}})});
    keys.insert(key);
  }
  drop(queue, keys);
  queue.keys = std::move(keys);
}

void Positions::drop(Queue& queue, const std::set<std::string>& except) {
  for (const std::string& key : queue.keys) {
    if (!except.contains(key)) rows_.erase(key);
  }
}

}  // namespace berth::console
