#include "volcano/group_workloads.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "api/volcano/names.h"

namespace berth::volcano {

using api::kueue::PodSet;
using api::kueue::PodSetAssignment;
using api::kueue::Workload;
using api::kueue::WorkloadStatus;
using api::volcano::kPods;
using api::volcano::PodGroup;
using api::volcano::PodGroupPhase;

namespace {

constexpr std::string_view kSurplusSuffix = "/surplus", kGrowthSuffix = "/growth";

std::string_view suffix_of(Part part) {
  return part == Part::kSurplus ? kSurplusSuffix : part == Part::kGrowth ? kGrowthSuffix : std::string_view();
}

// The group was admitted before: its minimum is charged.
bool is_in(PodGroupPhase phase) {
  return phase == PodGroupPhase::kInqueue || phase == PodGroupPhase::kRunning || phase == PodGroupPhase::kUnknown;
}

// A pod set of `count` equal pods that request `each`.
PodSet pod_set(std::string name, std::int32_t count, const api::ResourceList& each) {
  PodSet out;
  out.name = std::move(name);
  out.count = count;
  JsonObject container{{"name", "all"}, {"resources", JsonObject{{"requests", api::encode_resource_list(each)}}}};
  out.template_ =
      std::make_shared<const Json>(JsonObject{{"spec", JsonObject{{"containers", JsonArray{std::move(container)}}}}});
  return out;
}

// The engine holds what claims devices, and says why.
void claim_devices(PodSet& pod_set) {
  Json pod_template = *pod_set.template_;
  ensure_path(pod_template, {"spec", "resourceClaims"}) = JsonArray{JsonObject{{"name", "of-its-pods"}}};
  pod_set.template_ = std::make_shared<const Json>(std::move(pod_template));
}

// One pod set has all requests; a second one makes up the number of pods. With `pods` <= 0 there is no pod beyond the
// minimum: the pods of the minimum request more than the group's minResources.
std::vector<PodSet> pod_sets(const api::ResourceList& resources, std::int64_t pods) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  std::vector<PodSet> out{pod_set("main", pods > 0 ? 1 : 0, resources)};
  if (pods > 1) out.push_back(pod_set("others", static_cast<std::int32_t>(std::min(pods - 1, kMost)), {}));
  return out;
}

api::Condition happened(std::string_view type, std::string_view reason, Time when) {
  return {.type = std::string(type),
          .status = true,
          .reason = std::string(reason),
          .message = "Charged as the group is let in",
          .last_transition = when};
}

// The pod sets get these resources in this flavor.
api::kueue::Admission admission_of(const Workload& workload, const api::ResourceList& resources,
                                   const std::string& flavor) {
  api::kueue::Admission admission{node_name(workload.queue_name), {}};
  for (const PodSet& each : workload.pod_sets) {
    PodSetAssignment assignment;
    assignment.name = each.name;
    assignment.count = each.count;
    if (each.name == "main") assignment.resource_usage = resources;
    if (each.count > 0) assignment.resource_usage[std::string(kPods)] = Quantity::of(each.count);
    for (const auto& [resource, amount] : assignment.resource_usage) assignment.flavors[resource] = flavor;
    admission.pod_set_assignments.push_back(std::move(assignment));
  }
  return admission;
}

// Sets the status that the engine would have written on admission. The time since which quota is held is not known:
// the creation of the group is used.
void admit(Workload& workload, const api::ResourceList& resources, const GroupContext& context) {
  workload.status.admission = admission_of(workload, resources, context.flavor);
  workload.status.conditions = {happened(api::kueue::kQuotaReserved, "QuotaReserved", workload.meta.creation),
                                happened(api::kueue::kAdmitted, "Admitted", to_seconds(context.now))};
}

Workload part_of(const PodGroup& group, Part part, std::int32_t priority) {
  Workload out;
  out.meta.name = workload_name(group.meta, part);
  out.meta.ns = kGroupNamespace;
  out.meta.uid = group.meta.uid + std::string(suffix_of(part));
  out.meta.resource_version = group.meta.resource_version;
  out.meta.creation = group.meta.creation;
  if (part == Part::kMinimum) out.meta.deletion = group.meta.deletion;
  out.queue_name = group.queue;
  out.priority = priority;
  return out;
}

// The number of pods charged for the minimum: at least one.
std::int32_t minimum_pods(const PodGroup& group) { return std::max(group.min_member, 1); }

// "pods" is computed from the number of pods, not from requests.
api::ResourceList without_pods(api::ResourceList list) {
  if (const auto pods = list.find(kPods); pods != list.end()) list.erase(pods);
  return list;
}

std::int64_t pods_in(const api::ResourceList& list) {
  const auto pods = list.find(kPods);
  return pods == list.end() ? 0 : pods->second.value();
}

// The resources charged for the minimum. The schema allows negative amounts: they request nothing.
api::ResourceList minimum_resources(const PodGroup& group) {
  api::ResourceList minimum = without_pods(group.min_resources.value_or(api::ResourceList()));
  std::erase_if(minimum, [](const auto& each) { return each.second.sign() < 0; });
  return minimum;
}

bool has_minimum(const PodGroup& group) {
  return group.min_resources.has_value() && group.status.phase != PodGroupPhase::kCompleted;
}

bool is_evicted(const WorkloadStatus* status) {
  return status != nullptr && api::is_true(status->conditions, api::kueue::kQuotaReserved) &&
         api::is_true(status->conditions, api::kueue::kEvicted);
}

}  // namespace

std::string workload_name(const api::ObjectMeta& group, Part part) {
  return group.ns + "/" + group.name + std::string(suffix_of(part));
}

