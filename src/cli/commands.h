// The subcommands of berth. Each function adds a subcommand to the command line and returns it with the function that
// runs it.
#pragma once

#include <functional>
#include <iosfwd>

namespace CLI {
class App;
}

namespace berth::cli {

// Returns the exit code: 0 success, 1 failure (one line on standard error says why and what to do), 2 wrong usage.
using Run = std::function<int()>;

struct Command {
  CLI::App* app = nullptr;
  Run run;
};

Command add_console(CLI::App& root);     // serves a web console of any cluster
Command add_controller(CLI::App& root);  // runs the controller on any API server
Command add_kinds(CLI::App& root);       // lists and checks descriptions of kinds of jobs
Command add_replay(CLI::App& root);      // repeats the decisions of a journal
Command add_version(CLI::App& root, std::ostream& out);
Command add_completion(CLI::App& root);  // prints a script that completes command lines in a shell

}  // namespace berth::cli
