// The commands on queues, workloads and Configurations: berth create, list, stop, resume, delete, explain, what-if,
// config, and those of kubectl.
#pragma once

#include <vector>

#include "cli/commands.h"
#include "cli/queues/session.h"

namespace berth::cli::queues {

Command add_create(CLI::App& root, const Session& session);
Command add_list(CLI::App& root, const Session& session);
Command add_stop(CLI::App& root, const Session& session);
Command add_resume(CLI::App& root, const Session& session);
Command add_delete(CLI::App& root, const Session& session);
Command add_explain(CLI::App& root, const Session& session);
Command add_predict(CLI::App& root, const Session& session);
Command add_submit(CLI::App& root, const Session& session);
Command add_watch(CLI::App& root, const Session& session);
Command add_what_if(CLI::App& root, const Session& session);
Command add_usage(CLI::App& root, const Session& session);
// Checks Configurations, those of a cluster too.
Command add_config(CLI::App& root);
// get, describe, edit and patch: kubectl does them.
std::vector<Command> add_kubectl_commands(CLI::App& root, const Session& session);

// All that need a session.
std::vector<Command> add_commands(CLI::App& root, const Session& session);

}  // namespace berth::cli::queues
