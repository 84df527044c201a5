#include "cli/run_controller.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <utility>

#include "api/config/configuration.h"
#include "api/resources.h"
#include "base/assert.h"
#include "base/log.h"
#include "base/metrics.h"
#include "cli/configuration_file.h"
#include "cli/controller_servers.h"
#include "cli/job_kinds.h"
#include "cli/request_metrics.h"
#include "cli/version.h"
#include "cli/visibility.h"
#include "controller/build_info.h"
#include "controller/configure.h"
#include "controller/metrics.h"
#include "controller/not_honoured.h"
#include "http/asio_executor.h"
#include "kube/client.h"
#include "kube/leader_election.h"

namespace berth::cli {
namespace {

constexpr std::chrono::seconds kStopWithin{25};  // less than the 30 s after which the kubelet kills the container
// In a cluster, webhook requests arrive until all API servers know that this pod terminates.
constexpr std::chrono::seconds kServeOn{5};
constexpr std::chrono::seconds kServerGrace{3};
constexpr const char* kDefaultNamespace = "kueue-system";
constexpr std::chrono::seconds kNamespaceRetry{1};

void say(const char* line) {
  std::printf("%s\n", line);
  std::fflush(stdout);
}

// The identity of this process for leader election: unique also among processes of one host.
std::string own_identity() {
  char host[256] = {};
  if (::gethostname(host, sizeof host - 1) != 0 || host[0] == '\0') std::snprintf(host, sizeof host, "berth");
  std::random_device random;
  char suffix[24];
  std::snprintf(suffix, sizeof suffix, "_%08x%08x", random(), random());
  return host + std::string(suffix);
}

// Under load, changes and answers that arrive within this time are handled together, with one decision.
constexpr Duration kIdleRest = std::chrono::milliseconds(20);

// The members are in the order in which they depend on each other; they are destroyed in reverse order.
class Process {
 public:
  explicit Process(const RunControllerOptions& options) : options_(options) {}

  Result<void> run() {
    for (const auto step : {&Process::find_server, &Process::read_configuration, &Process::make_clients,
                            &Process::make_controller, &Process::serve, &Process::make_elector}) {
      if (auto done = (this->*step)(); !done) return done;
    }
    executor_.on_signals({SIGTERM, SIGINT}, [this](int) { on_signal(); });
    executor_.post([this] { check_->start(); });
    executor_.run(kIdleRest);
    return std::move(outcome_);
  }

 private:
  Result<void> find_server() {
    auto found = find_access(options_.access);
    if (!found) return tl::unexpected(found.error());
    access_ = std::move(found->access);
    in_cluster_ = found->in_cluster;
    return {};
  }

  Result<void> read_configuration() {
    const std::string own = !options_.ns.empty() ? options_.ns : in_cluster_ ? access_.ns : kDefaultNamespace;
    auto read = read_configuration_file(options_.config, own);
    if (!read) return tl::unexpected(read.error());
    configuration_ = std::move(*read);
    auto& election = configuration_.leader_election;
    if (!options_.ns.empty()) {
      if (election.resource_namespace == configuration_.ns) election.resource_namespace = options_.ns;
      configuration_.ns = options_.ns;
    }
    return {};
  }

  Result<void> make_clients() {
    kube::ClientOptions main;
    main.rate.per_second = configuration_.client_connection.qps;
    main.rate.burst = configuration_.client_connection.burst;
    main.on_answer = count_requests(metrics_);
    // For requests that may neither wait behind others nor take long: renewals of the lease, and the check at the
    // start; both are repeated anyway.
    kube::ClientOptions prompt = main;
    prompt.rate.per_second = 0;
    prompt.max_tries = 1;
    prompt.timeout = configuration_.leader_election.renew_deadline / 2;
    auto client = kube::Client::make(executor_, access_, main);
    auto prompt_client = kube::Client::make(executor_, access_, prompt);
    if (!client || !prompt_client) return tl::unexpected((!client ? client : prompt_client).error());
    client_ = std::move(*client);
    prompt_client_ = std::move(*prompt_client);
    return {};
  }

