// The subcommands of berth list.
#pragma once

#include "cli/commands.h"
#include "cli/queues/session.h"

namespace berth::cli::queues {

Command add_list_cluster_queues(CLI::App& group, const Session& session);
Command add_list_local_queues(CLI::App& group, const Session& session);
Command add_list_flavors(CLI::App& group, const Session& session);
Command add_list_workloads(CLI::App& group, const Session& session);
Command add_list_pods(CLI::App& group, const Session& session);

}  // namespace berth::cli::queues
