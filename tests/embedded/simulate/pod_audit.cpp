#include "embedded/simulate/pod_audit.h"

#include <algorithm>
#include <utility>

#include "api/apps_resources.h"
#include "api/kueue/types.h"
#include "api/leaderworkerset/names.h"
#include "api/meta.h"
#include "api/resources.h"
#include "embedded/apiserver/server/api_server.h"

namespace berth::simulation {
namespace {

constexpr std::string_view kKueueVersion = "kueue.x-k8s.io/v1beta2";
// No finalizer keeps a pod or a workload longer than this after its deletion.
constexpr Duration kLongestFarewell = std::chrono::minutes(15);
// A client may delete the workload of a running pod, with its finalizer. Berth stops the pod within this time, whatever
// requests fail and whenever the controller dies.
constexpr Duration kLongestWithoutQuota = std::chrono::minutes(3);

std::string reported(Json object) {
  erase_path(object, {"metadata", "managedFields"});
  return to_string(object);
}

api::Conditions conditions_of_object(const Json& object) {
  return api::decode_conditions(Json(array_at(object, {"status", "conditions"})));
}

bool holds_quota(const Json& workload) {
  const auto conditions = conditions_of_object(workload);
  return api::is_true(conditions, "QuotaReserved") && !api::is_true(conditions, "Finished");
}

// For how many pods of a pod set a workload holds quota, and how many pods it got it for.
struct HeldPods {
  std::int64_t pods = 0, given = 0;
  Amount usage;  // of the given pods
};

// Reclaimable pods need no quota any more. An admission does not count those that were reclaimable before it.
std::vector<HeldPods> held_by(const Json& workload) {
  std::map<std::string_view, std::int64_t> needed;
  for (const auto& pod_set : array_at(workload, {"spec", "podSets"}))
    needed[string_at(pod_set, {"name"})] = int_at(pod_set, {"count"});
  for (const auto& one : array_at(workload, {"status", "reclaimablePods"}))
    needed[string_at(one, {"name"})] -= int_at(one, {"count"});
  std::vector<HeldPods> out;
  for (const auto& one : array_at(workload, {"status", "admission", "podSetAssignments"})) {
    const std::int64_t given = int_at(one, {"count"});
    const auto usage = Quantity::parse(string_at(one, {"resourceUsage", "cpu"}, "0")).value();
    out.push_back({std::min(given, needed[string_at(one, {"name"})]), given, to_amount("cpu", usage)});
  }
  return out;
}

// Whether a condition of the workload says why it waits for quota.
bool says_why(const Json& workload) {
  const auto conditions = conditions_of_object(workload);
  const api::Condition* quota = api::find_condition(conditions, "QuotaReserved");
  return quota != nullptr && !quota->status && !quota->message.empty();
}

std::int64_t wanted_by(const Json& owner) { return int_at(owner, {"spec", "replicas"}, 1); }

}  // namespace

// The gate goes only when the workload of the pod is admitted and holds quota at this moment. A workload that a client
// has just deleted is not there to ask.
void PodAudit::look_at_write(const api::RestRequest& request) {
  if (request.verb != api::Verb::kPatch || request.resource.resource != "pods" || !request.subresource.empty() ||
      find_path(request.body, {"spec", "schedulingGates"}) == nullptr ||
      has_admission_gate(array_at(request.body, {"spec", "schedulingGates"})))
    return;
  const auto& get = storm_.world().server().objects().get;
  const JsonPtr pod = get(api::kPods, request.ns, request.name);
  if (!pod ||
      string_at(*pod, {"metadata", "resourceVersion"}) != string_at(request.body, {"metadata", "resourceVersion"}) ||
      !PodSight(*pod).gated)
    return;
  const auto name = string_at(request.body, {"metadata", "annotations", "kueue.x-k8s.io/workload"},
                              string_at(*pod, {"metadata", "annotations", "kueue.x-k8s.io/workload"}));
  if (name.empty()) return storm_.complain("a pod is let go without a workload: " + reported(*pod));
  const JsonPtr workload = get(api::kWorkloads, request.ns, name);
  if (workload && (!holds_quota(*workload) || !api::is_true(conditions_of_object(*workload), "Admitted")))
    storm_.complain("a pod is let go without quota: " + reported(*pod) + " " + reported(*workload));
}

// At no time do more pods of a pod set run than the workload was admitted with, and none runs for long without quota.
void PodAudit::look() {
  const auto& list = storm_.world().server().objects().list;
  const Time now = storm_.world().executor().now();
  std::map<std::string, std::int64_t> running;
  std::set<std::string> with_quota;
  for (const auto& workload : list(api::kWorkloads, "")) {
    if (holds_quota(*workload)) with_quota.insert(std::string(string_at(*workload, {"metadata", "name"})));
  }
  std::map<std::string, Time> since;
  for (const auto& pod : list(api::kPods, "")) {
    const PodSight p(*pod);
    if (!p.managed || !p.active() || p.by_hand) continue;
    // A single pod that is being deleted counts no more: its successor is another one, with a workload of its own.
    if (!p.group.empty() || !p.deleting) ++running[p.workload + "/" + p.pod_set];
    if (p.deleting) continue;
    if (p.workload.empty()) storm_.complain("pod " + p.name + " was let go without a workload: " + reported(*pod));
    let_go_.insert(p.uid);
    if (with_quota.contains(p.workload)) continue;
    const auto it = without_quota_since_.find(p.uid);
    since[p.uid] = it == without_quota_since_.end() ? now : it->second;
    if (since[p.uid] + kLongestWithoutQuota < now) storm_.complain("a pod goes on without quota: " + reported(*pod));
  }
  without_quota_since_ = std::move(since);
  for (const auto& workload : list(api::kWorkloads, "")) {
    for (const auto& pod_set : array_at(*workload, {"spec", "podSets"})) {
      const std::string key =
          std::string(string_at(*workload, {"metadata", "name"})) + "/" + std::string(string_at(pod_set, {"name"}));
      if (running[key] > int_at(pod_set, {"count"}))
        storm_.complain(std::to_string(running[key]) + " pods of " + key + " run: " + reported(*workload));
    }
  }
}

PodAudit::Rest PodAudit::read_rest() {
  Rest rest;
  auto& world = storm_.world();
  for (auto& json : list_all(world, kKueueVersion, "Workload")) {
    const std::string name(string_at(json, {"metadata", "name"}));
    for (const Json& owner : array_at(json, {"metadata", "ownerReferences"}))
      (string_at(owner, {"kind"}) == "StatefulSet" ? rest.of_set
                                                   : rest.of_pod)[std::string(string_at(owner, {"uid"}))] = name;
    rest.workloads[name] = std::move(json);
  }
  rest.pods = list_all(world, "v1", "Pod");
  for (const Json& json : rest.pods) {
    const PodSight pod(json);
    rest.pod_names.insert(pod.name);
    if (pod.managed && !pod.group.empty()) rest.groups[pod.group].push_back(pod);
    if (!pod.controller.empty()) rest.children[pod.controller].push_back(&json);
  }
  return rest;
}

// A pod that ran before its StatefulSet came to a queue has no mark, and belongs to the workload of the set.
const Json* PodAudit::workload_of(const PodSight& pod, const Rest& rest) const {
  const auto& names = pod.managed ? rest.of_pod : rest.of_set;
  const auto name = names.find(pod.managed ? pod.uid : pod.controller);
  const auto it = rest.workloads.find(name == names.end() ? pod.group : name->second);
  return it == rest.workloads.end() ? nullptr : &it->second;
}

void PodAudit::look_at_rest() {
  const Rest rest = read_rest();
  for (const auto& [name, json] : rest.workloads) {
    check_farewell(json);
    const auto workload = api::kueue::decode_workload(json).value();
    for (const auto& eviction : workload.status.evictions) evictions_ += static_cast<std::uint64_t>(eviction.count);
    if (api::is_true(workload.status.conditions, "Finished")) ++finished_;
  }
  for (const auto& json : rest.pods) check_pod(json, rest);
  check_quota(rest);
  check_deployments(rest);
  check_stateful_sets(rest);
  check_leader_worker_sets(rest);
}

void PodAudit::check_farewell(const Json& object) {
  const auto text = string_at(object, {"metadata", "deletionTimestamp"});
  if (text.empty()) return;
  if (const auto since = parse_time(text); since && *since + kLongestFarewell < storm_.world().executor().now())
    storm_.complain("something keeps a deleted object: " + reported(object));
}

// Those that run are admitted, those that wait have a workload that says why or their group is not complete, and those
// that ended are released.
void PodAudit::check_pod(const Json& json, const Rest& rest) {
  check_farewell(json);
  const PodSight pod(json);
  if (!pod.managed || pod.deleting) return;
  const Json* workload = workload_of(pod, rest);
  const auto conditions = workload == nullptr ? api::Conditions() : conditions_of_object(*workload);
  const bool admitted = api::is_true(conditions, "Admitted"), finished = api::is_true(conditions, "Finished");
  if (pod.gated) {
    check_waiting(pod, json, rest);
  } else if (pod.ended) {
    if ((pod.group.empty() || finished) && keeps_finalizer(json))
      storm_.complain("a pod that ended is not released: " + reported(json));
  } else if (!admitted || finished) {
    storm_.complain("a pod runs without quota: " + reported(json));
  }
}

void PodAudit::check_waiting(const PodSight& pod, const Json& json, const Rest& rest) {
  const Json* workload = workload_of(pod, rest);
  const auto conditions = workload == nullptr ? api::Conditions() : conditions_of_object(*workload);
  const bool admitted = api::is_true(conditions, "Admitted"), finished = api::is_true(conditions, "Finished");
  if (pod.ended) return;
  if (pod.group.empty()) {
    if (workload == nullptr || finished) return storm_.complain("a pod is forgotten: " + reported(json));
    if (admitted)
      return storm_.complain("an admitted pod was not let go: " + reported(json) + " " + reported(*workload));
    if (!says_why(*workload))
      storm_.complain("a pod waits without a reason: " + reported(json) + " " + reported(*workload));
  } else if (workload == nullptr) {
    if (is_whole(rest.groups.at(pod.group))) storm_.complain("a group is forgotten: " + reported(json));
  } else if (!finished && pod.belongs_to(*workload)) {
    if (admitted)
      storm_.complain("a pod of an admitted group was not let go: " + reported(json) + " " + reported(*workload));
    else if (!says_why(*workload))
      storm_.complain("a group waits without a reason: " + reported(json) + " " + reported(*workload));
  }
}

// What queues tell is what their workloads hold, and what these hold is what runs.
void PodAudit::check_quota(const Rest& rest) {
  std::map<std::string, Amount> reserved;
  for (const auto& [name, json] : rest.workloads) {
    if (!holds_quota(json)) continue;
    const std::string queue(string_at(json, {"status", "admission", "clusterQueue"}));
    for (const auto& [held, given, usage] : held_by(json)) {
      if (given > 0) reserved[queue] += Amount::of(usage.count() / given * held);
    }
    check_held(name, json, rest);
  }
  for (const auto& queue : list_all(storm_.world(), kKueueVersion, "ClusterQueue")) {
    Amount shown;
    for (const auto& flavor : array_at(queue, {"status", "flavorsReservation"})) {
      for (const auto& resource : array_at(flavor, {"resources"}))
        shown += to_amount("cpu", Quantity::parse(string_at(resource, {"total"})).value());
    }
    const std::string name(string_at(queue, {"metadata", "name"}));
    if (!(reserved[name] == shown))
      storm_.complain("ClusterQueue " + name + " tells " + format_amount("cpu", shown) +
                      " reserved, its workloads hold " + format_amount("cpu", reserved[name]));
  }
}

// A workload holds quota for the pods that run. It holds more only while it says that a pod has to be replaced, in a
// group that starts without all of its pods, or while a pod finds no node: others of its owner may come after it.
void PodAudit::check_held(const std::string& name, const Json& workload, const Rest& rest) {
  std::int64_t held = 0, running = 0, ready = 0;
  for (const auto& each : held_by(workload)) held += each.pods;
  bool waits = api::is_true(conditions_of_object(workload), "WaitingForReplacementPods"), any = false;
  for (const Json& json : rest.pods) {
    const PodSight pod(json);
    if (pod.workload != name && workload_of(pod, rest) != &workload) continue;
    any = true;
    const auto fast = string_at(json, {"metadata", "annotations", "kueue.x-k8s.io/pod-group-fast-admission"});
    const auto serving = string_at(json, {"metadata", "annotations", "kueue.x-k8s.io/pod-group-serving"});
    waits = waits || pod.by_hand || ((fast == "true" || serving == "true") && pod.controller.empty());
    if (!pod.runs()) continue;
    ++running;
    const bool edited = pod.managed && !pod.group.empty() && !pod.belongs_to(workload);
    ready += pod.ready && !edited ? 1 : 0;
    waits = waits || !pod.unschedulable.empty();
  }
  if (!any) return storm_.complain("a workload without pods holds quota: " + reported(workload));
  if (running > held || (running < held && !waits))
    storm_.complain(std::to_string(running) + " pods run, the workload holds quota for " + std::to_string(held) + ": " +
                    reported(workload));
  const auto conditions = conditions_of_object(workload);
  const api::Condition* reported_ready = api::find_condition(conditions, "PodsReady");
  if (ready == held && reported_ready != nullptr && !reported_ready->status)
    storm_.complain("all pods are ready, and the workload says that they are not: " + reported(workload));
}

// --- Owners.

// A pod of an owner runs, or something says why it does not. An event tells about a pod whose role somebody edited.
void PodAudit::check_serves_or_waits(const Json& owner, const Json& json, const Rest& rest) {
  const PodSight pod(json);
  if (pod.deleting) return storm_.complain("a deleted pod of an owner stays: " + reported(json));
  if (pod.ready && !pod.ended) {
    ++serving_;
  } else if (!pod.gated) {
    if (pod.unschedulable.empty()) storm_.complain("a pod does not start: " + reported(json));
  } else {
    const Json* workload = workload_of(pod, rest);
    const bool edited = workload != nullptr && !pod.group.empty() && !pod.belongs_to(*workload);
    if (workload == nullptr || !(says_why(*workload) || edited))
      storm_.complain("a pod of an owner waits without a reason: " + reported(json) + " " + reported(owner) + " " +
                      (workload == nullptr ? "(no workload)" : reported(*workload)));
  }
}

void PodAudit::check_deployments(const Rest& rest) {
  std::map<std::string, std::vector<Json>> sets;
  for (Json& set : list_all(storm_.world(), "apps/v1", "ReplicaSet")) {
    check_farewell(set);
    sets[controller_uid(set)].push_back(std::move(set));
  }
  for (const Json& deployment : list_all(storm_.world(), "apps/v1", "Deployment")) {
    check_farewell(deployment);
    if (is_deleted(deployment)) continue;
    std::int64_t pods = 0;
    for (const Json& set : sets[std::string(string_at(deployment, {"metadata", "uid"}))]) {
      for (const Json* pod : rest.children_of(set)) {
        if (PodSight(*pod).ended) continue;  // it stays, and another one takes its place
        ++pods;
        check_serves_or_waits(deployment, *pod, rest);
      }
    }
    if (pods < wanted_by(deployment))
      storm_.complain("a Deployment has " + std::to_string(pods) + " pods: " + reported(deployment));
  }
}

// The pods come one after the other when the set says so: then those after a pod that waits are not there.
void PodAudit::check_stateful_sets(const Rest& rest) {
  for (const Json& set : list_all(storm_.world(), "apps/v1", "StatefulSet")) {
    check_farewell(set);
    if (is_deleted(set)) continue;
    const bool ordered = string_at(set, {"spec", "podManagementPolicy"}) != "Parallel";
    std::int64_t pods = 0;
    bool all_ready = true;
    for (const Json* pod : rest.children_of(set)) {
      ++pods;
      all_ready = all_ready && PodSight(*pod).ready;
      check_serves_or_waits(set, *pod, rest);
    }
    if (pods > wanted_by(set) || (pods < wanted_by(set) && (all_ready || !ordered)))
      storm_.complain("a StatefulSet has " + std::to_string(pods) + " pods: " + reported(set));
  }
}

const std::vector<const Json*>& PodAudit::Rest::children_of(const Json& object) const {
  static const std::vector<const Json*> none;
  const auto it = children.find(std::string(string_at(object, {"metadata", "uid"})));
  return it == children.end() ? none : it->second;
}

// A group is a leader, which the set controls, and workers, which the leader controls. A pod cannot come while another
// one has its name: somebody orphaned it.
void PodAudit::check_leader_worker_sets(const Rest& rest) {
  for (const Json& set : list_all(storm_.world(), api::leaderworkerset::kApiVersion, api::leaderworkerset::kKind)) {
    check_farewell(set);
    if (is_deleted(set)) continue;
    const std::string name(string_at(set, {"metadata", "name"}));
    for (std::int64_t i = 0; i < wanted_by(set); ++i) {
      if (!rest.pod_names.contains(name + "-" + std::to_string(i)))
        storm_.complain("group " + std::to_string(i) + " is missing: " + reported(set));
    }
    for (const Json* leader : rest.children_of(set)) check_group(set, *leader, rest);
  }
}

void PodAudit::check_group(const Json& set, const Json& leader, const Rest& rest) {
  check_serves_or_waits(set, leader, rest);
  const std::string name(string_at(leader, {"metadata", "name"}));
  for (std::int64_t i = 1; i < int_at(set, {"spec", "leaderWorkerTemplate", "size"}, 1); ++i) {
    if (!rest.pod_names.contains(name + "-" + std::to_string(i)))
      storm_.complain("worker " + std::to_string(i) + " is missing: " + reported(leader) + " " + reported(set));
  }
  for (const Json* worker : rest.children_of(leader)) check_serves_or_waits(set, *worker, rest);
}

// Nothing of ours keeps an object, and no quota is held for pods that are gone.
void PodAudit::look_at_the_end() {
  const auto expect_none = [this](std::string_view api_version, std::string_view kind) {
    for (const Json& object : list_all(storm_.world(), api_version, kind))
      storm_.complain("a deleted object stays: " + reported(object));
  };
  expect_none("v1", "Pod");
  for (const std::string_view kind : {"Deployment", "ReplicaSet", "StatefulSet"}) expect_none("apps/v1", kind);
  expect_none(api::leaderworkerset::kApiVersion, api::leaderworkerset::kKind);
  for (const Json& workload : list_all(storm_.world(), kKueueVersion, "Workload")) {
    if (holds_quota(workload)) storm_.complain("a workload holds quota, and all pods are gone: " + reported(workload));
  }
  check_quota(read_rest());
}

}  // namespace berth::simulation