  Result<void> make_controller() {
    auto gates = controller::parse_feature_gates(options_.feature_gates);
    if (!gates) return fail("--feature-gates: " + gates.error().message);
    auto options = controller::controller_options(configuration_, *gates);
    if (!options)
      return gates->empty() ? fail(options_.config + ": " + options.error().message) : tl::unexpected(options.error());
    if (auto added = add_job_kinds(
            {{kKindsField, configuration_.job_kinds_directory}, {kKindsFlag, options_.job_kinds}}, *options);
        !added)
      return added;
    options->seed = std::random_device()();
    controller_metrics_.emplace(metrics_, controller::metrics_options(configuration_, *options));
    options->metrics = &*controller_metrics_;
    serves_pending_ = options->pending_workloads_api;
    controller::report_build(metrics_, this_build());
    controller::report_not_honoured(metrics_, options->not_honoured);
    policy_ = controller::admission_policy(*options);
    policy_.manages_namespace = [this](std::string_view ns) { return controller_->manages_namespace(ns); };
    auto journal = open_journal(options_.journal, executor_);
    if (!journal) return tl::unexpected(journal.error());
    journal_ = std::move(*journal);
    options->journal = journal_.get();
    controller_ = std::make_unique<controller::Controller>(*client_, executor_, *options);
    controller_->on_synced([this] { synced(); });
    controller_->on_leading([] { say("leading"); });
    return {};
  }

  Result<void> serve() {
    auto servers =
        ControllerServers::start({configuration_,
                                  *client_,
                                  executor_,
                                  [this](const api::GroupVersionResource& resource, std::string_view ns,
                                         std::string_view name) { return controller_->find(resource, ns, name); },
                                  policy_,
                                  {[this] { refresh_metrics(); }, [this] { return metrics_.text(); }},
                                  [this] { return unready(); },
                                  pending(),
                                  [this](std::string_view group, std::string_view resource) {
                                    return controller_->volcano_rules(group, resource);
                                  },
                                  options_.webhooks});
    if (!servers) return tl::unexpected(servers.error());
    servers_ = std::move(*servers);
    return {};
  }

  std::optional<serve::PendingSource> pending() {
    if (!serves_pending_) return std::nullopt;
    return pending_source([this]() -> const controller::Controller& { return *controller_; },
                          [this] { return executor_.now(); });
  }

  Result<void> make_elector() {
    const auto& wanted = configuration_.leader_election;
    kube::LeaderElectionOptions election;
    election.ns = wanted.resource_namespace;
    election.name = wanted.resource_name;
    election.lease_duration = wanted.lease_duration;
    election.renew_deadline = wanted.renew_deadline;
    election.retry_period = wanted.retry_period;
    election.identity = own_identity();
    election.seed = std::random_device()();
    if (auto valid = kube::validate(election); !valid) return valid;
    std::vector<Needed> needed;
    if (wanted.leader_elect) {
      elector_.emplace(
          *prompt_client_, executor_, election,
          kube::LeaderElector::Handler{[this] { controller_->lead([this] { return elector_->leads_until(); }); },
                                       [this](const std::string& why) { end(fail(why)); }});
      needed.push_back({{"coordination.k8s.io", "v1", "leases"}, election.ns, election.name, true});
    }
    for (const auto& resource : controller_->resources()) needed.push_back({resource});
    check_.emplace(*prompt_client_, executor_, access_, std::move(needed), [this](Result<void> may) {
      if (!may) return end(std::move(may));
      controller_->start();
      executor_.after(configuration_.cache_sync_timeout, [this] { must_be_synced(); });
    });
    return {};
  }

  // --- The start.

  std::string list_missing() const {
    std::string missing;
    for (const auto& resource : controller_->missing()) missing += (missing.empty() ? "" : ", ") + resource;
    return missing;
  }

