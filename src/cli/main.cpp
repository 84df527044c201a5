// berth: batch queueing for Kubernetes.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <vector>

#include "cli/commands.h"

int main(int argc, char** argv) {
  CLI::App app{"Berth: batch queueing for Kubernetes. Jobs wait in queues until quota is free for them.",
               "berth"};
  app.require_subcommand(1);
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return "berth: " + std::string(error.what()) +
           "\nRun 'berth --help', or 'berth COMMAND --help' for one command.\n";
  });
  const std::vector<berth::cli::Command> commands = {berth::cli::add_up(app), berth::cli::add_simulate(app),
                                                     berth::cli::add_version(app),
                                                     berth::cli::add_completion(app)};
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  for (const auto& command : commands) {
    if (command.app->parsed()) return command.run();
  }
  return 2;
}
