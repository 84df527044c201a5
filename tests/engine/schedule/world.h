// A scheduler with short helper functions for tests: queues, jobs, and decisions as text.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "engine/schedule/scheduler.h"

namespace berth::engine {

inline Quantity quantity(std::string_view text) { return Quantity::parse(text).value(); }
inline Time at_second(std::int64_t s) { return Time(std::chrono::seconds(s)); }

// A cluster queue, built step by step: queue("a").in("team").flavor("default", {{"cpu", "10"}}).
struct QueueSpec {
  api::kueue::ClusterQueue object;
  explicit QueueSpec(std::string name) { object.meta.name = std::move(name); }
  QueueSpec& in(std::string cohort) {
    object.cohort_name = std::move(cohort);
    return *this;
  }
  struct Limit {
    std::string resource{}, nominal{}, borrowing{}, lending{};
  };
  // Flavors with the same resources form one group.
  QueueSpec& flavor(const std::string& name, const std::vector<Limit>& limits) {
    add_flavor(object.resource_groups, name, limits);
    return *this;
  }
  static void add_flavor(std::vector<api::kueue::ResourceGroup>& groups, const std::string& name,
                         const std::vector<Limit>& limits) {
    api::kueue::FlavorQuotas quotas{name, {}};
    std::vector<std::string> covered;
    for (const Limit& limit : limits) {
      api::kueue::ResourceQuota quota{limit.resource, quantity(limit.nominal), {}, {}};
      if (!limit.borrowing.empty()) quota.borrowing_limit = quantity(limit.borrowing);
      if (!limit.lending.empty()) quota.lending_limit = quantity(limit.lending);
      quotas.resources.push_back(quota);
      covered.push_back(limit.resource);
    }
    if (groups.empty() || groups.back().covered_resources != covered) groups.push_back({covered, {}});
    groups.back().flavors.push_back(quotas);
  }
  QueueSpec& strict() {
    object.queueing_strategy = api::kueue::QueueingStrategy::kStrictFifo;
    return *this;
  }
  QueueSpec& within(api::kueue::WithinClusterQueue policy) {
    object.within_cluster_queue = policy;
    return *this;
  }
  QueueSpec& reclaim(api::kueue::ReclaimWithinCohort policy) {
    object.reclaim_within_cohort = policy;
    return *this;
  }
  QueueSpec& weighs(std::string_view weight) {
    object.fair_weight = quantity(weight);
    return *this;
  }
  QueueSpec& borrow_preempting(std::optional<std::int32_t> threshold = {}) {
    object.borrow_within_cohort = api::kueue::BorrowWithinCohort::kLowerPriority;
    object.borrow_max_priority_threshold = threshold;
    return *this;
  }
};

struct JobSpec {
  std::string name{};
  std::string queue{};
  std::int32_t count = 1;
  std::map<std::string, std::string> requests{{"cpu", "1"}};
  std::int32_t priority = 0;
  std::int64_t second = -1;  // time of queueing; default: later than all previous ones
  std::optional<std::int32_t> min_count{};
  std::optional<api::kueue::TopologyRequest> topology{};
};

class World {
 public:
  explicit World(SchedulerOptions options = {}) : scheduler(options) {}

  void flavor(const std::string& name, api::StringMap labels = {}, std::vector<api::Taint> taints = {}) {
    api::kueue::ResourceFlavor object;
    object.meta.name = name;
    object.node_labels = std::move(labels);
    object.node_taints = std::move(taints);
    scheduler.set_flavor(object);
  }
  void queue(const QueueSpec& spec, const std::vector<std::string>& delayed_flavors = {}) {
    scheduler.set_cluster_queue(spec.object, true, delayed_flavors);
  }
  void cohort(const std::string& name, const std::string& parent,
              const std::vector<std::pair<std::string, std::vector<QueueSpec::Limit>>>& flavors = {},
              std::string_view weight = "1") {
    api::kueue::Cohort object;
    object.fair_weight = quantity(weight);
    object.meta.name = name;
    object.parent_name = parent;
    for (const auto& [flavor_name, limits] : flavors) {
      QueueSpec::add_flavor(object.resource_groups, flavor_name, limits);
    }
    scheduler.set_cohort(object);
  }

