// berth: batch queueing for Kubernetes.
#include <sys/resource.h>
#include <CLI/CLI.hpp>

#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/migrate/commands.h"
#include "cli/queues/commands.h"
#include "cli/queues/complete.h"
#include "embedded/commands/commands.h"

namespace {

// Each connection needs a file descriptor. The soft limit of many systems (1,024) is below what the server supports.
void allow_many_files() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == files.rlim_max) return;
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

// Under the name kubectl-berth it is a plugin of kubectl, under kubectl_complete-berth the completion of this plugin.
int main(int argc, char** argv) {
  const std::string_view name = base_name(argc > 0 ? argv[0] : "berth");
  CLI::App app{"Berth: batch queueing for Kubernetes. Jobs wait in queues until quota is free for them.",
               name == "kubectl-berth" ? "kubectl berth" : "berth"};
  app.require_subcommand(1);
  app.footer("berth help COMMAND prints the help of a command, berth --version the version.");
  const auto session = berth::cli::queues::Session::of_this_process();
  std::vector<berth::cli::Command> commands = berth::cli::queues::add_commands(app, session);
  for (const auto add :
       {berth::cli::add_up, berth::cli::add_controller, berth::cli::add_console, berth::cli::add_cluster,
        berth::cli::add_simulate, berth::cli::add_replay, berth::cli::add_kinds, berth::cli::queues::add_config,
        berth::cli::add_load, berth::cli::add_completion})
    commands.push_back(add(app));
  commands.push_back(berth::cli::migrate::add_import(app, session));
  commands.push_back(berth::cli::migrate::add_migrate(app, session));
  commands.push_back(berth::cli::add_version(app, std::cout));
  commands.push_back(berth::cli::queues::add_complete(app, session));
  std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  if (name == "kubectl_complete-berth") words.insert(words.begin(), "__complete");
  allow_many_files();
  return berth::cli::run_command_line(app, commands, std::move(words), std::cout, std::cerr);
}
