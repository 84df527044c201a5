// The command line of berth controller.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "base/log.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/run_controller.h"

namespace berth::cli {
namespace {

struct ControllerFlags {
  RunControllerOptions controller;
  std::string log_level = "info";
  std::string log_format = "text";
};

int run_command(const ControllerFlags& flags) {
  const auto level = log::parse_level(flags.log_level);
  if (!level) return failure("--log-level: " + level.error().message);
  log::configure(*level, flags.log_format == "json" ? log::Format::kJson : log::Format::kText);
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
                  "else the pod's, else kueue-system)");
  app->add_option("--config", flags->controller.config, "A file with Kueue's Configuration, v1beta2 or v1beta1");
  app->add_option("--job-kinds", flags->controller.job_kinds,
                  "A directory with descriptions of further kinds of jobs (*.yaml); see berth kinds");
  app->add_option("--feature-gates", flags->controller.feature_gates,
                  "Kueue's feature gates, such as TASBalancedPlacement=true,PartialAdmission=false");
  app->add_option(
      "--journal", flags->controller.journal.directory,
      "A directory where events and decisions are recorded, for berth replay (default: nothing is recorded)");
  add_journal_flags(*app, flags->controller.journal);
  app->add_option("--log-level", flags->log_level, "debug, info, warn or error")->capture_default_str();
  app->add_option("--log-format", flags->log_format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  app->footer("Several may run at once: one leads, the others follow and take over when it is gone.");
  return {app, [flags] { return run_command(*flags); }};
}

}  // namespace berth::cli