  static Pending pending(const JobSpec& job, std::int64_t second) {
    Pending pending;
    pending.cluster_queue = job.queue;
    pending.priority = job.priority;
    pending.queued_at = at_second(second);
    PodSetRequest pod_set;
    pod_set.count = job.count;
    pod_set.min_count = job.min_count;
    pod_set.topology = job.topology;
    for (const auto& [resource, amount] : job.requests) pod_set.per_pod[resource] = quantity(amount);
    pending.pod_sets.push_back(pod_set);
    return pending;
  }
  WorkloadId id(const std::string& name) {
    if (auto it = ids.find(name); it != ids.end()) return it->second;
    WorkloadId id = scheduler.enter(name, "job-" + name, "ns/" + name);
    ids[name] = id;
    names[id] = name;
    return id;
  }
  void job(JobSpec job) {
    if (job.second < 0) job.second = ++seconds_;
    submit(job.name, pending(job, job.second));
  }
  void submit(const std::string& name, const Pending& pending) {
    specs[name] = pending;
    scheduler.submit(id(name), pending);
  }
  void finish(const std::string& name) { scheduler.leave(forget(name)); }
  // The job of an evicted workload has stopped: its quota is free and it waits again.
  void stopped(const std::string& name) {
    scheduler.release(id(name));
    scheduler.submit(id(name), specs[name]);
  }

  // The holder's state in the API: evicted, or not any more.
  void hold(const std::string& name, bool evicted) { scheduler.hold(id(name), holding(name, evicted)); }
  Holding holding(const std::string& name, bool evicted) const {
    const Claim& claim = *scheduler.ledger().claim(ids.at(name));
    Holding holding;
    holding.cluster_queue = scheduler.ledger().name(claim.cluster_queue);
    holding.priority = specs.at(name).priority;
    holding.queued_at = specs.at(name).queued_at;
    if (const auto at = reserved_at.find(name); at != reserved_at.end()) holding.reserved_at = at->second;
    holding.evicted = evicted;
    for (const FlavorResourceAmount& each : claim.usage) {
      const Names& all = scheduler.names();
      holding.amounts.push_back({all.name(all.flavor_of(each.id)), all.name(all.resource_of(each.id)), each.amount});
    }
    return holding;
  }

  // One pass. Returns decisions as short texts: "admit a", "preempt b for a (InClusterQueue)", "wait c
  // WaitingForQuota: ...".
  std::vector<std::string> schedule() {
    last = scheduler.schedule(at_second(++seconds_));
    std::vector<std::string> texts;
    for (const Decision& decision : last) {
      texts.push_back(text(decision));
      if (const auto* admit = std::get_if<Admit>(&decision))
        reserved_at[names.at(admit->workload)] = at_second(seconds_);
    }
    return texts;
  }
  std::string text(const Decision& decision) const {
    if (const auto* admit = std::get_if<Admit>(&decision)) return "admit " + names.at(admit->workload);
    if (const auto* preempt = std::get_if<Preempt>(&decision)) {
      return "preempt " + names.at(preempt->target) + " for " + names.at(preempt->preemptor) + " (" +
             std::string(to_string(preempt->reason)) + ")";
    }
    const Wait& wait = std::get<Wait>(decision);
    return "wait " + names.at(wait.workload) + " " + wait.reason + ": " + wait.message;
  }
  void pass(std::int64_t seconds) { seconds_ += seconds; }
  // One pass. Returns the decisions without the waits.
  std::vector<std::string> moves() {
    std::vector<std::string> texts = schedule();
    std::erase_if(texts, [](const std::string& each) { return each.starts_with("wait "); });
    return texts;
  }

  Scheduler scheduler;
  std::map<std::string, WorkloadId> ids;
  std::map<WorkloadId, std::string> names;
  std::map<std::string, Pending> specs;
  std::map<std::string, Time> reserved_at;  // the last admission
  Decisions last;

 private:
  WorkloadId forget(const std::string& name) {
    WorkloadId id = ids.at(name);
    ids.erase(name);
    names.erase(id);
    return id;
  }
  std::int64_t seconds_ = 0;
};

}  // namespace berth::engine
