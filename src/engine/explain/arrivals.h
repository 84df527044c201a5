// What comes next: workloads as they arrived lately in each LocalQueue, and arrivals of futures that are like them.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "api/kueue/types.h"
#include "api/kueue/workload_ref.h"
#include "base/time.h"
#include "engine/ptr.h"

namespace berth::engine {

// A bounded record.
class ArrivalHistory {
 public:
  static constexpr std::size_t kMostOfQueue = 32;  // the latest
  static constexpr std::size_t kMostQueues = 256;  // those that were not used for longest are forgotten
  static constexpr std::size_t kEnough = 8;        // with fewer, nothing is said about a queue

  // Counts each workload once, by its creation; what replaces another workload is no arrival.
  void see(const api::kueue::WorkloadRef& workload);
  // The LocalQueue is deleted: nothing arrives there any more.
  void forget_queue(std::string_view ns, std::string_view name);

  using Queue = std::vector<Ptr<api::kueue::Workload>>;  // without status; the oldest first
  const std::map<std::string, Queue, std::less<>>& queues() const { return queues_; }  // "namespace/name"

 private:
  void forget_old_queues();

  std::map<std::string, Queue, std::less<>> queues_;
  std::unordered_set<std::uint64_t> counted_;  // hashes of UIDs; never iterated
  std::deque<std::uint64_t> counted_order_;
};

// The arrivals of one future: each queue goes on as it did, with the same gaps and the same workloads in another order.
class Arrivals {
 public:
  // `history` must outlive it. The same arguments give the same arrivals.
  Arrivals(const ArrivalHistory& history, Time now, int future);

  std::optional<Time> next() const;
  // Takes the next one: a new workload without quota that is created at next(). `like`: the one that it is like.
  struct Arrival {
    api::kueue::Workload workload;
    const api::kueue::Workload* like = nullptr;
  };
  Arrival take();
  // No more arrivals in this LocalQueue.
  void drop(std::string_view queue) { streams_.erase(streams_.find(queue)); }
  std::vector<std::string> queues() const;

 private:
  struct Stream {
    const ArrivalHistory::Queue* seen = nullptr;
    std::vector<Duration> gaps;
    Time next{};
    std::uint64_t number = 0;
  };
  Duration gap(const std::string& queue, Stream& stream) const;

  const int future_;
  std::map<std::string, Stream, std::less<>> streams_;
};

}  // namespace berth::engine
