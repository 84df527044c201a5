// Reading Kueue's queues, flavors and checks. Workloads are read in decode_workload.cpp.
#include <algorithm>
#include <array>

#include "api/kueue/types.h"

namespace berth::api::kueue {
namespace {

template <typename Enum>
struct Name {
  std::string_view text;
  Enum value;
};

constexpr std::array<Name<StopPolicy>, 3> kStopPolicies{
    {{"None", StopPolicy::kNone}, {"Hold", StopPolicy::kHold}, {"HoldAndDrain", StopPolicy::kHoldAndDrain}}};
constexpr std::array<Name<QueueingStrategy>, 2> kStrategies{
    {{"BestEffortFIFO", QueueingStrategy::kBestEffortFifo}, {"StrictFIFO", QueueingStrategy::kStrictFifo}}};
constexpr std::array<Name<FungibilityPolicy>, 2> kFungibility{
    {{"MayStopSearch", FungibilityPolicy::kMayStopSearch}, {"TryNextFlavor", FungibilityPolicy::kTryNextFlavor}}};
constexpr std::array<Name<FungibilityPreference>, 2> kPreferences{
    {{"BorrowingOverPreemption", FungibilityPreference::kBorrowingOverPreemption},
     {"PreemptionOverBorrowing", FungibilityPreference::kPreemptionOverBorrowing}}};
constexpr std::array<Name<ReclaimWithinCohort>, 3> kReclaim{{{"Never", ReclaimWithinCohort::kNever},
                                                             {"LowerPriority", ReclaimWithinCohort::kLowerPriority},
                                                             {"Any", ReclaimWithinCohort::kAny}}};
constexpr std::array<Name<BorrowWithinCohort>, 2> kBorrow{
    {{"Never", BorrowWithinCohort::kNever}, {"LowerPriority", BorrowWithinCohort::kLowerPriority}}};
constexpr std::array<Name<WithinClusterQueue>, 3> kWithin{
    {{"Never", WithinClusterQueue::kNever},
     {"LowerPriority", WithinClusterQueue::kLowerPriority},
     {"LowerOrNewerEqualPriority", WithinClusterQueue::kLowerOrNewerEqualPriority}}};

// Reads one object and keeps the first error; later reads return defaults.
class Reader {
 public:
  Reader(std::string_view kind, const Json& object) : kind_(kind), object_(object), meta_(decode_meta(object)) {}

  ObjectMeta take_meta() { return std::move(meta_); }

  void fail_at(std::string_view field, std::string_view why) {
    if (error_) return;
    error_ = Error{std::string(kind_) + " " + object_key(meta_) + ": " + std::string(field) + ": " + std::string(why)};
  }

  template <typename Enum, std::size_t N>
  Enum choice(std::initializer_list<std::string_view> keys, const std::array<Name<Enum>, N>& names, Enum otherwise) {
    const std::string_view text = string_at(object_, keys);
    if (text.empty()) return otherwise;
    for (const Name<Enum>& name : names)
      if (name.text == text) return name.value;
    std::string path;
    for (const std::string_view key : keys) path += (path.empty() ? "" : ".") + std::string(key);
    fail_at(path, "unsupported value \"" + std::string(text) + "\"");
    return otherwise;
  }

  // Zero for a negative one: webhooks refuse it, and it must not take from others what was stored without them.
  Quantity quantity(const Json& value, const std::string& path) {
    const auto parsed = decode_quantity(value);
    if (!parsed) fail_at(path, parsed.error().message);
    return std::max(parsed.value_or(Quantity()), Quantity());
  }

  std::vector<ResourceGroup> resource_groups() {
    std::vector<ResourceGroup> groups;
    for (const Json& value : array_at(object_, {"spec", "resourceGroups"})) {
      const std::string path = "spec.resourceGroups[" + std::to_string(groups.size()) + "]";
      ResourceGroup group;
      for (const Json& resource : array_at(value, {"coveredResources"}))
        if (resource.is_string()) group.covered_resources.emplace_back(view(resource.get_string()));
      for (const Json& flavor : array_at(value, {"flavors"}))
        group.flavors.push_back(flavor_quotas(flavor, path + ".flavors[" + std::to_string(group.flavors.size()) + "]"));
      groups.push_back(std::move(group));
    }
    return groups;
  }

