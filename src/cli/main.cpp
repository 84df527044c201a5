// berth: batch queueing for Kubernetes.
#include <sys/resource.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string_view>
#include <vector>

#include "cli/commands.h"

namespace {

// Each connection needs a file descriptor. The soft limit of many systems (1,024) is below what the server supports.
void allow_many_files() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == files.rlim_max) return;
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Berth: batch queueing for Kubernetes. Jobs wait in queues until quota is free for them.", "berth"};
  app.require_subcommand(1);
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return "berth: " + std::string(error.what()) + "; see 'berth --help', or 'berth COMMAND --help' for one command\n";
  });
  const std::vector<berth::cli::Command> commands = {berth::cli::add_up(app),      berth::cli::add_controller(app),
                                                     berth::cli::add_cluster(app), berth::cli::add_simulate(app),
                                                     berth::cli::add_kinds(app),   berth::cli::add_load(app),
                                                     berth::cli::add_version(app), berth::cli::add_completion(app)};
  const auto names_a_command = [&commands](std::string_view word) {
    return std::any_of(commands.begin(), commands.end(),
                       [word](const auto& command) { return command.app->get_name() == word; });
  };
  // CLI11 would only report that a command is missing.
  if (argc > 1 && argv[1][0] != '-' && !names_a_command(argv[1])) {
    std::string known;
    for (const auto& command : commands) known.append(known.empty() ? "" : ", ").append(command.app->get_name());
    std::fprintf(stderr, "berth: unknown command '%s'; one of: %s\n", argv[1], known.c_str());
    return 2;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  allow_many_files();
  for (const auto& command : commands) {
    if (command.app->parsed()) return command.run();
  }
  return 2;
}
