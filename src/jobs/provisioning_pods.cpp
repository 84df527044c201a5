#include "jobs/provisioning_pods.h"

#include <algorithm>
#include <utility>

#include "api/core/pod_resources.h"

namespace berth::jobs {
namespace {

using api::kueue::PodSet;
using api::kueue::PodSetAssignment;
using api::kueue::PodSetMergePolicy;
using api::kueue::ProvisioningRequestConfig;
using api::kueue::Workload;

const PodSetAssignment* assignment_of(const Workload& workload, std::string_view pod_set) {
  if (!workload.status.admission) return nullptr;
  for (const auto& assignment : workload.status.admission->pod_set_assignments) {
    if (assignment.name == pod_set) return &assignment;
  }
  return nullptr;
}

Json with_requests_for_limits(const Json& pod_spec) { return api::adjust_pod_spec(pod_spec, {}, nullptr); }

Json spec_of(const PodSet& pod_set) {
  const Json* spec = find(*pod_set.template_, "spec");
  return with_requests_for_limits(spec ? *spec : Json(JsonObject()));
}

bool uses_any(const PodSet& pod_set, const std::vector<std::string>& resources) {
  const auto requests = api::pod_requests(spec_of(pod_set));
  return std::ranges::any_of(resources, [&](const std::string& name) { return requests.contains(name); });
}

// --- The comparisons of the merge policies.

// Absent, null and empty are the same.
Json normal(const Json* value) {
  const bool empty = value == nullptr || value->is_null() || (value->is_object() && value->get_object().empty()) ||
                     (value->is_array() && value->get_array().empty());
  return empty ? Json() : *value;
}

bool same_part(const Json& a, const Json& b, std::string_view key) {
  return json_equal(normal(find(a, key)), normal(find(b, key)));
}

bool same_list_of_tolerations(const Json& a, const Json& b) { return same_part(a, b, "tolerations"); }

// In any order: Kueue adds those of several flavors as they come.
bool same_tolerations(const Json& a, const Json& b) {
  const auto sorted = [](const Json& spec) {
    std::vector<std::string> all;
    for (const Json& one : array_at(spec, {"tolerations"})) all.push_back(canonical_json(one));
    std::ranges::sort(all);
    return all;
  };
  return sorted(a) == sorted(b);
}

bool same_amounts(const Json& a, const Json& b, std::string_view kind) {
  const auto amounts = [kind](const Json& holder) {
    const Json* list = find_path(holder, {"resources", kind});
    return list ? api::decode_resource_list(*list) : Result<api::ResourceList>(api::ResourceList());
  };
  const auto left = amounts(a), right = amounts(b);
  return left && right && *left == *right;
}

bool same_containers(const Json& a, const Json& b, std::string_view list) {
  const JsonArray &left = array_at(a, {list}), &right = array_at(b, {list});
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const Json& x, const Json& y) { return same_amounts(x, y, "requests"); });
}

bool same_needs(const Json& a, const Json& b, bool (*tolerations)(const Json&, const Json&)) {
  return same_containers(a, b, "containers") && same_containers(a, b, "initContainers") &&
         same_amounts(a, b, "requests") && same_amounts(a, b, "limits") && same_part(a, b, "nodeSelector") &&
         tolerations(a, b) && same_part(a, b, "affinity") && same_part(a, b, "resourceClaims");
}

bool may_merge(PodSetMergePolicy policy, const Json& a, const Json& b) {
  static const Json kNone = JsonObject();
  const Json *left = find(a, "spec"), *right = find(b, "spec");
  switch (policy) {
    case PodSetMergePolicy::kNone:
      return false;
    case PodSetMergePolicy::kIdenticalPodTemplates:
      return json_equal(a, b);
    case PodSetMergePolicy::kIdenticalSchedulingNeeds:
      return same_needs(left ? *left : kNone, right ? *right : kNone, same_list_of_tolerations);
  }
  return false;
}

Result<Json> template_of(const Workload& workload, const PodSet& pod_set, const FlavorLookup& flavors) {
  Json pod_template = *pod_set.template_;
  if (!pod_template.is_object()) pod_template = JsonObject();
  pod_template.as_object()["spec"] = spec_of(pod_set);
  if (const auto* assignment = assignment_of(workload, pod_set.name)) {
    const auto info = flavor_info(*assignment, flavors);
    if (!info) return tl::unexpected(info.error());
    if (auto merged = merge_into_template(pod_template, *info); !merged)
      return fail("pod set " + pod_set.name + ": " + merged.error().message);
  }
  return pod_template;
}

}  // namespace

bool need_the_same(const Json& a, const Json& b) {
  static const Json kNone = JsonObject();
  const Json *left = find(a, "spec"), *right = find(b, "spec");
  const Json &one = left ? *left : kNone, &other = right ? *right : kNone;
  const auto overhead = [](const Json& spec) {
    const Json* list = find(spec, "overhead");
    return list ? api::decode_resource_list(*list).value_or(api::ResourceList()) : api::ResourceList();
  };
  return same_needs(one, other, same_tolerations) && overhead(one) == overhead(other) &&
         same_part(one, other, "runtimeClassName");
}

std::vector<NeededPodSet> needed_pod_sets(const Workload& workload, const ProvisioningRequestConfig& config) {
  std::vector<NeededPodSet> needed;
  for (const auto& pod_set : workload.pod_sets) {
    const auto* assignment = assignment_of(workload, pod_set.name);
    const std::int32_t count = assignment ? assignment->count : pod_set.count;
    if (count <= 0) continue;
    if (!config.managed_resources.empty() && !uses_any(pod_set, config.managed_resources)) continue;
    needed.push_back({&pod_set, count});
  }
  return needed;
}

Result<std::vector<RequestedPodSet>> requested_pod_sets(const Workload& workload,
                                                        const ProvisioningRequestConfig& config,
                                                        const FlavorLookup& flavors) {
  std::vector<RequestedPodSet> requested;
  for (const auto& needed : needed_pod_sets(workload, config)) {
    auto pod_template = template_of(workload, *needed.pod_set, flavors);
    if (!pod_template) return tl::unexpected(pod_template.error());
    const auto same = std::ranges::find_if(requested, [&](const RequestedPodSet& other) {
      return may_merge(config.merge_policy, other.pod_template, *pod_template);
    });
    if (same != requested.end()) {
      same->count += needed.count;
    } else {
      requested.push_back({needed.pod_set->name, needed.count, std::move(*pod_template)});
    }
  }
  return requested;
}

}  // namespace berth::jobs
