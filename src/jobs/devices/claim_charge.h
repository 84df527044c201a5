// What one claim that is made from a template counts against quota (KEP-2941).
#pragma once

#include <string>

#include "api/config/device_mappings.h"
#include "api/core/pod_resources.h"
#include "base/result.h"
#include "jobs/devices/inventory.h"
#include "jobs/devices/selector.h"

namespace berth::jobs::devices {

// The settings: gates and resources.deviceClassMappings.
struct Rules {
  bool enabled = true;             // KueueDRAIntegration
  bool extended_resources = true;  // KueueDRAIntegrationExtendedResource
  bool counters = true;            // KueueDRAIntegrationPartitionableDevices
  bool capacities = false;         // KueueDRAIntegrationConsumableCapacity
  bool prioritized_lists = false;  // KueueDRAIntegrationPrioritizedList
  bool places = false;             // KueueDRADeviceFeasibility: places in a topology look at devices
  bool taints = false;             // KueueDRAIntegrationDeviceTaints: and at their taints
  api::config::DeviceClassMappings mappings;

  // The first mapping of the class; null: it has none.
  const api::config::DeviceClassMapping* mapping_of(std::string_view device_class) const;
};

// Why a claim cannot be counted: a field below the claim of the pod, and a sentence in the words of Kubernetes.
struct Refusal {
  std::string path;  // ".devices.requests[0].exactly.selectors"; may be empty
  std::string kind;  // "Internal error", `Invalid value: "All"`, "Not found"
  std::string text;  // `POD_SET` stands for the name of the pod set
};
struct ClaimCharge {
  api::ResourceList amounts;  // by logical resource
  std::optional<Refusal> refused;
};

// The number of devices of each request, or what they take of counters or capacity, on the logical resource of their
// class. Devices for administrators are free. Selectors are compared with the devices that the cluster has, whether
// they are in use or not: a request that asks for more than there are is refused. Sums saturate.
ClaimCharge charge_of(const api::ResourceClaimTemplate& claim_template, const Rules& rules, const Inventory& inventory,
                      Selectors& selectors);
// A template that does not exist.
Refusal missing_template(std::string_view name);

}  // namespace berth::jobs::devices
