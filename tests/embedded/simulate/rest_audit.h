// What must hold in a cluster at rest, whatever happened before. Each function returns the violations as sentences.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "embedded/simulate/world.h"

namespace berth::simulation {

// Each active, unfinished workload has a QuotaReserved condition. StrictFIFO queues are exempt: there, a workload
// behind another one is not evaluated.
std::vector<std::string> without_reason(simulate::World& world);
// No ProvisioningRequest asks for nodes for a workload that holds no quota.
std::vector<std::string> orphaned_requests(simulate::World& world);
// The server refuses invalid objects that Berth's webhooks refuse. Tried with dry-run creations.
std::vector<std::string> set_admission(simulate::World& world);
// The node selector of each job that is not suspended contains the present node labels of its flavors.
std::vector<std::string> without_flavor_labels(simulate::World& world);

}  // namespace berth::simulation
