// berth-lab: what attacks clusters, for tests. It is no part of what is installed.
#include <CLI/CLI.hpp>

#include <iostream>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "embedded/lab/command/monkeys_command.h"

int main(int argc, char** argv) {
  CLI::App app{"Berth's laboratory: what attacks clusters, for tests of controllers.", "berth-lab"};
  app.require_subcommand(1);
  const std::vector<berth::cli::Command> commands{berth::lab::add_monkeys(app)};
  return berth::cli::run_command_line(app, commands, std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc),
                                      std::cout, std::cerr);
}