  std::string unready() const {
    if (stopping_) return "stopping";
    if (!no_namespace_.empty()) return no_namespace_;
    const std::string missing = list_missing();
    if (missing.empty()) return "";
    return (controller_->synced() ? "cannot be read from the API server: " : "not read from the API server yet: ") +
           missing;
  }

  void must_be_synced() {
    if (controller_->synced() || stopping_) return;
    end(fail(access_.server + " did not list everything within " + format_duration(configuration_.cache_sync_timeout) +
             " (controller.cacheSyncTimeout); missing: " + list_missing()));
  }

  // Its own namespace holds the Lease and the Secret of the certificates. It waits for one that is not there.
  void synced() {
    if (stopping_) return;
    const std::string before = std::exchange(no_namespace_, missing_namespace());
    if (no_namespace_.empty()) return servers_->load_certificates([this] { ready(); });
    if (no_namespace_ != before) log::error("waiting for a namespace", {{"why", no_namespace_}});
    executor_.after(kNamespaceRetry, [this] { synced(); });
  }

  std::string missing_namespace() const {
    for (const auto& ns : {configuration_.ns, configuration_.leader_election.resource_namespace}) {
      if (!controller_->find(api::kNamespaces, "", ns))
        return access_.server + " has no namespace \"" + ns + "\": make it (kubectl create namespace " + ns +
               ") or name another with --namespace";
    }
    return "";
  }

  void ready() {
    if (stopping_) return;
    say("ready");
    if (elector_) {
      elector_->start();
    } else {
      controller_->lead();
    }
  }

  // --- Metrics: the counters, and gauges that are set when metrics are read.

  void refresh_metrics() {
    leading_.set({}, controller_->leading() ? 1 : 0);
    controller_->refresh_metrics();
    journal_gauges_.set(journal_.get());
    broken_.set({}, static_cast<double>(broken_invariants()));
  }

  // --- The end.

  // Stop deciding, finish the writes, release the lease, write the last events. Webhooks are served until other
  // processes take over.
  void on_signal() {
    if (std::exchange(stopping_, true)) std::_Exit(130);  // second signal: exit at once
    log::info("stopping");
    const Time asked = executor_.now();
    executor_.after(kStopWithin,
                    [this] { end(fail("not everything that was sent has an answer after 25 s; ended without")); });
    controller_->drain([this, asked] {
      const auto then = [this, asked] {
        controller_->when_events_are_written([this, asked] {
          const Time until = in_cluster_ ? asked + kServeOn : asked;
          executor_.at(until, [this] { servers_->stop(kServerGrace, [this] { executor_.stop(); }); });
        });
      };
      if (elector_) {
        elector_->release(then);
      } else {
        then();
      }
    });
  }

  void end(Result<void> outcome) {
    stopping_ = true;
    outcome_ = std::move(outcome);
    executor_.stop();
  }

  const RunControllerOptions& options_;
  http::AsioExecutor executor_;
  bool serves_pending_ = true;
  Metrics metrics_;
  GaugeFamily leading_ = metrics_.gauge("berth_leading", "1 when this process decides, 0 when it follows.");
  GaugeFamily broken_ =
      metrics_.gauge("berth_broken_invariants", "How often an invariant was broken; anything but 0 is a bug.");
  kube::Access access_;
  bool in_cluster_ = false;
  api::config::Configuration configuration_;
  api::kueue::AdmissionPolicy policy_;
  std::unique_ptr<kube::Client> client_, prompt_client_;
  std::optional<controller::ControllerMetrics> controller_metrics_;
  JournalGauges journal_gauges_{metrics_};
  std::unique_ptr<journal::Journal> journal_;  // null: nothing is recorded
  std::unique_ptr<controller::Controller> controller_;
  std::unique_ptr<ControllerServers> servers_;
  std::optional<kube::LeaderElector> elector_;
  std::optional<AccessCheck> check_;
  std::string no_namespace_;  // why it waits for its own namespace
  bool stopping_ = false;
  Result<void> outcome_;
};

}  // namespace

Result<void> run_controller(const RunControllerOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);
  return Process(options).run();
}

}  // namespace berth::cli
