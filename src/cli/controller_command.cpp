// The command line of berth controller.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "api/field_error.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/run_controller.h"
#include "cli/shared_flags.h"

namespace berth::cli {
namespace {

struct ControllerFlags {
  RunControllerOptions controller;
  LogFlags log{"info"};
};

int run_command(const ControllerFlags& flags) {
  if (const auto configured = configure_log(flags.log); !configured) return misuse(configured.error().message);
  const auto done = run_controller(flags.controller);
  return done ? 0 : failure(done.error().message);
}

}  // namespace

Command add_controller(CLI::App& root) {
  auto* app = root.add_subcommand("controller", "Run Berth's controller on a cluster, in it or from outside");
  auto flags = std::make_shared<ControllerFlags>();
  add_access_flags(*app, flags->controller.access);
  app->add_option("--namespace", flags->controller.ns,
                  "Where the controller's own objects are, such as the leader's lease (default: the "
                  "Configuration's namespace,\n"
                  "else the pod's, else kueue-system)")
      ->check([](const std::string& name) { return api::check_dns_label(name); });
  add_config_flag(*app, flags->controller.config);
  add_job_kinds_flag(*app, flags->controller.job_kinds);
  add_feature_gates_flag(*app, flags->controller.feature_gates);
  app->add_flag("--webhooks", flags->controller.webhooks,
                "--webhooks=false: serve no webhooks; then they need no certificate. Delete their configurations\n"
                "(mutatingwebhookconfigurations, validatingwebhookconfigurations), or the API server waits for them");
  auto* journal = app->add_option(
      "--journal", flags->controller.journal.directory,
      "A directory where events and decisions are recorded, for berth replay (default: nothing is recorded)");
  add_journal_flags(*app, flags->controller.journal, journal);
  add_log_flags(*app, flags->log);
  app->footer("Several may run at once: one leads, the others follow and take over when it is gone.");
  return {app, [flags] { return run_command(*flags); }};
}

}  // namespace berth::cli
