#include "engine/schedule/worlds/life.h"

#include <algorithm>
#include <set>

#include "engine/schedule/probe.h"
#include "engine/schedule/protected_words.h"

namespace berth::engine::worlds {
namespace {

// Others may come before a preemptor, because they borrow less or have a lower share. What they take in a later cycle
// of the pass, the preemptor lacks again: then its victims need not be enough, or it chose more of them.
bool admits_after_preemption(const Decisions& decisions) {
  const auto is_preemption = [](const Decision& each) { return std::holds_alternative<Preempt>(each); };
  const auto is_admission = [](const Decision& each) { return std::holds_alternative<Admit>(each); };
  return std::any_of(std::ranges::find_if(decisions, is_preemption), decisions.end(), is_admission);
}

}  // namespace

Life::Life(const Life& other, const std::string& only)
    : rules_(other.rules_), scheduler_(other.rules_.options), seconds_(other.seconds_) {
  for (const auto& [name, topology] : other.topologies_) set_topology(topology);
  for (const auto& [name, flavor] : other.flavors_) set_flavor(flavor);
  for (const auto& [name, node] : other.nodes_) set_node(node);
  for (const auto& [uid, pod] : other.pods_) set_pod(pod);
  for (const auto& [name, cohort] : other.cohorts_) set_cohort(cohort);
  for (const auto& [name, queue] : other.queues_) set_queue(queue.object, queue.active);
  ended_pods_ = other.ended_pods_;
  for (const auto& [name, job] : other.jobs_) {
    Job& mine = jobs_[name] = job;
    mine.id = scheduler_.enter(name, "job-" + name, "ns/" + name);
    names_[mine.id] = name;
    if (job.admission) {
      scheduler_.hold(mine.id, holding(mine));
    } else if (only.empty() || only == name) {
      scheduler_.submit(mine.id, job.pending);
    }
  }
  for (const auto& [name, job] : jobs_) {
    std::vector<WorkloadId> protected_victims;
    for (const std::string& uid : protected_uids(job.message)) {
      if (jobs_.contains(uid)) protected_victims.push_back(jobs_.at(uid).id);
    }
    if (!protected_victims.empty() && !job.admission) scheduler_.recall_protected(job.id, protected_victims);
  }
}

// --- Objects.

void Life::set_topology(const api::kueue::Topology& topology) {
  topologies_[topology.meta.name] = topology;
  scheduler_.set_topology(topology);
}

void Life::set_flavor(const api::kueue::ResourceFlavor& flavor) {
  flavors_[flavor.meta.name] = flavor;
  scheduler_.set_flavor(flavor);
}

void Life::remove_flavor(const std::string& name) {
  flavors_.erase(name);
  scheduler_.remove_flavor(name);
}

void Life::set_node(const api::Node& node) {
  nodes_[node.name] = node;
  scheduler_.set_node(node);
}

void Life::remove_node(const std::string& name) {
  nodes_.erase(name);
  scheduler_.remove_node(name);
}

void Life::set_pod(const api::kueue::PodPlacement& pod) {
  pods_[pod.uid] = pod;
  scheduler_.set_pod(pod);
}

void Life::remove_pod(const std::string& uid) {
  pods_.erase(uid);
  scheduler_.remove_pod(uid);
}

void Life::set_cohort(const api::kueue::Cohort& cohort) {
  cohorts_[cohort.meta.name] = cohort;
  scheduler_.set_cohort(cohort);
}

void Life::remove_cohort(const std::string& name) {
  cohorts_.erase(name);
  scheduler_.remove_cohort(name);
}

void Life::set_queue(const api::kueue::ClusterQueue& queue, bool active) {
  queues_[queue.meta.name] = {queue, active};
  scheduler_.set_cluster_queue(queue, active);
}

void Life::set_active(const std::string& queue, bool active) {
  if (const auto it = queues_.find(queue); it != queues_.end()) set_queue(QueueObject(it->second).object, active);
}

void Life::remove_queue(const std::string& name) {
  queues_.erase(name);
  scheduler_.remove_cluster_queue(name);
}

// --- Workloads.

void Life::submit(const std::string& name, const Pending& pending) {
  if (jobs_.contains(name)) return;
  Job& job = jobs_[name];
  job.id = scheduler_.enter(name, "job-" + name, "ns/" + name);
  job.pending = pending;
  names_[job.id] = name;
  scheduler_.submit(job.id, pending);
}

void Life::end(const std::string& name) {
  const auto it = jobs_.find(name);
  if (it == jobs_.end()) return;
  scheduler_.leave(it->second.id);
  names_.erase(it->second.id);
  ended_pods_.erase(name);
  jobs_.erase(it);
}

void Life::set_priority(const std::string& name, std::int32_t priority) {
  const auto it = jobs_.find(name);
  if (it == jobs_.end()) return;
  it->second.pending.priority = priority;
  if (it->second.admission) {
    write(it->second);
  } else {
    scheduler_.submit(it->second.id, it->second.pending);
  }
}

void Life::reclaim(const std::string& name, std::int32_t pods) {
  const auto it = jobs_.find(name);
  if (it == jobs_.end() || !it->second.admission || it->second.admission->pod_set_assignments[0].count <= pods) return;
  ended_pods_[name] = std::max(ended_pods_[name], pods);
  write(it->second);
}

void Life::select(const std::string& name, const std::string& label, const std::string& value) {
  Job& job = jobs_.at(name);
  for (PodSetRequest& pod_set : job.pending.pod_sets) pod_set.constraints.node_selector[label] = value;
  scheduler_.submit(job.id, job.pending);
}

Holding Life::holding(const Job& job) const {
  Holding out;
  const auto& admission = *job.admission;
  out.cluster_queue = admission.cluster_queue;
  out.priority = job.pending.priority;
  out.queued_at = job.pending.queued_at;
  out.reserved_at = job.reserved_at;
  out.evicted = job.evicted;
  std::vector<api::kueue::ReclaimablePod> ended;
  if (const auto it = ended_pods_.find(names_.contains(job.id) ? names_.at(job.id) : ""); it != ended_pods_.end())
    ended.push_back({admission.pod_set_assignments[0].name, it->second});
  out.amounts = holding_amounts(admission, ended);
  for (std::size_t i = 0; i < admission.pod_set_assignments.size(); ++i) {
    const auto& assigned = admission.pod_set_assignments[i];
    if (assigned.topology_assignment == nullptr) continue;
    std::string placed;
    for (const auto& [resource, flavor] : assigned.flavors) {
      const auto it = flavors_.find(flavor);
      if (it != flavors_.end() && !it->second.topology_name.empty()) placed = flavor;
    }
    out.places.push_back({placed, job.pending.pod_sets[i].per_pod, assigned.topology_assignment});
  }
  return out;
}

void Life::write(Job& job) { scheduler_.hold(job.id, holding(job)); }

void Life::stop(const std::string& name) {
  Job& job = jobs_.at(name);
  job.admission.reset();
  job.evicted = false;
  job.message.clear();
  job.reason.clear();
  ended_pods_.erase(name);
  scheduler_.release(job.id);
  scheduler_.submit(job.id, job.pending);
}

// --- Passes.

std::string Life::text(const Decision& decision) const {
  if (const auto* admit = std::get_if<Admit>(&decision)) {
    std::string out = "admit " + names_.at(admit->workload);
    for (const auto& pod_set : admit->pod_sets) {
      out += " " + std::to_string(pod_set.count);
      for (const auto& [resource, flavor] : pod_set.flavors)
        out += " " + scheduler_.names().name(resource) + ":" + scheduler_.names().name(flavor);
      if (pod_set.places == nullptr) continue;
      for (const auto& domain : pod_set.places->domains)
        out += " " + domain.values.back() + "=" + std::to_string(domain.count);
    }
    return out;
  }
  const auto& preempt = std::get<Preempt>(decision);
  return "preempt " + names_.at(preempt.target) + " for " + names_.at(preempt.preemptor) + " (" +
         std::string(to_string(preempt.reason)) + ")";
}

void Life::note(const Admit& admit) {
  Job& job = jobs_.at(names_.at(admit.workload));
  job.admission = scheduler_.admission(admit);
  job.reserved_at = Time(std::chrono::seconds(seconds_));
  job.message.clear();
  job.reason.clear();
}

std::vector<std::string> Life::rest(std::vector<std::string>& findings) {
  constexpr int kMost = 300;
  std::vector<std::string> moves;
  for (int round = 0; round < kMost; ++round) {
    const Decisions decisions = scheduler_.schedule(Time(std::chrono::seconds(++seconds_)));
    std::set<std::string> leaving;
    bool moved = false;
    for (const Decision& each : decisions) {
      if (const auto* wait = std::get_if<Wait>(&each)) {
        Job& job = jobs_.at(names_.at(wait->workload));
        job.message = wait->message;
        job.reason = wait->reason;
        continue;
      }
      moved = true;
      moves.push_back(text(each));
      if (const auto* admit = std::get_if<Admit>(&each)) note(*admit);
      if (const auto* preempt = std::get_if<Preempt>(&each)) {
        jobs_.at(names_.at(preempt->target)).evicted = true;
        jobs_.at(names_.at(preempt->preemptor)).preempted_others = true;
      }
    }
    check_victims(decisions, findings);
    for (auto& [name, job] : jobs_) job.preempted_others = job.preempted_others && !job.admission;
    for (auto& [name, job] : jobs_) {
      if (job.admission) write(job);
      if (job.evicted) leaving.insert(name);
    }
    if (!moved && leaving.empty()) return moves;
    if (leaving.empty()) continue;
    if (!rules_.victims_stop_together) leaving = {round % 2 == 0 ? *leaving.begin() : *leaving.rbegin()};
    for (const std::string& name : leaving) stop(name);
  }
  findings.push_back("it does not come to rest");
  return moves;
}

// --- Victims.

// What the preemptor would borrow without all that are being evicted; nullopt: it would not fit.
std::optional<int> Life::borrows_without(WorkloadId preemptor) const {
  Probe probe(scheduler_, preemptor, Time(std::chrono::seconds(seconds_)), [](WorkloadId) { return std::nullopt; });
  const Probe::Verdict verdict = probe.verdict();
  return verdict.fits ? std::optional(verdict.borrowing) : std::nullopt;
}

bool Life::fits_beside(WorkloadId preemptor, WorkloadId victim, bool borrowing) const {
  Job job = jobs_.at(names_.at(victim));
  job.evicted = false;
  Scheduler copy = scheduler_.copy();
  copy.hold(victim, holding(job));
  Probe probe(copy, preemptor, Time(std::chrono::seconds(seconds_)), [](WorkloadId) { return std::nullopt; });
  const Probe::Verdict verdict = probe.verdict();
  return verdict.fits && (borrowing || verdict.borrowing == 0);
}

// Its queue leaves no choice of flavors, so they are the same with other victims.
bool Life::has_no_choice(const Job& job) const {
  return std::ranges::all_of(queues_.at(job.pending.cluster_queue).object.resource_groups,
                             [](const auto& group) { return group.flavors.size() == 1; });
}

// Whether another workload waits for those that are being evicted, without having preempted anybody.
bool Life::shares_victims(WorkloadId preemptor) const {
  return std::ranges::any_of(jobs_, [&](const auto& each) {
    const Job& job = each.second;
    return job.id != preemptor && scheduler_.pending(job.id) && job.reason == kWaitingForPreemptedWorkloads;
  });
}

// Of one preemptor that asks for a fixed number of pods, when no other one waits and nothing else is under way: what
// its victims leave is enough for it, and it does not fit beside any of them, at least not without borrowing more.
void Life::check_victims(const Decisions& decisions, std::vector<std::string>& findings) const {
  std::set<WorkloadId> preemptors, victims;
  for (const Decision& each : decisions) {
    if (const auto* preempt = std::get_if<Preempt>(&each)) {
      preemptors.insert(preempt->preemptor);
      victims.insert(preempt->target);
    }
  }
  std::size_t evicted = 0;
  for (const auto& [name, job] : jobs_) {
    evicted += job.evicted ? 1 : 0;
    if (job.preempted_others) preemptors.insert(job.id);
  }
  if (preemptors.size() != 1 || victims.empty() || evicted != victims.size()) return;
  const WorkloadId preemptor = *preemptors.begin();
  for (const PodSetRequest& pod_set : jobs_.at(names_.at(preemptor)).pending.pod_sets) {
    if (pod_set.min_count) return;
  }
  // Where there is a choice of flavors, what others took in the same pass may change which flavor is the best one.
  const bool one_way = has_no_choice(jobs_.at(names_.at(preemptor)));
  const bool alone = std::ranges::none_of(decisions, [&](const Decision& each) {
    const auto* admit = std::get_if<Admit>(&each);
    return admit != nullptr && admit->workload != preemptor;
  });
  if (!scheduler_.pending(preemptor) && (one_way || alone)) {
    findings.push_back(names_.at(preemptor) + " has preempted others and then did not wait for them");
    return;
  }
  // In later cycles a preemptor comes first, but not the head of a StrictFIFO queue (unless a feature gate says so).
  // What another one takes there, or holds because the same victims are enough for it, the head lacks again: so it
  // preempts more than it would need alone.
  const bool strict = !rules_.options.prioritize_preemptors &&
                      queues_.at(jobs_.at(names_.at(preemptor)).pending.cluster_queue).object.queueing_strategy ==
                          api::kueue::QueueingStrategy::kStrictFifo;
  if (!one_way || (strict && (admits_after_preemption(decisions) || shares_victims(preemptor)))) return;
  const std::optional<int> borrows = borrows_without(preemptor);
  if (!borrows) {
    findings.push_back("the victims of " + names_.at(preemptor) + " are not enough");
    return;
  }
  for (const WorkloadId victim : victims) {
    if (fits_beside(preemptor, victim, *borrows > 0))
      findings.push_back(names_.at(victim) + " is preempted for " + names_.at(preemptor) + ", which fits beside it");
  }
}

std::string Life::text() const {
  std::string out;
  for (const auto& [name, job] : jobs_) {
    out += "  " + name + " in " + job.pending.cluster_queue + " priority " + std::to_string(job.pending.priority) +
           (job.admission ? " runs" : " waits: " + job.message) + "\n";
  }
  return out;
}

}  // namespace berth::engine::worlds
