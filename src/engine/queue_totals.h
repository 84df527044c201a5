// What the workloads of each queue count as and hold: counts by reason and sums, which follow every change of a
// workload, so that a status or a metric costs no walk over the workloads.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "engine/held_sums.h"
#include "engine/ptr.h"
#include "engine/queue_census.h"
#include "engine/requested_pods.h"

namespace berth::engine {

struct Tracked;

class QueueTotals {
 public:
  // Counts the workload in its queues with this reason; none: not at all.
  void count(Tracked& t, const std::optional<QueueCensus::Why>& why);
  // Adds to the sums of its queues what it holds; null: nothing.
  void hold(Tracked& t, const HeldAmounts* held);
  // Adds what it requests to the sums of its cluster queue; null: it does not wait.
  void wait(Tracked& t, const Ptr<RequestedPods>& requests);
  // Call these before and after a change of its queues: they take all of the above along.
  void take_out(const Tracked& t);
  void put_in(const Tracked& t);

  // Number of counted workloads of a queue by reason; no number is 0.
  using Counts = std::map<QueueCensus::Why, std::size_t>;
  const Counts& counts_of_local_queue(std::string_view key) const;
  const Counts& counts_of_cluster_queue(std::string_view name) const;
  const AskedSums::OfQueue& asked_in_cluster_queue(std::string_view name) const { return asked_.of(name); }
  const HeldSums::OfQueue& held_in_local_queue(std::string_view key) const { return held_by_local_queue_.of(key); }
  const HeldSums::OfQueue& held_in_cluster_queue(std::string_view name) const {
    return held_by_cluster_queue_.of(name);
  }

  // The reason as this object keeps it, of a workload that was copied with its totals.
  const QueueCensus::Why* kept(const QueueCensus::Why* why) const {
    return why == nullptr ? nullptr : &whys_.find(*why)->first;
  }

 private:
  using CountsByQueue = std::map<std::string, Counts, std::less<>>;
  static void add(CountsByQueue& counts, const std::string& name, const QueueCensus::Why& why);
  static void subtract(CountsByQueue& counts, const std::string& name, const QueueCensus::Why& why);
  void count_in(const Tracked& t);
  void count_out(const Tracked& t);
  void sum_in(const Tracked& t);
  void sum_out(const Tracked& t);

  std::map<QueueCensus::Why, std::size_t> whys_;  // the reasons of counted workloads, with the number of their users
  CountsByQueue counts_by_local_queue_, counts_by_cluster_queue_;
  HeldSums held_by_local_queue_, held_by_cluster_queue_;
  AskedSums asked_;
};

}  // namespace berth::engine
