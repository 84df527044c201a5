#include "api/kueue/conversion.h"

#include <string>
#include <utility>

#include "api/kueue/topology_assignment.h"
#include "api/kueue/types.h"

namespace berth::api::kueue {
namespace {

constexpr std::string_view kOld = "v1beta1", kNew = "v1beta2";
constexpr std::string_view kWorkloadClassSource = "kueue.x-k8s.io/workloadpriorityclass";
constexpr std::string_view kPodClassSource = "scheduling.k8s.io/priorityclass";

JsonObject* object_in(Json& value, std::initializer_list<std::string_view> keys) {
  Json* at = &value;
  for (const std::string_view key : keys) {
    if (!at->is_object()) return nullptr;
    at = at->as_object().if_contains(key);
    if (at == nullptr) return nullptr;
  }
  return at->is_object() ? &at->as_object() : nullptr;
}

JsonArray* array_in(Json& value, std::initializer_list<std::string_view> path, std::string_view key) {
  JsonObject* parent = object_in(value, path);
  Json* member = parent ? parent->if_contains(key) : nullptr;
  return member && member->is_array() ? &member->as_array() : nullptr;
}

// Renames a member; replaces a member that has the new name already.
void rename(Json& value, std::initializer_list<std::string_view> path, std::string_view from, std::string_view to) {
  JsonObject* parent = object_in(value, path);
  Json* member = parent ? parent->if_contains(from) : nullptr;
  if (member == nullptr) return;
  Json moved = std::move(*member);
  parent->erase(from);
  (*parent)[to] = std::move(moved);
}

// --- ClusterQueue.

void cluster_queue_up(Json& object) {
  rename(object, {"spec"}, "cohort", "cohortName");
  if (JsonArray* names = array_in(object, {"spec"}, "admissionChecks")) {
    JsonArray rules;
    for (Json& name : *names) rules.push_back(JsonObject{{"name", std::move(name)}});
    erase_path(object, {"spec", "admissionChecks"});
    if (!rules.empty()) ensure_path(object, {"spec", "admissionChecksStrategy", "admissionChecks"}) = std::move(rules);
  }
  if (JsonObject* fungibility = object_in(object, {"spec", "flavorFungibility"})) {
    for (const auto& [field, old] : {std::pair{"whenCanBorrow", "Borrow"}, {"whenCanPreempt", "Preempt"}}) {
      Json* policy = fungibility->if_contains(field);
      if (policy && policy->is_string() && policy->as_string() == old) *policy = "MayStopSearch";
    }
  }
  erase_path(object, {"status", "pendingWorkloadsStatus"});
  erase_path(object, {"status", "fairSharing", "admissionFairSharingStatus"});
}

void cluster_queue_down(Json& object) {
  rename(object, {"spec"}, "cohortName", "cohort");
  erase_path(object, {"spec", "concurrentAdmissionPolicy"});
}

// --- Workload.

void priority_class_up(Json& object) {
  JsonObject* spec = object_in(object, {"spec"});
  if (spec == nullptr) return;
  const std::string name(string_at(object, {"spec", "priorityClassName"}));
  const std::string source(string_at(object, {"spec", "priorityClassSource"}));
  spec->erase("priorityClassName");
  spec->erase("priorityClassSource");
  if (name.empty() || (source != kWorkloadClassSource && source != kPodClassSource)) return;
  const bool own = source == kWorkloadClassSource;
  (*spec)["priorityClassRef"] = JsonObject{{"group", own ? "kueue.x-k8s.io" : "scheduling.k8s.io"},
                                           {"kind", own ? "WorkloadPriorityClass" : "PriorityClass"},
                                           {"name", name}};
}

void priority_class_down(Json& object) {
  JsonObject* spec = object_in(object, {"spec"});
  if (spec == nullptr || !spec->contains("priorityClassRef")) return;
  const std::string name(string_at(object, {"spec", "priorityClassRef", "name"}));
  const bool own = string_at(object, {"spec", "priorityClassRef", "group"}) == kGroup;
  spec->erase("priorityClassRef");
  (*spec)["priorityClassName"] = name;
  (*spec)["priorityClassSource"] = own ? kWorkloadClassSource : kPodClassSource;
}

Json domains_of(const TopologyAssignment& assignment) {
  JsonArray levels, domains;
  for (const auto& level : assignment.levels) levels.emplace_back(level);
  for (const auto& domain : assignment.domains) {
    JsonArray values;
    for (const auto& value : domain.values) values.emplace_back(value);
    domains.push_back(JsonObject{{"values", std::move(values)}, {"count", domain.count}});
  }
  return JsonObject{{"levels", std::move(levels)}, {"domains", std::move(domains)}};
}

Result<TopologyAssignment> assignment_of_domains(const Json& value) {
  TopologyAssignment out;
  for (const Json& level : array_at(value, {"levels"})) {
    if (!level.is_string()) return fail("levels: expected strings");
    out.levels.emplace_back(view(level.get_string()));
  }
  for (const Json& one : array_at(value, {"domains"})) {
    TopologyDomain domain;
    for (const Json& text : array_at(one, {"values"})) {
      if (!text.is_string()) return fail("domains.values: expected strings");
      domain.values.emplace_back(view(text.get_string()));
    }
    const std::int64_t count = int_at(one, {"count"});
    if (count < 1 || count > INT32_MAX) return fail("domains.count: expected a number from 1");
    if (domain.values.size() != out.levels.size()) return fail("domains.values: expected one value for each level");
    domain.count = static_cast<std::int32_t>(count);
    out.domains.push_back(std::move(domain));
  }
  return out;
}

Result<void> assignments(Json& object, bool up) {
  JsonArray* all = array_in(object, {"status", "admission"}, "podSetAssignments");
  if (all == nullptr) return {};
  for (std::size_t i = 0; i < all->size(); ++i) {
    JsonObject* one = (*all)[i].if_object();
    Json* places = one ? one->if_contains("topologyAssignment") : nullptr;
    if (places == nullptr || !places->is_object()) continue;
    auto read = up ? assignment_of_domains(*places) : decode_topology_assignment(*places);
    if (!read)
      return fail("status.admission.podSetAssignments[" + std::to_string(i) + "].topologyAssignment." +
                  read.error().message);
    *places = up ? encode_topology_assignment(*read) : domains_of(*read);
  }
  return {};
}

Result<void> workload_up(Json& object) {
  priority_class_up(object);
  rename(object, {"status"}, "accumulatedPastExexcutionTimeSeconds", "accumulatedPastExecutionTimeSeconds");
  return assignments(object, true);
}

Result<void> workload_down(Json& object) {
  priority_class_down(object);
  rename(object, {"status"}, "accumulatedPastExecutionTimeSeconds", "accumulatedPastExexcutionTimeSeconds");
  erase_path(object, {"spec", "preemptionGates"});
  erase_path(object, {"status", "preemptionGates"});
  if (JsonArray* pod_sets = array_in(object, {"spec"}, "podSets")) {
    for (Json& pod_set : *pod_sets) erase_path(pod_set, {"topologyRequest", "podsetSliceRequiredTopologyConstraints"});
  }
  return assignments(object, false);
}

// --- MultiKueueCluster.

void multi_kueue_cluster_up(Json& object) {
  JsonObject* spec = object_in(object, {"spec"});
  if (spec == nullptr) return;
  JsonObject source;
  for (const std::string_view field : {"kubeConfig", "clusterProfileRef"}) {
    Json* member = spec->if_contains(field);
    if (member == nullptr) continue;
    // The v1beta1 schema requires kubeConfig even with a profile; ignore an empty one.
    if (field != "kubeConfig" || !string_at(*member, {"location"}).empty()) source[field] = std::move(*member);
    spec->erase(field);
  }
  (*spec)["clusterSource"] = std::move(source);
}

void multi_kueue_cluster_down(Json& object) {
  JsonObject* spec = object_in(object, {"spec"});
  Json* source = spec ? spec->if_contains("clusterSource") : nullptr;
  if (source == nullptr) return;
  const Json taken = std::move(*source);
  spec->erase("clusterSource");
  for (const auto& [field, value] : object_at(taken, {})) (*spec)[field] = value;
}

Result<void> convert_up(std::string_view kind, Json& object) {
  if (kind == "ClusterQueue") cluster_queue_up(object);
  if (kind == "Cohort") erase_path(object, {"status", "fairSharing", "admissionFairSharingStatus"});
  if (kind == "LocalQueue") {
    rename(object, {"status"}, "flavorUsage", "flavorsUsage");
    erase_path(object, {"status", "flavors"});
  }
  if (kind == "AdmissionCheck") erase_path(object, {"spec", "retryDelayMinutes"});
  if (kind == "MultiKueueCluster") multi_kueue_cluster_up(object);
  return kind == "Workload" ? workload_up(object) : Result<void>();
}

Result<void> convert_down(std::string_view kind, Json& object) {
  if (kind == "ClusterQueue") cluster_queue_down(object);
  if (kind == "LocalQueue") rename(object, {"status"}, "flavorsUsage", "flavorUsage");
  if (kind == "MultiKueueCluster") multi_kueue_cluster_down(object);
  if (kind == "MultiKueueConfig") erase_path(object, {"spec", "quotaManagement"});
  return kind == "Workload" ? workload_down(object) : Result<void>();
}

}  // namespace

Result<void> convert(Json& object, std::string_view version) {
  const std::string kind(string_at(object, {"kind"})), present(string_at(object, {"apiVersion"}));
  const std::string prefix = std::string(kGroup) + "/", wanted = prefix + std::string(version);
  const auto named = [&](const std::string& why) {
    return fail(kind + " " + object_key(decode_meta(object)) + ": " + why);
  };
  const bool known = (version == kOld || version == kNew) &&
                     (present == prefix + std::string(kOld) || present == prefix + std::string(kNew));
  if (!known) return named("cannot convert from " + present + " to " + wanted);
  if (present == wanted) return {};
  if (auto done = version == kNew ? convert_up(kind, object) : convert_down(kind, object); !done)
    return named(done.error().message);
  object.as_object()["apiVersion"] = wanted;
  return {};
}

}  // namespace berth::api::kueue
