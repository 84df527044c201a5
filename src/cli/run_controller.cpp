#include "cli/run_controller.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <utility>

#include "base/log.h"
#include "base/metrics.h"
#include "cli/request_metrics.h"
#include "controller/controller.h"
#include "controller/feature_gates.h"
#include "http/asio_executor.h"
#include "kube/client.h"
#include "kube/leader_election.h"

namespace berth::cli {
namespace {

constexpr std::chrono::seconds kStopWithin{25};  // less than the 30 s after which a kubelet kills
constexpr Duration kSyncWithin = std::chrono::minutes(2);
constexpr const char* kDefaultNamespace = "kueue-system";

void say(const char* line) {
  std::printf("%s\n", line);
  std::fflush(stdout);
}

// Of this process among all candidates: who runs two on a machine still tells them apart.
std::string own_identity() {
  char host[256] = {};
  if (::gethostname(host, sizeof host - 1) != 0 || host[0] == '\0') std::snprintf(host, sizeof host, "berth");
  std::random_device random;
  char suffix[24];
  std::snprintf(suffix, sizeof suffix, "_%08x%08x", random(), random());
  return host + std::string(suffix);
}

// The parts in the order in which they need each other; they are destroyed the other way round.
class Process {
 public:
  explicit Process(const RunControllerOptions& options) : options_(options) {}

  Result<void> run() {
    for (const auto step : {&Process::find_server, &Process::make_clients, &Process::make_controller, &Process::make_elector}) {
      if (auto done = (this->*step)(); !done) return done;
    }
    executor_.on_signals({SIGTERM, SIGINT}, [this](int) { on_signal(); });
    executor_.post([this] { check_->start(); });
    executor_.run();
    return std::move(outcome_);
  }

 private:
  Result<void> find_server() {
    auto found = find_access(options_.access);
    if (!found) return tl::unexpected(found.error());
    access_ = std::move(found->access);
    ns_ = !options_.ns.empty() ? options_.ns : found->in_cluster ? access_.ns : kDefaultNamespace;
    return {};
  }

  Result<void> make_clients() {
    kube::ClientOptions main;
    main.on_answer = count_requests(metrics_);
    // Neither may wait behind others nor for long: the lease is asked for again soon, and so is the server at the start.
    kube::ClientOptions prompt = main;
    prompt.rate.per_second = 0;
    prompt.max_tries = 1;
    prompt.timeout = election_.renew_deadline / 2;
    auto client = kube::Client::make(executor_, access_, main);
    auto prompt_client = kube::Client::make(executor_, access_, prompt);
    if (!client || !prompt_client) return tl::unexpected((!client ? client : prompt_client).error());
    client_ = std::move(*client);
    prompt_client_ = std::move(*prompt_client);
    return {};
  }

  Result<void> make_controller() {
    controller::ControllerOptions controller;
    auto gates = controller::parse_feature_gates(options_.feature_gates);
    if (!gates) return fail("--feature-gates: " + gates.error().message);
    if (auto applied = controller::apply_feature_gates(*gates, controller.engine); !applied) return applied;
    controller.manages_namespace = api::kueue::all_but_system(ns_);
    controller.seed = std::random_device()();
    controller_ = std::make_unique<controller::Controller>(*client_, executor_, controller);
    controller_->on_synced([this] { ready(); });
    controller_->on_leading([] { say("leading"); });
    return {};
  }

  Result<void> make_elector() {
    election_.ns = ns_;
    election_.identity = own_identity();
    election_.seed = std::random_device()();
    if (auto valid = kube::validate(election_); !valid) return valid;
    elector_.emplace(*prompt_client_, executor_, election_,
                     kube::LeaderElector::Handler{
                         [this] { controller_->lead([this] { return elector_->leads_until(); }); },
                         [this](const std::string& why) { end(fail(why)); }});
    std::vector<Needed> needed = {{{"", "v1", "namespaces"}, "", ns_},
                                  {{"coordination.k8s.io", "v1", "leases"}, ns_, election_.name, true}};
    for (const auto& resource : controller_->resources()) needed.push_back({resource});
    check_.emplace(*prompt_client_, executor_, access_, std::move(needed), [this](Result<void> may) {
      if (!may) return end(std::move(may));
      controller_->start();
      executor_.after(kSyncWithin, [this] { must_be_synced(); });
    });
    return {};
  }

  void must_be_synced() {
    if (controller_->synced()) return;
    std::string missing;
    for (const auto& resource : controller_->missing()) missing += (missing.empty() ? "" : ", ") + resource;
    end(fail(access_.server + " did not list everything within two minutes; missing: " + missing));
  }

  void ready() {
    if (stopping_) return;
    say("ready");
    elector_->start();
  }

  // --- The end.

  void on_signal() {
    if (std::exchange(stopping_, true)) std::_Exit(130);  // asked twice: at once
    log::info("stopping");
    executor_.after(kStopWithin, [this] { end(fail("writes or the lease have no answer after 25 s; ended without")); });
    controller_->drain([this] {
      elector_->release([this] {
        controller_->when_events_are_written([this] { executor_.stop(); });
      });
    });
  }

  void end(Result<void> outcome) {
    stopping_ = true;
    outcome_ = std::move(outcome);
    executor_.stop();
  }

  const RunControllerOptions& options_;
  http::AsioExecutor executor_;
  Metrics metrics_;
  kube::Access access_;
  std::string ns_;
  kube::LeaderElectionOptions election_;
  std::unique_ptr<kube::Client> client_, prompt_client_;
  std::unique_ptr<controller::Controller> controller_;
  std::optional<kube::LeaderElector> elector_;
  std::optional<AccessCheck> check_;
  bool stopping_ = false;
  Result<void> outcome_;
};

}  // namespace

Result<void> run_controller(const RunControllerOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);
  return Process(options).run();
}

}  // namespace berth::cli
