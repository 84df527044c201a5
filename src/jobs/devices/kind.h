// Kinds of device requests: which devices a request takes, without their number. Requests of one kind share one count
// on each node (docs/devices.md, "Places").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/devices/types.h"
#include "api/kueue/types.h"
#include "jobs/devices/inventory.h"

namespace berth::jobs::devices {

struct Kind {
  // api::kueue::kDevice, the class (or the classes of the alternatives), and after a line break what tells kinds of one
  // class apart. Equal names: equal kinds.
  std::string name;
  std::vector<api::DeviceRequest> alternatives;  // the best first; their counts do not matter
};

// `taints`: taints of devices count, so tolerations tell kinds apart. nullopt: the request takes nothing of a node that
// could be missing (devices for administrators), or nobody can say what.
std::optional<Kind> kind_of(const api::ClaimRequest& request, bool taints);
Kind kind_of_class(std::string_view device_class);  // of an extended resource that the class gives out

// What each pod of a pod set needs of one kind.
struct Need {
  std::size_t pod_set = 0;
  std::string extended;  // the extended resource that stands for the devices; empty: a claim requests them
  Kind kind;
  std::int64_t count = 1;  // for a claim; for each of an extended resource: 1
};
// Claims whose templates exist, and extended resources (if `extended`) that a class gives out now.
std::vector<Need> needs_of(const api::kueue::Workload& workload, const Inventory& inventory, bool extended,
                           bool taints);

}  // namespace berth::jobs::devices
