// What berth up says about nodes and devices of an earlier run in its data directory: they stay as they were made, so
// options about them change nothing there.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/rest.h"
#include "base/json.h"
#include "embedded/commands/cluster_flags.h"

namespace berth::cli {

struct EarlierNodes {
  std::vector<Json> nodes, slices;  // Nodes and ResourceSlices that are stored
};

// One line for each option of the command line that has no effect on some of them, with what to do about it. Options
// that were not given say nothing. `flags` are right (see check_cluster_flags()).
std::vector<std::string> without_effect(const ClusterFlags& flags, const EarlierNodes& earlier);

// The same for what `client` has now; none when it cannot be listed. `client` must live until `done` is called.
void report_without_effect(api::RestClient& client, const ClusterFlags& flags,
                           std::function<void(std::vector<std::string>)> done);

}  // namespace berth::cli