  Quantity fair_weight() {
    const Json* value = find_path(object_, {"spec", "fairSharing", "weight"});
    return value == nullptr || value->is_null() ? Quantity::of(1) : quantity(*value, "spec.fairSharing.weight");
  }

  template <typename T>
  Result<T> finish(T value) {
    if (error_) return tl::unexpected(std::move(*error_));
    return value;
  }

 private:
  FlavorQuotas flavor_quotas(const Json& value, const std::string& path) {
    FlavorQuotas flavor;
    flavor.name = string_at(value, {"name"});
    for (const Json& resource : array_at(value, {"resources"})) {
      const std::string at = path + ".resources[" + std::to_string(flavor.resources.size()) + "]";
      ResourceQuota quota;
      quota.name = string_at(resource, {"name"});
      if (const Json* nominal = find(resource, "nominalQuota"))
        quota.nominal = quantity(*nominal, at + ".nominalQuota");
      quota.borrowing_limit = limit(resource, "borrowingLimit", at);
      quota.lending_limit = limit(resource, "lendingLimit", at);
      flavor.resources.push_back(std::move(quota));
    }
    return flavor;
  }

  std::optional<Quantity> limit(const Json& resource, std::string_view key, const std::string& path) {
    const Json* value = find(resource, key);
    if (!value || value->is_null()) return std::nullopt;
    return quantity(*value, path + "." + std::string(key));
  }

