// berth get, describe, edit and patch: kubectl does them, with the kind in the form that is certainly Kueue's.
#include <CLI/CLI.hpp>

#include <algorithm>

#include "cli/queues/commands.h"
#include "cli/queues/flags.h"

namespace berth::cli::queues {
namespace {

Command add_kubectl_command(CLI::App& root, const Session& session, const std::string& verb, const std::string& about) {
  CLI::App* app = root.add_subcommand(verb, about + " with kubectl");
  std::vector<Command> kinds;
  for (const Kind* kind : {&kWorkload, &kClusterQueue, &kLocalQueue, &kResourceFlavor}) {
    CLI::App* sub = add_kind_command(*app, *kind, "kubectl " + verb + " " + std::string(kind->plural));
    sub->prefix_command();
    sub->set_help_flag();
    kinds.push_back({sub, [session, verb, kind, sub] {
                       std::vector<std::string> command = {"kubectl", verb,
                                                           std::string(kind->plural) + "." + kind->resource().group};
                       for (const std::string& word : sub->remaining()) command.push_back(word);
                       return session.become(command);
                     }});
  }
  app->footer("All that follows the kind goes to kubectl, which must be on the PATH: 'berth " + verb +
              " workload --help' shows its options.");
  return group_of(app, std::move(kinds));
}

}  // namespace

std::vector<Command> add_kubectl_commands(CLI::App& root, const Session& session) {
  return {add_kubectl_command(root, session, "get", "Show workloads, queues or flavors"),
          add_kubectl_command(root, session, "describe", "Describe workloads, queues or flavors"),
          add_kubectl_command(root, session, "edit", "Edit a workload, queue or flavor"),
          add_kubectl_command(root, session, "patch", "Patch a workload, queue or flavor")};
}

std::vector<Command> add_commands(CLI::App& root, const Session& session) {
  std::vector<Command> commands = {add_create(root, session),  add_list(root, session),   add_stop(root, session),
                                   add_resume(root, session),  add_delete(root, session), add_explain(root, session),
                                   add_predict(root, session), add_watch(root, session),  add_submit(root, session),
                                   add_what_if(root, session), add_usage(root, session)};
  for (Command& command : add_kubectl_commands(root, session)) commands.push_back(std::move(command));
  return commands;
}

}  // namespace berth::cli::queues
