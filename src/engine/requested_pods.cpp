#include "engine/requested_pods.h"

#include <algorithm>

#include "api/core/devices.h"
#include "api/kueue/names.h"
#include "api/kueue/reclaimable_pods.h"
#include "api/kueue/topology_spreading.h"
#include "engine/counted_requests.h"
#include "engine/lifecycle/words.h"
#include "engine/schedule/scheduler.h"

namespace berth::engine {

using api::kueue::WorkloadRef;

namespace {

const Json& pod_spec_of(const api::kueue::PodSet& pod_set) {
  static const Json kEmpty = JsonObject{};
  const Json* spec = pod_set.template_ ? find(*pod_set.template_, "spec") : nullptr;
  return spec != nullptr ? *spec : kEmpty;
}

const Json& overhead_of(const Json& pod_spec, const Registries& r) {
  static const Json kNull;
  const auto it = r.runtime_classes.find(string_at(pod_spec, {"runtimeClassName"}));
  return it == r.runtime_classes.end() || !it->second ? kNull : *it->second;
}

// What one pod counts: its requests, less those that excluded prefixes, transformations and devices replace, plus its
// devices. No prefix excludes devices (KEP-2941).
void count_devices(const api::kueue::DeviceCharge::PodSet& devices, const Json& spec, PodSetRequest& request) {
  if (devices.per_pod.empty() && devices.extended.empty()) return;
  api::ResourceList counted = request.counted.value_or(request.per_pod);
  const Json* overhead = find(spec, "overhead");
  const auto besides = overhead == nullptr ? Result<api::ResourceList>() : api::decode_resource_list(*overhead);
  const auto add = [&](const std::string& name, const Quantity& amount) {
    const auto [it, fresh] = counted.emplace(name, amount);
    if (!fresh) it->second = it->second + amount;
  };
  for (const auto& [name, logical] : devices.extended) {
    const auto asked = request.per_pod.find(name);
    if (asked == request.per_pod.end()) continue;
    Quantity of_containers = asked->second;
    if (const auto kept = besides->find(name); kept != besides->end()) of_containers = of_containers - kept->second;
    if (const auto plain = counted.find(name); plain != counted.end()) {
      plain->second = std::max(plain->second - of_containers, Quantity());
      if (plain->second == Quantity()) counted.erase(plain);
    }
    add(logical, of_containers);
  }
  for (const auto& [logical, amount] : devices.per_pod) add(logical, amount);
  request.counted = std::move(counted);
}

// What nodes must have of devices for one pod. Call it when `counted` has what the pods count.
void ask_nodes_for_devices(const api::kueue::DeviceCharge::PodSet& devices, PodSetRequest& request) {
  if (devices.on_node.empty() && devices.extended_on_node.empty()) return;
  if (!request.counted) request.counted = request.per_pod;
  for (const auto& [name, amount] : devices.on_node) {
    Quantity& sum = request.per_pod[name];
    sum = sum + amount;
  }
  for (const auto& [name, each] : devices.extended_on_node) {
    const auto asked = request.per_pod.find(name);
    if (asked == request.per_pod.end()) continue;
    const std::int64_t devices_asked = asked->second.value();
    request.per_pod.erase(asked);
    for (const auto& [part, amount] : each) {
      Quantity& sum = request.per_pod[part];
      sum = sum + amount * devices_asked;
    }
  }
}

bool have_claims(const WorkloadRef& w) {
  return std::ranges::any_of(w.pod_sets, [](const auto& pod_set) { return api::uses_devices(pod_spec_of(pod_set)); });
}

void append(api::FieldErrors& errors, const api::FieldErrors& more) {
  errors.insert(errors.end(), more.begin(), more.end());
}

// By default the workloads of the same job count. A malformed annotation spreads nothing: it is refused when the object
// is made.
std::optional<api::kueue::TopologySpreading> spreading_of(const WorkloadRef& w, const api::kueue::PodSet& pod_set) {
  if (!pod_set.template_) return std::nullopt;
  const auto text = string_at(*pod_set.template_, {"metadata", "annotations", api::kueue::kTopologySpreading});
  if (text.empty()) return std::nullopt;
  auto spreading = api::kueue::parse_topology_spreading(text);
  if (!spreading) return std::nullopt;
  spreading->ns = w.meta.ns;
  if (spreading->values.empty()) {
    if (const auto own = w.meta.labels.find(spreading->label); own != w.meta.labels.end())
      spreading->values.push_back(own->second);
  }
  return std::move(*spreading);
}

}  // namespace

RequestedPods requested_pods(const WorkloadRef& w, const Registries& registries,
                             const api::config::QuotaResources& resources, const TopologyOptions& topology,
                             const api::kueue::DeviceCharge* devices) {
  const auto limits = registries.limits_of(w.meta.ns);
  RequestedPods out;
  api::FieldErrors above_limits, out_of_range;
  for (std::size_t i = 0; i < w.pod_sets.size(); ++i) {
    const auto& pod_set = w.pod_sets[i];
    const Json& spec = pod_spec_of(pod_set);
    const Json adjusted = api::adjust_pod_spec(spec, limits, overhead_of(spec, registries));
    PodSetRequest request;
    request.name = pod_set.name;
    request.count = pod_set.count;
    request.min_count = pod_set.min_count;
    request.topology = pod_set.topology_request;
    if (pod_set.topology_request) request.group = pod_set.topology_request->pod_set_group_name;
    request.per_pod = api::pod_requests(adjusted);
    if (changes_requests(resources)) request.counted = counted_requests(request.per_pod, resources);
    if (devices != nullptr && i < devices->pod_sets.size()) {
      count_devices(devices->pod_sets[i], adjusted, request);
      ask_nodes_for_devices(devices->pod_sets[i], request);
    }
    request.constraints = api::decode_node_constraints(adjusted);
    if (topology.host_ports) {
      if (auto ports = api::host_ports(adjusted); !ports.empty()) {
        if (!request.counted) request.counted = request.per_pod;  // quota counts no ports
        request.per_pod.merge(ports);
      }
    }
    if (topology.preferred_affinity) request.constraints.preferred_terms = api::decode_preferred_terms(adjusted);
    if (topology.spreading) request.spreading = spreading_of(w, pod_set);
    const std::string path = "spec.podSets[" + std::to_string(i) + "].template.spec";
    append(above_limits, api::requests_above_limits(adjusted, path));
    append(out_of_range, api::outside_limit_ranges(adjusted, limits, path));
    out.pod_sets.push_back(std::move(request));
  }
  out.devices = has_uncounted_devices(w, devices);
  if (w.pod_sets.empty()) out.invalid = "spec.podSets is empty: the workload asks for nothing";
  if (!above_limits.empty()) out.invalid = "resources validation failed: " + api::to_string(above_limits);
  if (!out_of_range.empty()) {
    if (!out.invalid.empty()) out.invalid += "; ";
    out.invalid += "resources didn't satisfy LimitRange constraints: " + api::to_string(out_of_range);
  }
  return out;
}

bool has_uncounted_devices(const WorkloadRef& w, const api::kueue::DeviceCharge* devices) {
  if (devices == nullptr) return have_claims(w);
  return !devices->refused.empty() || devices->pod_sets.size() != w.pod_sets.size();
}

std::vector<PodSetRequest> without_reclaimed(const std::vector<PodSetRequest>& pod_sets,
                                             const std::vector<api::kueue::ReclaimablePod>& reclaimable) {
  auto out = pod_sets;
  for (auto& request : out) {
    const auto it = std::ranges::find(reclaimable, request.name, &api::kueue::ReclaimablePod::name);
    if (it == reclaimable.end()) continue;
    request.count = std::max(0, request.count - it->count);
    if (request.min_count) request.min_count = std::min(*request.min_count, request.count);
  }
  return out;
}

std::vector<api::kueue::ReclaimablePod> ended_since(const api::kueue::Admission& admission,
                                                    const api::kueue::WorkloadRef& workload, bool reclaims) {
  std::vector<api::kueue::ReclaimablePod> out;
  for (const auto& given : admission.pod_set_assignments) {
    const auto pod_set = std::ranges::find(workload.pod_sets, given.name, &api::kueue::PodSet::name);
    if (pod_set == workload.pod_sets.end()) continue;
    const std::int32_t done = reclaims ? api::kueue::reclaimable_of(workload.status.reclaimable_pods, given.name) : 0;
    const std::int32_t left = std::clamp(pod_set->count - done, 0, given.count);
    if (left < given.count) out.push_back({given.name, given.count - left});
  }
  return out;
}

std::vector<Holding::Amount> amounts_held(const api::kueue::Admission& admission,
                                          const api::kueue::WorkloadRef& workload, const Options& options) {
  return holding_amounts(admission, ended_since(admission, workload, options.reclaimable_pods));
}

std::optional<Barrier> barrier_of(const RequestedPods& requests, std::string_view ns,
                                  const api::kueue::ClusterQueue* queue, const Registries& registries) {
  static const JsonObject kNoLabels;
  if (requests.devices)
    return Barrier{std::string(lifecycle::reason::kMisconfigured), std::string(api::kUncountedDevices), false};
  if (queue != nullptr) {
    const auto it = registries.namespaces.find(ns);
    const JsonObject& labels = it == registries.namespaces.end() ? kNoLabels : it->second;
    if (!queue->namespace_selector || !queue->namespace_selector->matches(labels)) {
      return Barrier{std::string(lifecycle::reason::kMisconfigured),
                     "workload namespace doesn't match ClusterQueue selector", false};
    }
  }
  if (!requests.invalid.empty()) return Barrier{std::string(lifecycle::reason::kMisconfigured), requests.invalid, true};
  return std::nullopt;
}

Time queue_order_time(const WorkloadRef& w, const api::config::WaitForPodsReady& wait) {
  const auto* evicted = api::find_condition(w.status.conditions, api::kueue::kEvicted);
  const bool starts_over =
      evicted != nullptr && evicted->status &&
      (evicted->reason == lifecycle::reason::kAdmissionCheck || evicted->reason == lifecycle::reason::kPlacesTimeout ||
       (evicted->reason == lifecycle::reason::kPodsReadyTimeout &&
        wait.timestamp == api::config::WaitForPodsReady::Timestamp::kEviction));
  return starts_over ? evicted->last_transition : w.meta.creation;
}

}  // namespace berth::engine
