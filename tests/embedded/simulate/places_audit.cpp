#include "embedded/simulate/places_audit.h"

#include "api/core/node.h"
#include "api/core/pod_resources.h"
#include "api/kueue/pod_placement.h"

namespace berth::simulation {
namespace {

using api::kueue::Workload;

bool holds(const Workload& w) {
  return api::is_true(w.status.conditions, "QuotaReserved") && !api::is_true(w.status.conditions, "Finished") &&
         w.status.admission.has_value();
}

Json pod_spec(const Workload& w, const std::string& pod_set) {
  for (const auto& each : w.pod_sets) {
    const Json* spec = each.name == pod_set ? find(*each.template_, "spec") : nullptr;
    if (spec != nullptr) return *spec;
  }
  return JsonObject();
}

// Uids of jobs that have not ended. The engine learns of a job's end before the workload's status shows it.
std::set<std::string> running_jobs(const std::vector<JsonPtr>& jobs) {
  std::set<std::string> uids;
  for (const JsonPtr& job : jobs) {
    bool ended = false;
    for (const Json& condition : array_at(*job, {"status", "conditions"})) {
      const auto type = string_at(condition, {"type"});
      ended = ended || ((type == "Complete" || type == "Failed") && string_at(condition, {"status"}) == "True");
    }
    if (!ended) uids.emplace(string_at(*job, {"metadata", "uid"}));
  }
  return uids;
}

}  // namespace

PlacesAudit::Given PlacesAudit::given(const Workload& w) {
  Given out;
  if (!holds(w)) return out;
  out.reserved_at = format_time(api::find_condition(w.status.conditions, "QuotaReserved")->last_transition);
  for (const auto& assignment : w.status.admission->pod_set_assignments) {
    if (!assignment.topology_assignment) continue;
    Counts& counts = out.pod_sets[assignment.name];
    for (const auto& domain : assignment.topology_assignment->domains) counts[domain.values.back()] += domain.count;
  }
  return out;
}

void PlacesAudit::audit_workload(const Workload& w, const Given& now, std::vector<std::string>& broken) {
  const std::string who = "workload " + api::object_key(w.meta);
  const bool evicted = api::is_true(w.status.conditions, "Evicted");
  // Finishing a workload writes only the Finished condition, so unhealthyNodes may remain. They have no effect.
  const bool finished = api::is_true(w.status.conditions, "Finished");
  if (!w.status.unhealthy_nodes.empty() && !finished && (!holds(w) || evicted))
    broken.push_back(who + " has failed nodes to be replaced though it is " + (evicted ? "evicted" : "waiting"));
  const auto before = former_.find(w.meta.uid);
  if (before == former_.end() || before->second.reserved_at != now.reserved_at) return;
  for (const auto& [pod_set, counts] : before->second.pod_sets) {
    const auto after = now.pod_sets.find(pod_set);
    if (after == now.pod_sets.end()) {
      if (holds(w)) broken.push_back(who + " lost the places of pod set " + pod_set);
      continue;
    }
    for (const auto& [node, count] : counts) {
      const auto kept = after->second.find(node);
      const std::int32_t left = kept == after->second.end() ? 0 : kept->second;
      if (left < count && !failed_.contains(node))
        broken.push_back(who + " had " + std::to_string(count) + " pods on " + node + ", now " + std::to_string(left) +
                         ", though the node never failed");
    }
  }
}

void PlacesAudit::audit_promises(const std::vector<Workload>& workloads, const Snapshot& now,
                                 std::vector<std::string>& broken) const {
  std::map<std::string, api::ResourceList> promised;
  std::map<std::string, std::string> holders;  // by node: the workloads assigned to it and their numbers of pods
  const auto running = running_jobs(now.jobs);
  for (const Workload& w : workloads) {
    if (w.meta.owners.empty() || !running.contains(w.meta.owners.front().uid)) continue;
    for (const auto& [pod_set, counts] : given(w).pod_sets) {
      const auto requests = api::pod_requests(pod_spec(w, pod_set));
      for (const auto& [node, count] : counts) {
        holders[node] += " " + api::object_key(w.meta) + ":" + std::to_string(count);
        for (const auto& [resource, quantity] : requests) {
          promised[node][resource] = promised[node][resource] + quantity * count;
        }
      }
    }
  }
  for (const JsonPtr& json : now.nodes) {
    const api::Node node = api::decode_node(*json);
    for (const auto& [resource, amount] : promised[node.name]) {
      const auto has = node.allocatable.find(resource);
      if (has != node.allocatable.end() && has->second < amount)
        broken.push_back("node " + node.name + " has " + has->second.to_string() + " " + resource + ", promised are " +
                         amount.to_string() + " to" + holders[node.name]);
    }
  }
}

void PlacesAudit::audit_pods(const std::map<std::string, Given>& by_key, const Snapshot& now,
                             std::vector<std::string>& broken) const {
  // Number of ungated pods by (workload/pod set, node).
  std::map<std::pair<std::string, std::string>, std::int32_t> let_go;
  for (const JsonPtr& json : now.pods) {
    const auto pod = api::kueue::decode_pod_placement(*json);
    if (pod.workload.empty() || !pod.holds_node()) continue;
    const std::string who = "pod " + api::object_key(pod.ns, pod.name);
    const auto selected = string_at(*json, {"spec", "nodeSelector", "kubernetes.io/hostname"});
    const auto workload = by_key.find(api::object_key(pod.ns, pod.workload));
    if (workload == by_key.end() || workload->second.pod_sets.empty()) continue;
    if (pod.bound && selected != pod.node)
      broken.push_back(who + " runs on " + pod.node + ", not on " + std::string(selected));
    // A terminating pod may belong to a former assignment.
    if (pod.terminating || failed_.contains(pod.node)) continue;
    const auto& counts = workload->second.pod_sets;
    const auto given_to = counts.find(pod.pod_set);
    const auto place = given_to == counts.end() ? Counts::const_iterator() : given_to->second.find(pod.node);
    if (given_to == counts.end() || place == given_to->second.end()) {
      broken.push_back(who + " was let go to " + pod.node + ", which " + pod.workload + " was not given");
      continue;
    }
    if (++let_go[{workload->first + "/" + pod.pod_set, pod.node}] > place->second)
      broken.push_back(who + " is one more on " + pod.node + " than " + pod.workload + " was given");
  }
}

std::vector<std::string> PlacesAudit::look(const Snapshot& now) {
  std::vector<std::string> broken;
  std::vector<Workload> workloads;
  std::map<std::string, Given> by_key, by_uid;
  for (const JsonPtr& json : now.workloads) {
    auto workload = api::kueue::decode_workload(*json);
    if (!workload) {
      broken.push_back("a stored workload cannot be read: " + workload.error().message);
      continue;
    }
    Given places = given(*workload);
    audit_workload(*workload, places, broken);
    by_key[api::object_key(workload->meta)] = places;
    by_uid[workload->meta.uid] = std::move(places);
    workloads.push_back(std::move(*workload));
  }
  audit_promises(workloads, now, broken);
  audit_pods(by_key, now, broken);
  former_ = std::move(by_uid);
  return broken;
}

}  // namespace berth::simulation
