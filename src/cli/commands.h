// The subcommands of berth. Each adds itself to the command line and returns what runs it.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace berth::cli {

// The exit code: 0 done, 1 it could not be done (one line on standard error says why and what to do), 2 wrong
// usage.
using Run = std::function<int()>;

struct Command {
  CLI::App* app = nullptr;
  Run run;
};

Command add_cluster(CLI::App& root);     // pretends to be the machines of a cluster
Command add_controller(CLI::App& root);  // runs the controller on any API server
Command add_load(CLI::App& root);      // plays a load and reports how long everybody waited
Command add_simulate(CLI::App& root);  // plays a scenario in virtual time
Command add_version(CLI::App& root);
Command add_up(CLI::App& root);          // runs an API server, the controller and a pretend cluster
Command add_completion(CLI::App& root);  // completes commands in a shell; root must be complete when it runs

}  // namespace berth::cli
