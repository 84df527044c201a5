#include "embedded/commands/cluster_flags.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <utility>

#include "base/time.h"
#include "cli/object_files.h"
#include "embedded/cluster/devices/driver.h"
#include "embedded/cluster/nodes.h"

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
      ->capture_default_str()
      ->each([&flags](const std::string&) { flags.nodes_given = true; });
  app.add_option("--node-resources", flags.node_resources,
                 "What each of them has, such as cpu=96,memory=256Gi,nvidia.com/gpu=8. Nodes of an earlier run keep "
                 "what they have");
  app.add_option(
      "--devices", flags.devices,
      "Devices that each of them has, for ResourceClaims: DRIVER=COUNT, such as gpu.example.com=8; with :parts they "
      "can be cut, with :shared several pods take parts of one");
  app.add_option("--scale-up", flags.scale_up,
                 "What the autoscaler may add for ProvisioningRequests, in a block of its own: RACKSxNODES, or none")
      ->capture_default_str();
  app.add_option("--provisioning-delay", flags.provisioning_delay, "How long the autoscaler takes to add nodes")
      ->capture_default_str();
}

namespace {

bool is_file(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

Result<Duration> delay_of(const ClusterFlags& flags) {
  const auto delay = parse_duration(flags.provisioning_delay);
  if (delay && *delay >= Duration(0)) return *delay;
  return fail("--provisioning-delay " + flags.provisioning_delay + ": expected a duration such as 30s");
}

Result<void> check_nodes(const std::string& nodes) {
  if (nodes == "none" || is_file(nodes)) return {};
  const auto shape = cluster::parse_node_shape(nodes);
  if (shape) return {};
  if (nodes.find_first_not_of("0123456789x") == std::string::npos) return fail("--nodes: " + shape.error().message);
  return fail(
      "--nodes \"" + nodes +
      "\": expected BLOCKSxRACKSxNODES, such as 2x4x8, a file of Node manifests, or none; there is no such file");
}

}  // namespace

Result<void> check_cluster_flags(const ClusterFlags& flags) {
  if (auto checked = check_nodes(flags.nodes); !checked) return checked;
  if (const auto resources = cluster::parse_node_resources(flags.node_resources); !resources)
    return fail("--node-resources: " + resources.error().message);
  if (const auto devices = cluster::devices::parse_devices(flags.devices); !devices)
    return fail("--devices: " + devices.error().message);
  if (flags.scale_up != "none") {
    const auto racks = cluster::parse_node_shape(flags.scale_up);
    if (!racks || racks->blocks != 1)
      return fail("--scale-up \"" + flags.scale_up + "\": expected RACKSxNODES, such as 2x64, or none");
  }
  if (const auto delay = delay_of(flags); !delay) return tl::unexpected(delay.error());
  return {};
}

Result<cluster::ClusterOptions> cluster_options(const ClusterFlags& flags) {
  cluster::ClusterOptions options;
  if (is_file(flags.nodes)) {
    auto manifests = read_objects({flags.nodes});
    if (!manifests) return tl::unexpected(manifests.error());
    if (manifests->empty()) return fail("--nodes " + flags.nodes + ": has no manifests of Nodes");
    for (const ObjectToApply& m : *manifests) {
      if (string_at(m.object, {"kind"}) != "Node")
        return fail("--nodes " + m.origin + ": is a " + std::string(string_at(m.object, {"kind"})) +
                    ", expected a Node");
    }
    for (ObjectToApply& m : *manifests) options.node_manifests.push_back(std::move(m.object));
  } else if (flags.nodes != "none") {
    options.nodes = flags.nodes;
  }
  options.node_resources = flags.node_resources;
  options.devices = flags.devices;
  if (flags.scale_up != "none") options.scale_up = flags.scale_up;
  const auto delay = delay_of(flags);
  if (!delay) return tl::unexpected(delay.error());
  options.provisioning_delay = *delay;
  return options;
}

}  // namespace berth::cli
