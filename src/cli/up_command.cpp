// The command line of berth up.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "base/log.h"
#include "cli/commands.h"
#include "cli/data_dir.h"
#include "cli/output.h"
#include "cli/up.h"

namespace berth::cli {
namespace {

struct Flags {
  UpOptions up;
  bool ephemeral = false;
  std::string log_level = "warn";
};

int run(Flags flags) {
  const auto level = log::parse_level(flags.log_level);
  if (!level) return failure("--log-level: " + level.error().message);
  log::configure(*level, log::Format::kText);
  const std::string dir = flags.up.data_dir.empty() ? default_data_dir() : flags.up.data_dir;
  flags.up.data_dir = flags.ephemeral ? "" : dir;
  if (flags.up.kubeconfig.empty()) flags.up.kubeconfig = dir + "/kubeconfig";
  const auto done = run_up(flags.up);
  return done ? 0 : failure(done.error().message);
}

}  // namespace

Command add_up(CLI::App& root) {
  auto* app =
      root.add_subcommand("up", "Run an API server, Berth's controller and a pretend cluster in one process");
  auto flags = std::make_shared<Flags>();
  app->add_option("--data-dir", flags->up.data_dir,
                  "Where state, keys and the kubeconfig are kept (default: " + default_data_dir() + ")");
  app->add_option("--listen", flags->up.listen, "Address and port of the API server; port 0 takes a free one")
      ->capture_default_str();
  app->add_option("--kubeconfig", flags->up.kubeconfig,
                  "Where to write the admin's kubeconfig (default: in the data directory)");
  app->add_option("--token-file", flags->up.token_file,
                  "Bearer tokens to accept: lines of token,user,uid[,\"group,group\"]");
  app->add_option(
         "--nodes", flags->up.nodes,
         "Pretend nodes to make: BLOCKSxRACKSxNODES, such as 2x4x8, a file of Node manifests, or none")
      ->capture_default_str();
  app->add_option("--node-resources", flags->up.node_resources,
                  "What each of them has, such as cpu=96,memory=256Gi,nvidia.com/gpu=8");
  app->add_option("--scale-up", flags->up.scale_up,
                  "What the autoscaler may add for ProvisioningRequests, in a block of its own: RACKSxNODES, or none")
      ->capture_default_str();
  app->add_option("--provisioning-delay", flags->up.provisioning_delay,
                  "How long the autoscaler takes to add nodes")
      ->capture_default_str();
  app->add_option("--feature-gates", flags->up.feature_gates,
                  "Kueue's feature gates, such as TASBalancedPlacement=true,PartialAdmission=false");
  app->add_option("--load", flags->up.load,
                  "Manifests to apply at start: a file or a directory; may be repeated");
  app->add_flag("--ephemeral", flags->ephemeral, "Keep nothing on disk but the kubeconfig");
  app->add_option("--log-level", flags->log_level, "debug, info, warn or error")->capture_default_str();
  app->footer(
      "Pods run for 10s and succeed; annotations of theirs say otherwise: berth.dev/run-for: 90s, berth.dev/exit-code: \"1\",\n"
      "berth.dev/stop-after: 20s (once deleted). Nodes can be cordoned, drained, tainted and deleted; one with the annotation\n"
      "berth.dev/fail=NotReady (or Unknown) fails until the annotation is removed. The autoscaler answers ProvisioningRequests\n"
      "of the classes check-capacity.autoscaling.x-k8s.io and best-effort-atomic-scale-up.autoscaling.x-k8s.io; parameters\n"
      "of a request make it slow or fail: provisioning-delay: 2m, fail-attempts: 2 (or all), expire-after: 60s, revoke-after: 5m.");
  return {app, [flags] { return run(*flags); }};
}

}  // namespace berth::cli
