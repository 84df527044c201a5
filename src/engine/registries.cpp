#include "engine/registries.h"

#include <algorithm>
#include <set>
#include <utility>

#include "api/kueue/names.h"
#include "base/similar.h"

namespace berth::engine {

using api::kueue::ClusterQueue;
using api::kueue::LocalQueue;
using api::kueue::StopPolicy;

namespace {

// spec.controllerName of admission checks that create ProvisioningRequests.
constexpr std::string_view kProvisioningController = "kueue.x-k8s.io/provisioning-request";
constexpr std::string_view kCohortCycle = "CohortCycleDetected";

template <typename Map>
auto* get(const Map& map, std::string_view name) {
  const auto it = map.find(name);
  return it == map.end() ? nullptr : it->second.get();
}

std::string joined(const std::vector<std::string>& names, std::string_view separator) {
  std::string out;
  for (const auto& n : names) out.append(out.empty() ? "" : separator).append(n);
  return out;
}

struct Problem {
  std::string_view reason;
  std::string message;
};

// Whether the way from the cohort to the root comes back to where it was.
bool in_cycle(const Registries& r, std::string_view cohort) {
  std::set<std::string_view> seen;
  while (!cohort.empty()) {
    if (!seen.insert(cohort).second) return true;
    const auto* above = get(r.cohorts, cohort);
    cohort = above == nullptr ? std::string_view() : above->parent_name;
  }
  return false;
}

// What a queue may not have beside a check of MultiKueue: the whole workload goes to one other cluster.
void check_dispatch(const Registries& r, const ClusterQueue& queue, std::vector<Problem>& out) {
  std::vector<std::string> dispatching, per_flavor, provisioning;
  for (const auto& rule : queue.admission_checks) {
    const auto* check = get(r.checks, rule.name);
    if (check == nullptr) continue;
    if (check->controller_name == kProvisioningController) provisioning.push_back(rule.name);
    if (check->controller_name != api::kueue::kMultiKueueController) continue;
    dispatching.push_back(rule.name);
    const bool some = !rule.on_flavors.empty() && std::ranges::any_of(queue.resource_groups, [&](const auto& group) {
      return std::ranges::any_of(group.flavors, [&](const auto& flavor) {
        return std::ranges::find(rule.on_flavors, flavor.name) == rule.on_flavors.end();
      });
    });
    if (some) per_flavor.push_back(rule.name);
  }
  if (dispatching.size() > 1)
    out.push_back({"MultipleMultiKueueAdmissionChecks",
                   "Cannot use multiple MultiKueue AdmissionChecks on the same ClusterQueue, found: " +
                       joined(dispatching, ",")});
  if (!per_flavor.empty())
    out.push_back({"MultiKueueAdmissionCheckAppliedPerFlavor",
                   "Cannot specify MultiKueue AdmissionCheck per flavor, found: " + joined(per_flavor, ",")});
  if (!dispatching.empty() && !provisioning.empty())
    out.push_back({"MultiKueueWithProvisioningRequest",
                   "Cannot use MultiKueue and ProvisioningRequest AdmissionChecks on the same ClusterQueue, found: " +
                       joined(dispatching, ",") + "," + joined(provisioning, ",")});
}

std::vector<Problem> problems(const Registries& r, const ClusterQueue& queue) {
  std::vector<Problem> out;
  if (queue.stop_policy != StopPolicy::kNone) out.push_back({"Stopped", "is stopped"});

  std::vector<std::string> flavors, missing, inactive;
  std::vector<Problem> topologies;
  for (const auto& group : queue.resource_groups) {
    for (const auto& each : group.flavors) {
      const auto* flavor = get(r.flavors, each.name);
      if (flavor == nullptr) {
        flavors.push_back(each.name);
      } else if (!flavor->topology_name.empty() && !r.topologies.contains(flavor->topology_name)) {
        topologies.push_back({"TopologyNotFound", "there is no Topology \"" + flavor->topology_name +
                                                      "\" for TAS flavor \"" + each.name + "\""});
      }
    }
  }
  for (const auto& rule : queue.admission_checks) {
    const auto* check = get(r.checks, rule.name);
    if (check == nullptr) {
      missing.push_back(rule.name);
    } else if (!api::is_true(check->conditions, "Active")) {
      inactive.push_back(rule.name);
    }
  }
  const auto report = [&](std::string_view reason, std::string_view text, const std::vector<std::string>& names) {
    if (!names.empty()) out.push_back({reason, std::string(text) + joined(names, ",")});
  };
  if (in_cycle(r, queue.cohort_name)) topologies.push_back({kCohortCycle, "its Cohorts form a cycle"});
  report("FlavorNotFound", "references missing ResourceFlavor(s): ", flavors);
  report("AdmissionCheckNotFound", "references missing AdmissionCheck(s): ", missing);
  report("AdmissionCheckInactive", "references inactive AdmissionCheck(s): ", inactive);
  check_dispatch(r, queue, out);
  out.insert(out.end(), topologies.begin(), topologies.end());
  return out;
}

std::vector<std::string> compute_delayed_flavors(const Registries& r, const ClusterQueue& queue) {
  std::set<std::string> out;
  for (const auto& rule : queue.admission_checks) {
    const auto* check = get(r.checks, rule.name);
    if (check == nullptr || check->controller_name != kProvisioningController) continue;
    out.insert(rule.on_flavors.begin(), rule.on_flavors.end());
    if (!rule.on_flavors.empty()) continue;
    for (const auto& group : queue.resource_groups) {
      for (const auto& flavor : group.flavors) out.insert(flavor.name);
    }
  }
  return {out.begin(), out.end()};
}

bool names_flavor(const std::vector<api::kueue::ResourceGroup>& groups, std::string_view flavor) {
  return std::ranges::any_of(groups, [&](const auto& group) {
    return std::ranges::any_of(group.flavors, [&](const auto& f) { return f.name == flavor; });
  });
}

Activity compute_activity(const Registries& r, const ClusterQueue& queue) {
  if (queue.meta.deletion) return {false, "Terminating", "Can't admit new workloads; clusterQueue is terminating"};
  const auto found = problems(r, queue);
  if (found.empty()) return {true, "Ready", "Can admit new workloads"};
  std::vector<std::string> messages;
  for (const auto& p : found) messages.push_back(p.message);
  return {false, std::string(found.front().reason), "Can't admit new workloads: " + joined(messages, ", ") + "."};
}

// The part of the message that conditions of workloads have, too.
std::string problem_of(const Activity& activity) {
  constexpr std::string_view kBefore = "Can't admit new workloads: ";
  if (activity.active) return "";
  if (activity.reason == "Terminating") return "it is being deleted";
  std::string_view text = activity.message;
  if (!text.starts_with(kBefore)) return "";
  text.remove_prefix(kBefore.size());
  if (text.ends_with('.')) text.remove_suffix(1);
  return std::string(text);
}

}  // namespace

const ClusterQueue* Registries::cluster_queue(std::string_view name) const { return get(cluster_queues, name); }
const LocalQueue* Registries::local_queue(std::string_view key) const { return get(local_queues, key); }

std::string Registries::queues_like(std::string_view ns, std::string_view name) const {
  constexpr std::size_t kMostCompared = 64, kMostNamed = 5;
  const std::string prefix = std::string(ns) + "/";
  std::vector<std::string> names;
  for (auto it = local_queues.lower_bound(prefix); it != local_queues.end() && it->first.starts_with(prefix); ++it) {
    if (names.size() == kMostCompared) break;
    names.push_back(it->first.substr(prefix.size()));
  }
  const bool more = names.size() > kMostNamed;
  const std::string out = joined(nearest_first(name, std::move(names), kMostNamed), ", ");
  return more ? out + " and more" : out;
}

void Registries::set_local_queue(std::shared_ptr<const LocalQueue> queue) {
  const std::string key = api::object_key(queue->meta);
  remove_local_queue(key);
  local_queues_of_[queue->cluster_queue].insert(key);
  local_queues[key] = std::move(queue);
}

void Registries::remove_local_queue(std::string_view key) {
  const auto it = local_queues.find(key);
  if (it == local_queues.end()) return;
  const auto siblings = local_queues_of_.find(it->second->cluster_queue);
  siblings->second.erase(it->first);
  if (siblings->second.empty()) local_queues_of_.erase(siblings);
  local_queues.erase(it);
}

const std::set<std::string>& Registries::local_queues_of(std::string_view cluster_queue) const {
  static const std::set<std::string> kNone;
  const auto it = local_queues_of_.find(cluster_queue);
  return it == local_queues_of_.end() ? kNone : it->second;
}

bool Registries::refresh_one(const std::string& name) {
  const ClusterQueue* queue = cluster_queue(name);
  if (queue == nullptr) {
    derived_.erase(name);
    return false;
  }
  Derived now{compute_activity(*this, *queue), compute_delayed_flavors(*this, *queue)};
  const auto [known, is_new] = derived_.try_emplace(name, now);
  if (!is_new && known->second == now) return false;
  known->second = std::move(now);
  return true;
}

std::vector<std::string> Registries::refresh(const std::set<std::string>& queues) {
  std::vector<std::string> changed;
  for (const std::string& name : queues) {
    if (refresh_one(name)) changed.push_back(name);
  }
  return changed;
}

std::vector<std::string> Registries::refresh_all() {
  std::erase_if(derived_, [this](const auto& each) { return !cluster_queues.contains(each.first); });
  std::vector<std::string> changed;
  for (const auto& [name, queue] : cluster_queues) {
    if (refresh_one(name)) changed.push_back(name);
  }
  return changed;
}

const Activity& Registries::activity(const ClusterQueue& queue) const {
  static const Activity kUnknown{false, "Unknown", "Can't admit new workloads"};
  const auto it = derived_.find(queue.meta.name);
  return it == derived_.end() ? kUnknown : it->second.activity;
}

Activity Registries::activity(const LocalQueue& queue) const {
  if (queue.stop_policy != StopPolicy::kNone) return {false, "Stopped", "LocalQueue is stopped"};
  const auto* cq = cluster_queue(queue.cluster_queue);
  if (cq == nullptr) return {false, "ClusterQueueDoesNotExist", "Can't submit new workloads to clusterQueue"};
  if (!activity(*cq).active) return {false, "ClusterQueueIsInactive", "Can't submit new workloads to clusterQueue"};
  return {true, "Ready", "Can submit new workloads to localQueue"};
}

lifecycle::QueueView Registries::view_of_cluster_queue(std::string_view name) const {
  const auto* q = cluster_queue(name);
  if (q == nullptr) return {};
  const Activity& is = activity(*q);
  const bool stopped = q->stop_policy != StopPolicy::kNone;
  return {true, q->meta.deletion.has_value(), is.active, q->stop_policy, stopped ? "" : problem_of(is)};
}

lifecycle::QueueView Registries::view_of_local_queue(std::string_view key) const {
  const auto* q = local_queue(key);
  if (q == nullptr) return {};
  return {true, q->meta.deletion.has_value(), q->stop_policy == StopPolicy::kNone, q->stop_policy};
}

std::vector<std::string> Registries::required_checks(const api::kueue::Admission& admission) const {
  const auto* queue = cluster_queue(admission.cluster_queue);
  if (queue == nullptr) return {};
  std::set<std::string_view> assigned;
  for (const auto& ps : admission.pod_set_assignments) {
    for (const auto& [resource, flavor] : ps.flavors) assigned.insert(flavor);
  }
  std::vector<std::string> out;
  for (const auto& rule : queue->admission_checks) {
    const bool applies =
        rule.on_flavors.empty() ||
        std::ranges::any_of(rule.on_flavors, [&](const std::string& flavor) { return assigned.contains(flavor); });
    if (applies) out.push_back(rule.name);
  }
  std::ranges::sort(out);
  return out;
}

const std::vector<std::string>& Registries::delayed_flavors(const ClusterQueue& queue) const {
  static const std::vector<std::string> kNone;
  const auto it = derived_.find(queue.meta.name);
  return it == derived_.end() ? kNone : it->second.delayed_flavors;
}

std::string Registries::placed_flavor(const api::kueue::PodSetAssignment& pod_set) const {
  std::string unknown, unused;  // unused: the flavor of a request of 0
  for (const auto& [resource, name] : pod_set.flavors) {
    const auto* flavor = get(flavors, name);
    const auto usage = pod_set.resource_usage.find(resource);
    const bool used = usage == pod_set.resource_usage.end() || !usage->second.is_zero();
    const bool places = flavor != nullptr && !flavor->topology_name.empty();
    if (places && used) return name;
    if (places && unused.empty()) unused = name;
    if (flavor == nullptr && unknown.empty()) unknown = name;
  }
  if (!unused.empty()) return unused;
  return unknown.empty() && !pod_set.flavors.empty() ? pod_set.flavors.begin()->second : unknown;
}

bool Registries::flavor_in_use(std::string_view flavor) const {
  return std::ranges::any_of(cluster_queues,
                             [&](const auto& entry) { return names_flavor(entry.second->resource_groups, flavor); });
}

bool Registries::topology_in_use(std::string_view topology) const {
  return std::ranges::any_of(flavors, [&](const auto& entry) { return entry.second->topology_name == topology; });
}

std::vector<std::string> Registries::queues_with_flavor(std::string_view flavor) const {
  std::vector<std::string> out;
  for (const auto& [name, queue] : cluster_queues) {
    if (names_flavor(queue->resource_groups, flavor)) out.push_back(name);
  }
  return out;
}

bool Registries::check_in_use(std::string_view check) const {
  return std::ranges::any_of(cluster_queues, [&](const auto& entry) {
    return std::ranges::any_of(entry.second->admission_checks, [&](const auto& rule) { return rule.name == check; });
  });
}

std::vector<api::LimitRangeItem> Registries::limits_of(std::string_view ns) const {
  std::vector<api::LimitRangeItem> out;
  const auto it = limit_ranges.find(ns);
  if (it == limit_ranges.end()) return out;
  for (const auto& [name, items] : it->second) out.insert(out.end(), items.begin(), items.end());
  return out;
}

}  // namespace berth::engine
