// What must hold of a cluster at rest, whatever happened to it before. Each function returns what does not
// hold, as sentences.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "simulate/world.h"

namespace berth::simulation {

// Who waits knows why. Behind another one in a strict queue nobody is looked at.
std::vector<std::string> without_reason(simulate::World& world);
// No ProvisioningRequest asks for nodes for a workload that holds no quota.
std::vector<std::string> orphaned_requests(simulate::World& world);
// What no webhook lets pass is refused.
std::vector<std::string> open_doors(simulate::World& world);
// A job that was started has the labels of its flavors, as they are now, in its node selector.
std::vector<std::string> without_flavor_labels(simulate::World& world);

}  // namespace berth::simulation
