// Input and output helpers that subcommands share.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace berth::cli {

// -o, --output: "text" or "json".
void add_output_option(CLI::App& app, std::string& format);

// "berth: <message>" on standard error; returns 1, the exit code.
int failure(const std::string& message);

// The same for wrong usage: the value of a flag cannot be meant. Returns 2.
int misuse(const std::string& message);

// True when standard output is a terminal and NO_COLOR is not set.
bool wants_colour();

}  // namespace berth::cli
