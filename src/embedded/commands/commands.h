// The subcommands of berth that play a cluster, or a part of one: the only ones with files of src/embedded.
#pragma once

#include "cli/commands.h"

namespace berth::cli {

Command add_cluster(CLI::App& root);   // runs the pretend nodes and controllers of a cluster
Command add_load(CLI::App& root);      // plays a load and reports how long workloads waited
Command add_simulate(CLI::App& root);  // plays a scenario in virtual time
Command add_up(CLI::App& root);        // runs an API server, the controller and a pretend cluster

}  // namespace berth::cli
