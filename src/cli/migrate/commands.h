// The commands that bring a cluster to Berth: berth import and berth migrate.
#pragma once

#include "cli/commands.h"
#include "cli/queues/session.h"

namespace berth::cli::migrate {

Command add_import(CLI::App& root, const queues::Session& session);
Command add_migrate(CLI::App& root, const queues::Session& session);

}  // namespace berth::cli::migrate
