// Parses a command line and runs the command that it names.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "cli/commands.h"

namespace berth::cli {

// `words`: the command line after the name of the program. Help goes to `out`, errors to `err`. Returns the exit code:
// that of the command, or 2 for wrong usage, with one line that names the help of the command.
int run_command_line(CLI::App& root, const std::vector<Command>& commands, std::vector<std::string> words,
                     std::ostream& out, std::ostream& err);

}  // namespace berth::cli
