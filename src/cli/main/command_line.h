// Parses a command line and runs the command that it names.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "cli/commands.h"

namespace berth::cli {

// `words`: the command line after the name of the program. Help goes to `out`, errors to `err`. Returns the exit code:
// that of the command, or 2 for wrong usage.
int run_command_line(CLI::App& root, const std::vector<Command>& commands, std::vector<std::string> words,
                     std::ostream& out, std::ostream& err);

// The form of errors of usage: "berth: ...; see 'berth --help'...".
void tell_errors_in_one_line(CLI::App& root);

}  // namespace berth::cli
