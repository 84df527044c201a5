#include "controller/ungater.h"

#include <algorithm>
#include <utility>

#include "api/core/node_labels.h"
#include "api/core/pod_phase.h"
#include "api/kueue/names.h"
#include "api/kueue/slices.h"
#include "api/resource_version.h"
#include "api/resources.h"
#include "api/status.h"
#include "base/log.h"
#include "base/planted.h"
#include "jobs/placed_pods.h"
#include "jobs/slices.h"
#include "jobs/workload_steps.h"

namespace berth::controller {
namespace {

constexpr std::size_t kInFlight = 16;                            // requests at a time for the pods of one workload
constexpr std::string_view kController = "tas-node-controller";  // Kueue's name in events

std::string uid_of(const Json& object) { return std::string(string_at(object, {"metadata", "uid"})); }

std::uint64_t version_of(const Json& object) {
  return api::version_number(string_at(object, {"metadata", "resourceVersion"}));
}

// The pod was ungated with a node and is not bound yet.
bool is_let_go(const Json& pod) {
  return jobs::waits_for_binding(pod) && !string_at(pod, {"spec", "nodeSelector", api::kHostnameLabel}).empty();
}

// Whether the change can lead to a decision: the pod is gone or ended, so its place is free, or the pod is gated.
bool matters(const JsonPtr& now) {
  return !now || api::pod_ended(*now) || jobs::has_topology_gate(*now) || jobs::has_elastic_gate(*now);
}

bool older(const jobs::WorkloadPtr& a, const jobs::WorkloadPtr& b) {
  return std::pair(a->meta.creation, std::string_view(a->meta.uid)) <
         std::pair(b->meta.creation, std::string_view(b->meta.uid));
}

// The newest slice that holds quota and is not being evicted; null: there is none.
jobs::WorkloadPtr active_slice(const std::map<std::string, jobs::WorkloadPtr>& chain) {
  jobs::WorkloadPtr active;
  for (const auto& [key, slice] : chain) {
    const auto& conditions = slice->status.conditions;
    if (!api::is_true(conditions, api::kueue::kQuotaReserved) || api::is_true(conditions, api::kueue::kEvicted))
      continue;
    if (!active || older(active, slice)) active = slice;
  }
  return active;
}

}  // namespace

// Requests of one workload, at most kInFlight at a time.
Ungater::Ungater(Shell& shell, Others others)
    : shell_(shell),
      others_(std::move(others)),
      queue_(
          shell.executor, [this](const std::string& key, WorkQueue::Finish finish) { look(key, std::move(finish)); },
          shell.options.ungate_delay) {}

void Ungater::forget(const std::string& key, const std::string& uid) {
  const auto it = pods_.find(key);
  if (it == pods_.end()) return;
  it->second.known.erase(uid);
  it->second.doubtful.erase(uid);
  if (it->second.known.empty()) pods_.erase(it);
}

void Ungater::pod_changed(const JsonPtr& old, const JsonPtr& now) {
  const std::string uid = uid_of(now ? *now : *old);
  const auto owner = owners_.find(uid);
  const std::string before = owner == owners_.end() ? std::string() : owner->second;
  const std::string key = now ? jobs::placed_by(*now) : before;
  if (!before.empty() && (before != key || !now)) {
    forget(before, uid);
    owners_.erase(uid);
  }
  if (key.empty()) return;
  if (!now || api::pod_ended(*now)) {
    forget(key, uid);
    owners_.erase(uid);
  } else {
    owners_[uid] = key;
    JsonPtr& known = pods_[key].known[uid];
    if (!known || version_of(*known) <= version_of(*now)) known = std::make_shared<const Json>(jobs::placed_pod(*now));
  }
  if (!started_) return;
  if (!workloads_.contains(key)) {
    if (now && is_let_go(*now)) queue_.add(key);
  } else if (matters(now)) {
    look_soon(key);
  }
}

jobs::WorkloadPtr Ungater::workload_of(const std::string& key) const {
  if (const auto it = workloads_.find(key); it != workloads_.end()) return it->second;
  const auto chain = chains_.find(key);
  if (chain == chains_.end()) return others_.workload(key);
  jobs::WorkloadPtr newest;
  for (const auto& [of, slice] : chain->second) {
    if (!newest || older(newest, slice)) newest = slice;
  }
  return newest;
}

// Changes are collected, so that one decision covers the pods that are created together. When all pods exist, there
// is nothing to wait for.
void Ungater::look_soon(const std::string& key) {
  std::size_t wanted = 0;
  for (const auto& assigned : workloads_.at(key)->status.admission->pod_set_assignments) {
    if (assigned.topology_assignment || jobs::is_slice(*workloads_.at(key)))
      wanted += static_cast<std::size_t>(assigned.count);
  }
  const auto pods = pods_.find(key);
  if (pods != pods_.end() && pods->second.known.size() >= wanted) return queue_.add_at_once(key);
  queue_.add(key);
}

void Ungater::workload_changed(const std::string& key, const jobs::WorkloadPtr& now) {
  if (chain_of_.contains(key) || (now && jobs::is_slice(*now))) return slice_changed(key, now);
  take_up(key, now);
}

void Ungater::slice_changed(const std::string& key, const jobs::WorkloadPtr& now) {
  std::string chain = chain_of_[key];
  if (chain.empty()) {
    const auto name = now->meta.annotations.find(api::kueue::kSliceName);
    chain = chain_of_[key] = api::object_key(now->meta.ns, name->second);
  }
  if (now && !jobs::finished(*now)) {
    chains_[chain][key] = now;
  } else {
    chains_[chain].erase(key);
    chain_of_.erase(key);
    if (chains_[chain].empty()) chains_.erase(chain);
  }
  const auto slices = chains_.find(chain);
  take_up(chain, slices == chains_.end() ? nullptr : active_slice(slices->second));
}

void Ungater::take_up(const std::string& key, const jobs::WorkloadPtr& now) {
  if (planted(Planted::kLatePlaces) && now && workloads_.contains(key)) return queue_.add(key);
  if (!now || !jobs::lets_pods_go(*now)) {
    workloads_.erase(key);
    waiting_.erase(key);
    if (started_ && now && pods_.contains(key)) queue_.add(key);
    return;
  }
  workloads_[key] = now;
  if (started_) queue_.add(key);
}

void Ungater::nodes_changed() {
  if (!started_) return;
  for (const auto& key : waiting_) queue_.add(key);
}

void Ungater::start() {
  started_ = true;
  for (const auto& key : sorted_keys(workloads_)) queue_.add(key);
  for (const auto& key : sorted_keys(pods_)) queue_.add(key);
}

void Ungater::look(const std::string& key, WorkQueue::Finish finish) {
  const auto pods = pods_.find(key);
  if (pods == pods_.end() || !workload_of(key)) return finish(true);
  if (!pods->second.doubtful.empty()) return settle_doubts(key, finish);
  decide(key, finish);
}

void Ungater::settle_doubts(const std::string& key, const WorkQueue::Finish& finish) {
  PlanRunner::Plan plan;
  const Pods& pods = pods_.at(key);
  for (const auto& uid : pods.doubtful) {
    plan.push_back(request_about(key, pods.known.at(uid), [this](const Target& target, Writes::Done answered) {
      shell_.writes.get(target, std::move(answered));
    }));
  }
  runner_.side_by_side(std::move(plan), kInFlight, [this, key, finish](Outcome outcome) {
    if (outcome == Outcome::kFailed) return finish(false);
    look(key, finish);
  });
}

void Ungater::decide(const std::string& key, const WorkQueue::Finish& finish) {
  const jobs::WorkloadPtr workload = workload_of(key);
  std::vector<JsonPtr> pods;
  for (const auto& [uid, pod] : pods_.at(key).known) pods.push_back(pod);
  const auto stuck = jobs::stuck_pods(*workload, pods, others_.hosts);
  const auto go = jobs::releases(*workload, pods, others_.hosts);
  if (go.wait_for_nodes) {
    waiting_.insert(key);
  } else {
    waiting_.erase(key);
  }
  PlanRunner::Plan plan;
  for (const auto& one : go.pods) plan.push_back(release(key, workload, one));
  const bool elastic = !plan.empty() && jobs::is_slice(*workload);
  if (stuck.empty() && !elastic) return runner_.side_by_side(std::move(plan), kInFlight, PlanRunner::ends(finish));
  confirm(workload, [this, key, workload, stuck, elastic, plan = std::move(plan), finish](bool current) mutable {
    if (!current || (elastic && !holds_quota(*workload))) return finish(false);  // the cache will bring the new version
    for (const auto& one : stuck) plan.push_back(fail(key, one));
    runner_.side_by_side(std::move(plan), kInFlight, PlanRunner::ends(finish));
  });
}

bool Ungater::holds_quota(const api::kueue::Workload& slice) const {
  return others_.holds_quota ? others_.holds_quota(slice) : shell_.engine().holds_quota(slice.meta.ns, slice.meta.name);
}

void Ungater::confirm(const jobs::WorkloadPtr& workload, std::function<void(bool current)> then) {
  const Target target = Target::of(api::kWorkloads, workload->meta);
  shell_.writes.get(target, lifetime_.guard([target, then = std::move(then)](const api::RestResponse& response) {
    then(response.ok() && string_at(response.body, {"metadata", "resourceVersion"}) == target.resource_version);
  }));
}

// A pod that is gone needs nothing any more.
PlannedRequest Ungater::request_about(const std::string& key, const JsonPtr& pod, Send send) {
  return {.send =
              [this, key, pod, send = std::move(send)](Writes::Done answered) {
                send(Target::of(api::kPods, *pod),
                     lifetime_.guard([this, key, pod, answered = std::move(answered)](const api::RestResponse& answer) {
                       learn(key, pod, answer);
                       answered(answer);
                     }));
              },
          .gone = Outcome::kGoOn};
}

PlannedRequest Ungater::release(const std::string& key, const jobs::WorkloadPtr& workload,
                                const jobs::PodRelease& release) {
  JsonArray gates;
  for (const Json& gate : array_at(*release.pod, {"spec", "schedulingGates"}))
    if (std::ranges::find(release.gates, string_at(gate, {"name"})) == release.gates.end()) gates.push_back(gate);
  Json body = JsonObject();
  ensure_path(body, {"spec", "schedulingGates"}) = std::move(gates);
  if (!release.node_selector.empty())
    ensure_path(body, {"spec", "nodeSelector"}) = api::encode_string_map(release.node_selector);
  const std::string_view gate =
      jobs::has_elastic_gate(*release.pod) ? api::kueue::kElasticGate : api::kueue::kTopologyGate;
  PlannedRequest request =
      request_about(key, release.pod, [this, body = std::move(body)](const Target& target, Writes::Done answered) {
        shell_.writes.patch(target, "", body, std::move(answered));
      });
  request.done = [this, workload, gate](const api::RestResponse& answer) {
    if (others_.gate_removed) others_.gate_removed(*workload, answer.body, gate);
  };
  return request;
}

PlannedRequest Ungater::fail(const std::string& key, const jobs::StuckPod& stuck) {
  const Target target = Target::of(api::kPods, *stuck.pod);
  const kube::ObjectRef pod{"v1", "Pod", target.ns, target.name, target.uid, target.resource_version};
  PlannedRequest request = request_about(key, stuck.pod, [this, stuck](const Target& on, Writes::Done answered) {
    Json body = JsonObject{{"status", jobs::failed_status(stuck, shell_.executor.now())}};
    shell_.writes.patch(on, "status", std::move(body), std::move(answered));
  });
  request.done = [this, pod, stuck](const api::RestResponse&) {
    shell_.events.record(pod,
                         {false, "PodTerminatedByKueue", jobs::failure_message(stuck), {}, std::string(kController)});
  };
  return request;
}

// Takes over what the answer to a request says about the pod.
void Ungater::learn(const std::string& key, const JsonPtr& pod, const api::RestResponse& response) {
  const std::string uid = uid_of(*pod);
  const auto pods = pods_.find(key);
  if (pods == pods_.end() || !pods->second.known.contains(uid)) return;  // gone meanwhile
  if (response.code == 404 || (response.ok() && uid_of(response.body) != uid) ||
      (response.ok() && api::pod_ended(response.body)))
    return forget(key, uid);
  if (!response.ok()) {
    pods->second.doubtful.insert(uid);
    if (response.code != 409)
      log::warn(
          "a pod could not be written",
          {{"pod", api::object_key(string_at(*pod, {"metadata", "namespace"}), string_at(*pod, {"metadata", "name"}))},
           {"code", response.code},
           {"why", std::string(api::status_message(response))}});
    return;
  }
  pods->second.doubtful.erase(uid);
  JsonPtr& known = pods->second.known[uid];
  if (version_of(*known) <= version_of(response.body))
    known = std::make_shared<const Json>(jobs::placed_pod(response.body));
}

}  // namespace berth::controller
