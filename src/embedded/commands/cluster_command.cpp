// berth cluster: the pretend cluster on any API server.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/cluster_access.h"
#include "cli/output.h"
#include "cli/shared_flags.h"
#include "embedded/cluster/cluster.h"
#include "embedded/commands/cluster_flags.h"
#include "embedded/commands/commands.h"
#include "http/asio_executor.h"
#include "jobs/kinds/read/shipped.h"

namespace berth::cli {
namespace {

struct ClusterCommandFlags {
  AccessFlags access;
  ClusterFlags cluster;
  bool job_controller = true;
  bool apps_controllers = true;
  bool leader_worker_sets = false;
  bool operators = false;
  bool vcjobs = false;
  LogFlags log{"warn"};
};

Result<void> run_cluster(const ClusterCommandFlags& flags) {
  auto options = cluster_options(flags.cluster);
  if (!options) return tl::unexpected(options.error());
  options->job_controller = flags.job_controller;
  options->apps_controllers = flags.apps_controllers;
  options->leader_worker_sets = flags.leader_worker_sets;
  if (flags.operators) options->kinds = jobs::kinds::shipped_job_kinds();
  options->vcjobs = flags.vcjobs;
  const auto found = find_access(flags.access);
  if (!found) return tl::unexpected(found.error());
  http::AsioExecutor executor;
  // Real kubelets and the real controllers limit their requests; here a limit would only slow tests.
  const auto clients = unlimited_clients(executor, found->access, "berth-cluster");
  if (!clients) return tl::unexpected(clients.error());
  auto cluster = cluster::PretendCluster::make(*clients->client, executor, *options);
  if (!cluster) return tl::unexpected(cluster.error());

  Result<void> outcome;
  std::vector<Needed> needed = {{{"", "v1", "nodes"}}, {{"", "v1", "pods"}}, {{"batch", "v1", "jobs"}}};
  if (flags.apps_controllers) needed.push_back({{"apps", "v1", "statefulsets"}});
  AccessCheck check(*clients->prompt, executor, found->access, std::move(needed), [&](Result<void> may) {
    if (!may) {
      outcome = std::move(may);
      return executor.stop();
    }
    (*cluster)->start();
    std::printf("ready\n");
    std::fflush(stdout);
  });
  executor.on_signals({SIGTERM, SIGINT}, [&, asked = false](int) mutable {
    if (std::exchange(asked, true)) std::_Exit(130);
    executor.stop();
  });
  executor.post([&] { check.start(); });
  executor.run();
  return outcome;
}

int run(const ClusterCommandFlags& flags) {
  if (const auto configured = configure_log(flags.log); !configured) return misuse(configured.error().message);
  if (const auto checked = check_cluster_flags(flags.cluster); !checked) return misuse(checked.error().message);
  std::signal(SIGPIPE, SIG_IGN);
  const auto done = run_cluster(flags);
  return done ? 0 : failure(done.error().message);
}

}  // namespace

Command add_cluster(CLI::App& root) {
  auto* app =
      root.add_subcommand("cluster",
                          "Pretend to be the machines of a cluster: nodes, kubelets, autoscaler, controllers of Jobs, "
                          "Deployments and StatefulSets");
  auto flags = std::make_shared<ClusterCommandFlags>();
  add_access_flags(*app, flags->access);
  add_cluster_flags(*app, flags->cluster);
  app->add_flag("--job-controller", flags->job_controller,
                "--job-controller=false: somebody else makes the pods of Jobs, as kube-controller-manager does");
  app->add_flag(
      "--apps-controllers", flags->apps_controllers,
      "--apps-controllers=false: somebody else makes the pods of Deployments, ReplicaSets and StatefulSets, as "
      "kube-controller-manager does");
  app->add_flag(
      "--leader-worker-sets", flags->leader_worker_sets,
      "Make the pods of LeaderWorkerSets, too, as their controller does; their definition has to be installed");
  app->add_flag("--operators", flags->operators,
                "Make the pods of JobSets, PyTorchJobs and the other kinds of jobs that Berth describes, too, as their "
                "operators do. A kind without a CustomResourceDefinition is served as soon as it is installed");
  app->add_flag(
      "--vcjobs", flags->vcjobs,
      "Also create the PodGroups and pods of Volcano Jobs, as its job controller does; their definitions have to be "
      "installed");
  add_log_level_flag(*app, flags->log);
  app->footer(kClusterHelp);
  return {app, [flags] { return run(*flags); }};
}

}  // namespace berth::cli
