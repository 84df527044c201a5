// One look at a group of pods: what there is, and the plan so far.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "jobs/job_facts.h"
#include "jobs/pods/managed_pod.h"
#include "jobs/pods/pod_plan.h"
#include "jobs/pods/served_group.h"

namespace berth::jobs {

inline bool is_active_pod(const ManagedPod& pod) { return pod.active(); }
inline bool is_waiting_pod(const ManagedPod& pod) { return pod.gated && pod.runnable(); }
inline bool is_running_pod(const ManagedPod& pod) { return !pod.gated && pod.runnable(); }

// The UIDs of the owners of the workload, which must outlive them.
std::set<std::string_view> owner_uids(const api::kueue::Workload& workload);
api::OwnerReference owned_by_pod(const ManagedPod& pod);

class GroupScene {
 public:
  // `facts` must outlive it.
  GroupScene(std::string ns, std::string name, std::vector<ManagedPodPtr> pods, const JobFacts& facts, Time now);

  const std::string ns, name;
  const JobFacts& facts;
  const Time now;
  // The oldest first. Pods that ran before their owner came to a queue count only while the workload is admitted.
  std::vector<ManagedPodPtr> pods;
  ServedGroupPtr owner;   // null: there is none, or the cache does not have it yet
  bool served = false;    // the pods have an owner that makes the workload, even if it is not known
  bool prebuilt = false;  // a client makes the workload
  PodPlan plan;

  std::string key() const;
  WorkloadPtr workload() const { return facts.workload(ns, name); }
  using Which = bool (*)(const ManagedPod&);
  std::vector<ManagedPodPtr> those(Which which) const;
  bool any(Which which) const;

  void say(JobEvent event) { plan.steps.push_back(std::move(event)); }
  // The event on each of these pods, but on no more than kToldPods.
  void report(const std::vector<ManagedPodPtr>& which, const JobEvent& event);
  void release(const ManagedPodPtr& pod);  // from the finalizer
  void release_those_that_left();
  // Returns whether a pod runs that must not.
  bool stop_all(std::string_view reason, std::string_view message);
  // An owner would make a deleted pod again at once: its pods stay.
  void delete_excess(const std::vector<ManagedPodPtr>& excess);
  // Puts pods into the group of the owner, which must be known. A pod that still has to be put there does not count
  // yet.
  void put_pods_into_group();

 private:
  void count_those_that_ran_before();
  bool is_in_another_group(const ManagedPod& pod) const;
};

}  // namespace berth::jobs