std::optional<GroupRef> group_of_workload(std::string_view name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  GroupRef out{std::string(name.substr(0, slash)), std::string(name.substr(slash + 1)), Part::kMinimum};
  if (const std::size_t end = out.name.rfind('/'); end != std::string::npos && out.name.size() == end + 3) {
    const std::string_view digits = std::string_view(out.name).substr(end + 1);
    const auto [last, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out.index);
    if (error != std::errc() || last != digits.data() + digits.size()) return std::nullopt;
    out.name.resize(end);
  }
  for (const Part part : {Part::kSurplus, Part::kGrowth}) {
    if (!out.name.ends_with(suffix_of(part))) continue;
    out.name.resize(out.name.size() - suffix_of(part).size());
    out.part = part;
    break;
  }
  return out;
}

std::optional<Workload> minimum_of(const PodGroup& group, const GroupContext& context) {
  if (!has_minimum(group)) return std::nullopt;
  const api::ResourceList resources = minimum_resources(group);
  Workload out = part_of(group, Part::kMinimum, context.priority);
  out.pod_sets = pod_sets(resources, minimum_pods(group));
  if (is_in(group.status.phase)) {
    admit(out, resources, context);
  } else if (context.devices) {
    claim_devices(out.pod_sets.front());
  }
  return out;
}

std::optional<Workload> surplus_of(const PodGroup& group, const GroupContext& context) {
  const bool charged = has_minimum(group) && (is_in(group.status.phase) || context.minimum_held);
  const api::ResourceList minimum = charged ? minimum_resources(group) : api::ResourceList();
  api::ResourceList above;
  for (const auto& [resource, amount] : without_pods(context.running)) {
    const auto of_minimum = minimum.find(resource);
    const Quantity more = of_minimum == minimum.end() ? amount : amount - of_minimum->second;
    if (more.sign() > 0) above.emplace(resource, more);
  }
  const std::int64_t pods = pods_in(context.running) - (charged ? minimum_pods(group) : 0);
  if (above.empty() && pods <= 0) return std::nullopt;
  Workload out = part_of(group, Part::kSurplus, kFirstToGo);
  out.pod_sets = pod_sets(above, pods);
  admit(out, above, context);
  return out;
}

Workload numbered_part(const Workload& whole, std::size_t index, const api::ResourceList& resources,
                       std::int64_t pods) {
  Workload out = whole;
  if (index > 0) {
    const std::string number = (index < 10 ? "/0" : "/") + std::to_string(index);  // at most 62 parts
    out.meta.name += number;
    out.meta.uid += number;
  }
  std::string flavor;
  for (const auto& each : whole.status.admission->pod_set_assignments) {
    if (!each.flavors.empty()) flavor = each.flavors.begin()->second;
  }
  out.pod_sets = pod_sets(resources, pods);
  out.status.admission = admission_of(out, resources, flavor);
  return out;
}

bool is_covered(const PodGroup& group, const GroupContext& context, const GatedPod& pod) {
  const auto& status = group.status;
  const bool all_came = context.bound + status.succeeded + status.failed >= minimum_pods(group);
  if (!is_in(status.phase) || !has_minimum(group) || !all_came) return false;
  if (pods_in(context.running) >= minimum_pods(group)) return false;
  const api::ResourceList minimum = minimum_resources(group);
  const auto amount_in = [](const api::ResourceList& list, const std::string& resource) {
    const auto it = list.find(resource);
    return it == list.end() ? Quantity() : it->second;
  };
  const api::ResourceList requests = without_pods(pod.requests);
  return std::ranges::all_of(requests, [&](const auto& each) {
    const Quantity with_it = amount_in(context.running, each.first) + each.second;
    return with_it <= amount_in(minimum, each.first);
  });
}

std::optional<Workload> growth_of(const PodGroup& group, const GroupContext& context, const GatedPod& pod) {
  if (!is_in(group.status.phase) || is_covered(group, context, pod)) return std::nullopt;
  Workload out = part_of(group, Part::kGrowth, kFirstToGo);
  out.meta.uid += "/" + pod.uid;
  out.meta.creation = pod.creation;
  out.pod_sets = pod_sets(without_pods(pod.requests), 1);
  return out;
}

GroupWorkloads workloads_of(const PodGroup& group, const GroupContext& context) {
  return {minimum_of(group, context), surplus_of(group, context)};
}

GroupDuty duty_of(const PodGroup& group, const GroupContext& context, const WorkloadStatus* minimum,
                  const WorkloadStatus* surplus) {
  GroupDuty duty;
  const PodGroupPhase phase = group.status.phase;
  const bool nothing_runs = pods_in(context.running) == 0;
  const auto become = [&](PodGroupPhase wanted) {
    if (phase != wanted) duty.phase = wanted;
  };
  if (phase == PodGroupPhase::kCompleted) return duty;
  if (is_evicted(minimum)) {
    duty.stop_all = !nothing_runs;
    duty.stopped = nothing_runs;
    // No pod may be created while the group must stop.
    become(PodGroupPhase::kPending);
    return duty;
  }
  if (is_evicted(surplus)) duty.stop_surplus = true;
  const bool waits = phase == PodGroupPhase::kNone || phase == PodGroupPhase::kPending;
  if (!waits) return duty;
  const bool admitted = minimum != nullptr && api::is_true(minimum->conditions, api::kueue::kAdmitted);
  become(admitted || !group.min_resources ? PodGroupPhase::kInqueue : PodGroupPhase::kPending);
  return duty;
}

}  // namespace berth::volcano
