// The collection `positions`: the places of pending workloads in their queues, asked of the visibility API. Only while
// somebody looks, and only for queues in which something may have changed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "api/rest.h"
#include "base/executor.h"
#include "base/lifetime.h"
#include "console/collection.h"

namespace berth::console {

// Bounds.
inline constexpr Duration kAskQueueAgain = std::chrono::seconds(5);   // a queue that has changed
inline constexpr Duration kAskQuietQueue = std::chrono::seconds(30);  // any queue with pending workloads
inline constexpr std::size_t kQueuesAtOnce = 4;
inline constexpr std::size_t kMaxPositionsOfQueue = 1'000;  // the first ones
inline constexpr std::size_t kMaxPositions = 100'000;       // of all queues

// Reads a JSON document of the API server from a path, with the console's own account.
using ReadPath = std::function<void(std::string path, std::function<void(api::RestResponse)> done)>;

// Use it on the executor only.
class Positions {
 public:
  // All must outlive it.
  Positions(Collection& positions, Executor& executor, ReadPath read);

  void queue_changed(const std::string& name, const Json* now);  // a ClusterQueue; null: deleted
  // Asks about the queues that are due. Call it about every second; `watched`: somebody looks.
  void ask(bool watched);

 private:
  struct Queue {
    bool changed = true, pending = false, asking = false;
    Time asked{};
    std::set<std::string> keys;  // its rows
  };
  void ask_queue(const std::string& name, Queue& queue);
  void take(const std::string& name, const Json& summary);
  void drop(Queue& queue, const std::set<std::string>& except);

  Collection& rows_;
  Executor& executor_;
  const ReadPath read_;
  std::map<std::string, Queue> queues_;
  std::string next_;  // the queue after which the next round begins, so that all get their turn
  std::size_t in_flight_ = 0;
  Lifetime lifetime_;
};

}  // namespace berth::console