  std::string_view kind_;
  const Json& object_;
  ObjectMeta meta_;
  std::optional<Error> error_;
};

std::vector<ClusterQueue::CheckRule> check_rules(const Json& object) {
  std::vector<ClusterQueue::CheckRule> rules;
  for (const Json& value : array_at(object, {"spec", "admissionChecksStrategy", "admissionChecks"})) {
    ClusterQueue::CheckRule rule;
    rule.name = string_at(value, {"name"});
    for (const Json& flavor : array_at(value, {"onFlavors"}))
      if (flavor.is_string()) rule.on_flavors.emplace_back(view(flavor.get_string()));
    rules.push_back(std::move(rule));
  }
  return rules;
}

constexpr std::string_view kByUsage = "UsageBasedAdmissionFairSharing";
constexpr std::size_t kMostResources = 256;  // of a status; a ClusterQueue covers at most 16 groups of 64

// Nobody but Berth needs this part of the status, so what cannot be read does not make the queue unreadable.
std::optional<LocalQueue::PastUsage> past_usage(const Json& object) {
  const Json* status = find_path(object, {"status", "fairSharing", "admissionFairSharingStatus"});
  if (status == nullptr) return std::nullopt;
  const auto time = parse_time(string_at(*status, {"lastUpdate"}));
  if (!time) return std::nullopt;
  LocalQueue::PastUsage out{{}, *time};
  for (const auto& [resource, value] : object_at(*status, {"consumedResources"})) {
    if (out.consumed.size() == kMostResources) break;
    if (const auto quantity = decode_quantity(value)) out.consumed.emplace(resource, std::max(*quantity, Quantity()));
  }
  return out;
}

}  // namespace

Result<ClusterQueue> decode_cluster_queue(const Json& object) {
  Reader reader("ClusterQueue", object);
  ClusterQueue q;
  q.resource_groups = reader.resource_groups();
  q.cohort_name = string_at(object, {"spec", "cohortName"});
  q.queueing_strategy = reader.choice({"spec", "queueingStrategy"}, kStrategies, q.queueing_strategy);
  if (const Json* selector = find_path(object, {"spec", "namespaceSelector"}); selector && !selector->is_null()) {
    auto parsed = LabelSelector::from_json(*selector);
    if (parsed) {
      q.namespace_selector = std::move(*parsed);
    } else {
      reader.fail_at("spec.namespaceSelector", parsed.error().message);
    }
  }
  q.when_can_borrow = reader.choice({"spec", "flavorFungibility", "whenCanBorrow"}, kFungibility, q.when_can_borrow);
  q.when_can_preempt = reader.choice({"spec", "flavorFungibility", "whenCanPreempt"}, kFungibility, q.when_can_preempt);
  q.preference = reader.choice({"spec", "flavorFungibility", "preference"}, kPreferences, q.preference);
  q.reclaim_within_cohort =
      reader.choice({"spec", "preemption", "reclaimWithinCohort"}, kReclaim, q.reclaim_within_cohort);
  q.borrow_within_cohort =
      reader.choice({"spec", "preemption", "borrowWithinCohort", "policy"}, kBorrow, q.borrow_within_cohort);
  q.borrow_max_priority_threshold =
      optional_int32_at(object, {"spec", "preemption", "borrowWithinCohort", "maxPriorityThreshold"});
  q.within_cluster_queue = reader.choice({"spec", "preemption", "withinClusterQueue"}, kWithin, q.within_cluster_queue);
  q.admission_checks = check_rules(object);
  q.stop_policy = reader.choice({"spec", "stopPolicy"}, kStopPolicies, q.stop_policy);
  q.fair_weight = reader.fair_weight();
  q.admission_by_usage = string_at(object, {"spec", "admissionScope", "admissionMode"}) == kByUsage;
  q.meta = reader.take_meta();
  return reader.finish(std::move(q));
}

Result<Cohort> decode_cohort(const Json& object) {
  Reader reader("Cohort", object);
  Cohort cohort;
  cohort.parent_name = string_at(object, {"spec", "parentName"});
  cohort.resource_groups = reader.resource_groups();
  cohort.fair_weight = reader.fair_weight();
  cohort.meta = reader.take_meta();
  return reader.finish(std::move(cohort));
}

Result<LocalQueue> decode_local_queue(const Json& object) {
  Reader reader("LocalQueue", object);
  LocalQueue queue;
  queue.cluster_queue = string_at(object, {"spec", "clusterQueue"});
  queue.stop_policy = reader.choice({"spec", "stopPolicy"}, kStopPolicies, queue.stop_policy);
  queue.fair_weight = reader.fair_weight();
  queue.past_usage = past_usage(object);
  queue.meta = reader.take_meta();
  return reader.finish(std::move(queue));
}

Result<ResourceFlavor> decode_resource_flavor(const Json& object) {
  ResourceFlavor flavor;
  flavor.meta = decode_meta(object);
  if (const Json* labels = find_path(object, {"spec", "nodeLabels"})) flavor.node_labels = decode_string_map(*labels);
  if (const Json* taints = find_path(object, {"spec", "nodeTaints"})) flavor.node_taints = decode_taints(*taints);
  if (const Json* tolerations = find_path(object, {"spec", "tolerations"}))
    flavor.tolerations = decode_tolerations(*tolerations);
  flavor.topology_name = string_at(object, {"spec", "topologyName"});
  return flavor;
}

Result<Topology> decode_topology(const Json& object) {
  Topology topology;
  topology.meta = decode_meta(object);
  for (const Json& level : array_at(object, {"spec", "levels"}))
    topology.levels.emplace_back(string_at(level, {"nodeLabel"}));
  return topology;
}

Result<AdmissionCheck> decode_admission_check(const Json& object) {
  AdmissionCheck check;
  check.meta = decode_meta(object);
  check.controller_name = string_at(object, {"spec", "controllerName"});
  if (const Json* ref = find_path(object, {"spec", "parameters"}); ref && ref->is_object()) {
    check.parameters =
        AdmissionCheck::Parameters{std::string(string_at(*ref, {"apiGroup"})), std::string(string_at(*ref, {"kind"})),
                                   std::string(string_at(*ref, {"name"}))};
  }
  if (const Json* conditions = find_path(object, {"status", "conditions"}))
    check.conditions = decode_conditions(*conditions);
  return check;
}

Result<WorkloadPriorityClass> decode_workload_priority_class(const Json& object) {
  WorkloadPriorityClass priority_class;
  priority_class.meta = decode_meta(object);
  priority_class.value = static_cast<std::int32_t>(int_at(object, {"value"}));
  return priority_class;
}

}  // namespace berth::api::kueue
