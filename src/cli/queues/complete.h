// What may come next on a command line: commands, flags, values of flags, and names of objects of the cluster.
#pragma once

#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/queues/session.h"

namespace berth::cli::queues {

// `words`: the command line after the name of the program, up to the cursor; the last one is being typed and may be
// empty. Empty when nothing is known, then files may be meant. A cluster that does not answer soon is left out.
std::vector<std::string> complete(const CLI::App& root, const std::vector<std::string>& words, const Connect& connect);

// berth __complete WORD...: prints them, one a line. `root` must be complete when it runs.
Command add_complete(CLI::App& root, const Session& session);

}  // namespace berth::cli::queues
