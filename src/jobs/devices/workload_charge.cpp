#include "jobs/devices/workload_charge.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "api/core/devices.h"
#include "api/field_error.h"
#include "api/meta.h"

namespace berth::jobs::devices {

using api::kueue::DeviceCharge;
using api::kueue::PodSet;
using api::kueue::Workload;

namespace {

constexpr std::size_t kMostTemplates = 4096;  // that are remembered
constexpr std::array<std::string_view, 2> kContainerLists{"initContainers", "containers"};
constexpr std::array<std::string_view, 2> kAmountLists{"requests", "limits"};

const Json& spec_of(const PodSet& pod_set) {
  static const Json none = JsonObject{};
  const Json* spec = pod_set.template_ ? find(*pod_set.template_, "spec") : nullptr;
  return spec == nullptr ? none : *spec;
}

bool may_be_extended(std::string_view resource) {
  return resource.find('/') != std::string_view::npos && !resource.starts_with("kubernetes.io/") &&
         !resource.starts_with("hugepages-");
}

// Where a container stands in a pod's spec.
struct ContainerPlace {
  std::string_view list;
  std::size_t index = 0;
};

// Calls visit(place of the container, resource, amount) for each amount that a container requests. A limit counts where
// there is no request, as on every API server.
template <typename Visit>
void for_each_request(const Json& spec, const Visit& visit) {
  for (const auto list : kContainerLists) {
    ContainerPlace at{list};
    for (const Json& container : array_at(spec, {list})) {
      const JsonObject& requests = object_at(container, {"resources", "requests"});
      for (const auto amounts : kAmountLists) {
        for (const auto& amount : object_at(container, {"resources", amounts})) {
          if (amounts == "limits" && requests.contains(amount.key())) continue;
          visit(at, std::string_view(amount.key()), amount.value());
        }
      }
      ++at.index;
    }
  }
}

std::string pod_set_path(std::size_t i) { return api::index_path("spec.podSets", i) + ".template.spec"; }

std::string in_words(const Refusal& refusal, const std::string& path, const std::string& pod_set) {
  std::string text = refusal.text;
  constexpr std::string_view kPodSet = "POD_SET";
  if (const auto at = text.find(kPodSet); at != std::string::npos) text.replace(at, kPodSet.size(), pod_set);
  return path + refusal.path + ": " + refusal.kind + ": " + text;
}

}  // namespace

Uses uses_of(const Workload& workload) {
  Uses out;
  for (const auto& pod_set : workload.pod_sets) {
    const Json& spec = spec_of(pod_set);
    out.claims = out.claims || api::uses_devices(spec);
    for (const Json& claim : array_at(spec, {"resourceClaims"})) {
      const std::string_view name = string_at(claim, {"resourceClaimTemplateName"});
      if (!name.empty()) out.templates.insert(api::object_key(workload.meta.ns, name));
    }
    for_each_request(spec, [&](ContainerPlace, std::string_view resource, const Json&) {
      if (may_be_extended(resource)) out.extended_resources.emplace(resource);
    });
  }
  return out;
}

Result<void> Charges::check(const Rules& rules) {
  using Kind = api::config::DeviceSource::Kind;
  Selectors selectors;
  for (std::size_t i = 0; i < rules.mappings.size(); ++i) {
    const auto& mapping = rules.mappings[i];
    for (std::size_t k = 0; k < mapping.sources.size(); ++k) {
      const auto& source = mapping.sources[k];
      const bool counter = source.kind == Kind::kCounter;
      const std::string at = api::index_path(api::index_path("resources.deviceClassMappings", i) + ".sources", k) +
                             (counter ? ".counter" : ".capacity");
      if (!(counter ? rules.counters : rules.capacities))
        return fail(at + ": " + (counter ? "counter" : "capacity") + " sources require " +
                    (counter ? "KueueDRAIntegrationPartitionableDevices" : "KueueDRAIntegrationConsumableCapacity") +
                    " to be enabled; turn the feature gate on, or remove the source");
      if (const auto program = selectors.compile(source.selector); !program)
        return fail(at + ".deviceSelector.cel.expression: CEL compilation failed: " + program.error().message);
    }
  }
  return {};
}

void Charges::template_changed(std::string_view key) {
  if (const auto it = known_.find(key); it != known_.end()) known_.erase(it);
}

const ClaimCharge& Charges::claim_charge(std::string_view ns, const std::string& name) {
  if (known_.size() >= kMostTemplates) known_.clear();
  const auto [it, fresh] = known_.try_emplace(api::object_key(ns, name));
  if (!fresh) return it->second;
  const auto claim_template = inventory_.claim_template(ns, name);
  if (claim_template) {
    it->second = charge_of(*claim_template, rules_, inventory_, selectors_);
  } else {
    it->second.refused = missing_template(name);
  }
  return it->second;
}

// Returns why they cannot be counted; empty: they are. Each claim of a pod counts once, whichever containers use it.
std::string Charges::charge_claims(const Workload& workload, DeviceCharge& out) {
  for (std::size_t i = 0; i < workload.pod_sets.size(); ++i) {
    const PodSet& pod_set = workload.pod_sets[i];
    std::size_t k = 0;
    for (const Json& claim : array_at(spec_of(pod_set), {"resourceClaims"})) {
      const std::string path = api::index_path(pod_set_path(i) + ".resourceClaims", k++);
      const std::string name(string_at(claim, {"resourceClaimTemplateName"}));
      const ClaimCharge& charge = claim_charge(workload.meta.ns, name);
      if (charge.refused) return in_words(*charge.refused, path, pod_set.name);
      for (const auto& [logical, amount] : charge.amounts) {
        auto& sum = out.pod_sets[i].per_pod[logical];
        sum = sum + amount;
      }
    }
  }
  return {};
}

std::string Charges::charge_extended(const Workload& workload, DeviceCharge& out) {
  std::string refused;
  for (std::size_t i = 0; i < workload.pod_sets.size() && refused.empty(); ++i) {
    for_each_request(spec_of(workload.pod_sets[i]), [&](ContainerPlace container, std::string_view resource,
                                                        const Json& value) {
      if (!refused.empty() || !may_be_extended(resource)) return;
      const auto amount = api::decode_quantity(value);
      const auto device_class = inventory_.class_of_resource(resource);
      if (!device_class || !amount || amount->sign() <= 0) return;
      const std::string path = api::index_path(pod_set_path(i) + "." + std::string(container.list), container.index);
      const auto* mapping = rules_.mapping_of(device_class->meta.name);
      using Kind = api::config::DeviceSource::Kind;
      if (mapping != nullptr && !mapping->sources.empty())
        refused = path + ": Invalid value: \"" + std::string(resource) + "\": extended resource " +
                  std::string(resource) + " resolves to DeviceClass " + device_class->meta.name + " with " +
                  (mapping->has(Kind::kCounter)
                       ? "counters configured; use ResourceClaimTemplates with CEL selectors for counter-based quota"
                       : "capacity sources configured; use ResourceClaimTemplates with capacity.requests for "
                         "capacity-based quota");
      else if (*amount != Quantity::of(amount->value()))
        refused = api::key_path(path + ".resources.requests", resource) + ": Invalid value: \"" + amount->to_string() +
                  "\": extended resource quantity must be an integer";
      else
        out.pod_sets[i].extended.emplace(resource, mapping == nullptr ? std::string(resource) : mapping->name);
    });
  }
  return refused;
}

std::shared_ptr<const DeviceCharge> Charges::charge(const Workload& workload, const Uses& uses,
                                                    const std::string& unavailable) {
  if (!rules_.enabled || !uses.any()) return nullptr;  // without a charge, the engine holds what has claims
  auto out = std::make_shared<DeviceCharge>();
  out->pod_sets.resize(workload.pod_sets.size());
  const bool direct = std::ranges::any_of(workload.pod_sets, [](const auto& pod_set) {
    return std::ranges::any_of(array_at(spec_of(pod_set), {"resourceClaims"}), [](const Json& claim) {
      return string_at(claim, {"resourceClaimTemplateName"}).empty();
    });
  });
  if (direct) {
    out->refused = "KueueDRAIntegration feature does not support use of resource claims";
    out->not_requeued = "DRA resource claims not supported";
  } else if (uses.claims && !unavailable.empty()) {
    out->refused = out->not_requeued = unavailable;
  } else {
    out->refused = charge_claims(workload, *out);
    if (out->refused.empty() && rules_.extended_resources) out->refused = charge_extended(workload, *out);
    out->not_requeued = out->refused;
  }
  if (!out->refused.empty()) out->pod_sets.clear();
  const bool counts = std::ranges::any_of(
      out->pod_sets, [](const auto& pod_set) { return !pod_set.per_pod.empty() || !pod_set.extended.empty(); });
  return uses.claims || counts || !out->refused.empty() ? out : nullptr;
}

}  // namespace berth::jobs::devices
