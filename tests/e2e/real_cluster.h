// A real API server with Berth installed: its definitions, `berth controller` and `berth cluster`.
#pragma once

#include <memory>
#include <string>

#include "e2e/server.h"

namespace berth::e2e {

// See make_cluster().
std::unique_ptr<Cluster> make_real_cluster(const std::string& nodes);

// A cluster with Berth's definitions, that of LeaderWorkerSets and two pretend nodes, but without a controller of Berth
// and its webhooks. `berth up` has the rules of webhooks in process all the same.
std::unique_ptr<Cluster> make_cluster_without_controller(On on);

}  // namespace berth::e2e
