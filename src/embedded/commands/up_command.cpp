// The command line of berth up.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "cli/output.h"
#include "cli/shared_flags.h"
#include "embedded/apiserver/crd/external_kinds.h"
#include "embedded/commands/commands.h"
#include "embedded/commands/data_dir.h"
#include "embedded/commands/up.h"
#include "embedded/commands/worker_processes.h"
#include "http/listen_address.h"

namespace berth::cli {
namespace {

struct UpCommandFlags {
  UpOptions up;
  bool ephemeral = false, no_journal = false;
  int workers = 0;
  LogFlags log{"warn"};
};

Result<void> check(const UpOptions& up) {
  const std::pair<std::string_view, std::string> addresses[] = {{"--listen", up.listen},
                                                                {"--metrics-listen", up.metrics_listen},
                                                                {"--console", up.console == "off" ? "" : up.console}};
  for (const auto& [flag, address] : addresses) {
    if (address.empty() && flag != "--listen") continue;
    if (const auto parsed = berth::http::parse_listen_address(flag, address); !parsed)
      return tl::unexpected(parsed.error());
  }
  if (const auto kinds = apiserver::choose_external_kinds(up.kinds); !kinds)
    return fail("--kinds: " + kinds.error().message);
  return check_cluster_flags(up.cluster);
}

int run(UpCommandFlags flags) {
  if (const auto configured = configure_log(flags.log); !configured) return misuse(configured.error().message);
  if (const auto checked = check(flags.up); !checked) return misuse(checked.error().message);
  const std::string dir = flags.up.data_dir.empty() ? default_data_dir() : flags.up.data_dir;
  flags.up.data_dir = flags.ephemeral ? "" : dir;
  if (flags.up.kubeconfig.empty()) flags.up.kubeconfig = dir + "/kubeconfig";
  auto& journal = flags.up.journal.directory;
  if (journal.empty() && !flags.ephemeral) journal = dir + "/journal";
  if (flags.no_journal) journal.clear();
  WorkerProcesses workers;
  if (flags.workers > 0) {
    if (!flags.up.controller) return misuse("--workers needs the controller: leave --controller=false out");
    if (auto started = workers.start(flags.workers, flags.up); !started)
      return failure("--workers: " + started.error().message);
    flags.up.workers = workers.workers();
    if (!flags.up.cluster.nodes_given) flags.up.cluster.nodes = "none";
    std::printf("%s", workers.text().c_str());
  }
  const auto done = run_up(flags.up);
  return done ? 0 : failure(done.error().message);
}

}  // namespace

Command add_up(CLI::App& root) {
  auto* app = root.add_subcommand("up", "Run an API server, Berth's controller and a pretend cluster in one process");
  auto flags = std::make_shared<UpCommandFlags>();
  app->add_option("--data-dir", flags->up.data_dir,
                  "Where state, keys and the kubeconfig are kept (default: " + default_data_dir() + ")");
  app->add_flag("--accept-lost-writes", flags->up.accept_lost_writes,
                "Start although acknowledged writes are missing or damaged in the data directory: what is damaged is\n"
                "removed, and the log says what. Without it such a start is refused");
  app->add_option("--listen", flags->up.listen, "Address and port of the API server; port 0 takes a free one")
      ->capture_default_str();
  app->add_option("--metrics-listen", flags->up.metrics_listen,
                  "Address and port that serve https://.../metrics and nothing else, such as 127.0.0.1:8443; who may "
                  "read them is\n"
                  "known as on the API server's port, which has the same metrics (kubectl get --raw /metrics)");
  app->add_option("--console", flags->up.console,
                  "Address and port of the web console, or off (default: 127.0.0.1:7080, or any port when that one is "
                  "taken).\n"
                  "Its URL is printed with a token that logs in; keep it to yourself");
  add_allow_changes_flag(*app, flags->up.console_changes);
  app->add_option("--kubeconfig", flags->up.kubeconfig,
                  "Where to write the admin's kubeconfig (default: in the data directory)");
  app->add_option("--token-file", flags->up.token_file,
                  "Bearer tokens to accept: lines of token,user,uid[,\"group,group\"]");
  app->add_option("--workers", flags->workers,
                  "Also start that many worker clusters, as processes of their own. This one is their manager\n"
                  "(MultiKueue): the AdmissionCheck \"workers\" hands jobs to them. Their kubeconfigs are written "
                  "beside\nthis one's: worker1.kubeconfig, ... The nodes are those of the workers")
      ->check(CLI::Range(0, kMostWorkers));
  add_cluster_flags(*app, flags->up.cluster);
  app->add_flag("--controller", flags->up.controller,
                "--controller=false: no controller in here, so that berth controller can work from outside");
  add_config_flag(*app, flags->up.config,
                  ": what changes decisions is honoured.\n"
                  "Without it pods, Deployments, StatefulSets and LeaderWorkerSets with a queue name are managed too");
  add_feature_gates_flag(*app, flags->up.feature_gates);
  add_job_kinds_flag(*app, flags->up.job_kinds);
  app->add_option("--kinds", flags->up.kinds,
                  "Kinds of jobs of other projects to serve: all, none, or some of them, such as\n"
                  "jobsets,pytorchjobs,ray.io/rayjob. Your own definition of a kind takes the place of this one")
      ->capture_default_str();
  app->add_option("--load", flags->up.load, "Manifests to apply at start: a file or a directory; may be repeated");
  auto* journal =
      app->add_option("--journal", flags->up.journal.directory,
                      "Where the controller's events and decisions are recorded, for berth replay (default: "
                      "journal in the\ndata directory; with --ephemeral none)");
  add_journal_flags(*app, flags->up.journal);
  app->add_flag("--no-journal", flags->no_journal, "Record nothing")->excludes(journal);
  app->add_flag("--ephemeral", flags->ephemeral, "Keep nothing on disk but the kubeconfig");
  add_log_level_flag(*app, flags->log);
  app->footer(kClusterHelp);
  return {app, [flags] { return run(*flags); }};
}

}  // namespace berth::cli
