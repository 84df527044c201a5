// berth cluster: the pretend cluster on any API server.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/cluster_access.h"
#include "cli/cluster_flags.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/shared_flags.h"
#include "embedded/cluster/cluster.h"
#include "embedded/simulate/monkeys/live.h"
#include "http/asio_executor.h"
#include "jobs/kinds/read/shipped.h"
#include "kube/client.h"

namespace berth::cli {
namespace {

struct Flags {
  AccessFlags access;
  ClusterFlags cluster;
  bool job_controller = true;
  bool apps_controllers = true;
  bool leader_worker_sets = false;
  bool operators = false;
  bool vcjobs = false;
  LogFlags log{"warn"};
  std::optional<std::uint64_t> monkeys;
  std::string monkeys_for;
  bool disposable = false;
};

constexpr Duration kBetweenReports = std::chrono::seconds(30);

std::string described(const simulate::MonkeyLog& log) {
  return std::to_string(log.deeds) + " deeds: " + std::to_string(log.accepted) + " writes accepted, " +
         std::to_string(log.refused) + " refused, " + std::to_string(log.unanswered) + " unanswered";
}

Result<simulate::LiveMonkeysOptions> monkeys_options(const Flags& flags) {
  if (!flags.disposable)
    return fail(
        "--monkeys: monkeys change and delete objects of every kind in every namespace. Add --disposable-cluster if "
        "nobody "
        "needs what is on this cluster");
  simulate::LiveMonkeysOptions options;
  options.seed = *flags.monkeys;
  if (!flags.monkeys_for.empty()) {
    const auto length = parse_duration(flags.monkeys_for);
    if (!length || *length <= Duration::zero())
      return fail("--monkeys-for: expected a duration as 90s, 10m or 1h, got \"" + flags.monkeys_for + "\"");
    options.length = *length;
  }
  return options;
}

Result<void> run_cluster(const Flags& flags) {
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
  kube::ClientOptions no_limit;
  no_limit.user_agent = "berth-cluster";
  // Real kubelets and the real controllers limit their requests; here a limit would only slow tests.
  no_limit.rate.per_second = 0;
  kube::ClientOptions once = no_limit;
  once.max_tries = 1;
  auto client = kube::Client::make(executor, found->access, no_limit);
  auto checker = kube::Client::make(executor, found->access, once);
  if (!client || !checker) return tl::unexpected((!client ? client : checker).error());
  auto cluster = cluster::PretendCluster::make(**client, executor, *options);
  if (!cluster) return tl::unexpected(cluster.error());

  Result<void> outcome;
  std::unique_ptr<simulate::LiveMonkeys> monkeys;
  if (flags.monkeys) {
    auto how = monkeys_options(flags);
    if (!how) return tl::unexpected(how.error());  // run() has checked them
    monkeys = std::make_unique<simulate::LiveMonkeys>(**client, executor, *how, [&](Result<void> done) {
      std::printf("monkeys: %s%s\n", described(monkeys->log()).c_str(), done ? "; everything is right again" : "");
      outcome = std::move(done);
      executor.stop();
    });
  }
  std::function<void()> report = [&] {
    const std::string wrong = monkeys->still_wrong();
    std::fprintf(stderr, "monkeys: %s%s\n", described(monkeys->log()).c_str(),
                 wrong.empty() ? "" : ("; restoring " + wrong).c_str());
    executor.after(kBetweenReports, report);
  };
  std::vector<Needed> needed = {{{"", "v1", "nodes"}}, {{"", "v1", "pods"}}, {{"batch", "v1", "jobs"}}};
  if (flags.apps_controllers) needed.push_back({{"apps", "v1", "statefulsets"}});
  AccessCheck check(**checker, executor, found->access, std::move(needed), [&](Result<void> may) {
    if (!may) {
      outcome = std::move(may);
      return executor.stop();
    }
    (*cluster)->start();
    std::printf("ready\n");
    std::fflush(stdout);
    if (!monkeys) return;
    monkeys->start();
    executor.after(kBetweenReports, report);
  });
  executor.on_signals({SIGTERM, SIGINT}, [&, asked = false](int) mutable {
    if (std::exchange(asked, true)) std::_Exit(130);
    if (!monkeys) return executor.stop();
    std::fprintf(stderr, "putting things right; once more to leave them as they are\n");
    monkeys->stop();
  });
  executor.post([&] { check.start(); });
  executor.run();
  return outcome;
}

int run(const Flags& flags) {
  if (const auto configured = configure_log(flags.log); !configured) return misuse(configured.error().message);
  if (const auto checked = check_cluster_flags(flags.cluster); !checked) return misuse(checked.error().message);
  if (flags.monkeys) {
    if (const auto how = monkeys_options(flags); !how) return misuse(how.error().message);
  }
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
  auto flags = std::make_shared<Flags>();
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
  auto* monkeys = app->add_option("--monkeys", flags->monkeys,
                                  "Let monkeys play: clients that do whatever the API permits with every kind that "
                                  "Berth reads. SEED chooses "
                                  "what they do. For tests of controllers only")
                      ->check(whole_number())
                      ->type_name("SEED");
  app->add_option("--monkeys-for", flags->monkeys_for,
                  "How long they play, as 10m; then they put things right. Without it until a signal")
      ->type_name("DURATION")
      ->needs(monkeys);
  app->add_flag("--disposable-cluster", flags->disposable, "Needed with --monkeys: what is on the cluster may be lost");
  add_log_level_flag(*app, flags->log);
  app->footer(kClusterHelp);
  return {app, [flags] { return run(*flags); }};
}

}  // namespace berth::cli
