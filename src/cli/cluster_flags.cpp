#include "cli/cluster_flags.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <utility>

#include "base/time.h"
#include "cli/apply_objects.h"

namespace berth::cli {

const char* const kClusterHelp =
    "Pods run for 10s and succeed, or for ever with restartPolicy Always; annotations of theirs say otherwise:\n"
    "berth.dev/run-for: 90s, "
    "berth.dev/exit-code: \"1\",\n"
    "berth.dev/stop-after: 20s (once deleted). Nodes can be cordoned, drained, tainted and deleted; one with "
    "the annotation\n"
    "berth.dev/fail=NotReady (or Unknown) fails until the annotation is removed. The autoscaler answers "
    "ProvisioningRequests\n"
    "of the classes check-capacity.autoscaling.x-k8s.io and "
    "best-effort-atomic-scale-up.autoscaling.x-k8s.io; parameters\n"
    "of a request make it slow or fail: provisioning-delay: 2m, fail-attempts: 2 (or all), expire-after: "
    "60s, revoke-after: 5m.";

void add_cluster_flags(CLI::App& app, ClusterFlags& flags) {
  app.add_option("--nodes", flags.nodes,
                 "Pretend nodes to make: BLOCKSxRACKSxNODES, such as 2x4x8, a file of Node manifests, or none")
      ->capture_default_str();
  app.add_option("--node-resources", flags.node_resources,
                 "What each of them has, such as cpu=96,memory=256Gi,nvidia.com/gpu=8");
  app.add_option("--scale-up", flags.scale_up,
                 "What the autoscaler may add for ProvisioningRequests, in a block of its own: RACKSxNODES, or none")
      ->capture_default_str();
  app.add_option("--provisioning-delay", flags.provisioning_delay, "How long the autoscaler takes to add nodes")
      ->capture_default_str();
}

Result<cluster::ClusterOptions> cluster_options(const ClusterFlags& flags) {
  cluster::ClusterOptions options;
  if (std::error_code error; std::filesystem::exists(flags.nodes, error)) {
    auto manifests = read_objects({flags.nodes});
    if (!manifests) return tl::unexpected(manifests.error());
    for (ObjectToApply& m : *manifests) options.node_manifests.push_back(std::move(m.object));
  } else if (flags.nodes != "none") {
    options.nodes = flags.nodes;
  }
  options.node_resources = flags.node_resources;
  if (flags.scale_up != "none") options.scale_up = flags.scale_up;
  const auto delay = parse_duration(flags.provisioning_delay);
  if (!delay || *delay < Duration(0))
    return fail("--provisioning-delay " + flags.provisioning_delay + ": expected a duration such as 30s");
  options.provisioning_delay = *delay;
  return options;
}

}  // namespace berth::cli
