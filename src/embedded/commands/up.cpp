#include "embedded/commands/up.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/assert.h"
#include "base/embedded.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/read_file.h"
#include "cli/configuration_file.h"
#include "cli/console_host.h"
#include "cli/job_kinds.h"
#include "cli/one_path.h"
#include "cli/version.h"
#include "cli/visibility.h"
#include "controller/build_info.h"
#include "controller/configure.h"
#include "controller/controller.h"
#include "controller/feature_gates.h"
#include "controller/metrics.h"
#include "controller/not_honoured.h"
#include "embedded/apiserver/crd/external_kinds.h"
#include "embedded/apiserver/http/pki.h"
#include "embedded/apiserver/router/router.h"
#include "embedded/apiserver/server/api_server.h"
#include "embedded/cluster/cluster.h"
#include "embedded/commands/apply_objects.h"
#include "embedded/commands/data_dir.h"
#include "embedded/commands/earlier_nodes.h"
#include "embedded/commands/first_objects.h"
#include "embedded/commands/store_metrics.h"
#include "embedded/commands/visibility_group.h"
#include "embedded/commands/worker_processes.h"
#include "embedded/simulate/volcano_admission.h"
#include "http/asio_executor.h"
#include "http/https_server.h"
#include "http/listen_address.h"
#include "kube/kubeconfig.h"

namespace berth::cli {
namespace {

namespace http = apiserver::http;

constexpr std::chrono::seconds kStopGrace{10};  // for requests in flight when the server stops

std::vector<std::string> server_names(const std::string& address) {
  std::vector<std::string> names = {"localhost", "127.0.0.1", "::1", "kubernetes", "kubernetes.default.svc"};
  char host[256] = {};
  if (::gethostname(host, sizeof host - 1) == 0 && host[0] != '\0' && names[0] != host) names.emplace_back(host);
  if (address != "127.0.0.1" && address != "::1" && address != "0.0.0.0" && address != "::") names.push_back(address);
  return names;
}

std::string url_of(const std::string& address, std::uint16_t port) {
  std::string host = address == "0.0.0.0" ? "127.0.0.1" : address == "::" ? "::1" : address;
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  return "https://" + host + ":" + std::to_string(port);
}

Result<http::TokenTable> read_tokens(const std::string& path) {
  if (path.empty()) return http::TokenTable();
  const auto text = read_file(path);
  if (!text) return fail("--token-file: " + text.error().message);
  auto tokens = http::TokenTable::parse(*text);
  if (!tokens) return fail(path + ": " + tokens.error().message);
  return tokens;
}

// The members are in the order in which they depend on each other; they are destroyed in reverse order.
class Up {
 public:
  explicit Up(const UpOptions& options) : options_(options) {}

  Result<void> run() {
    for (const auto step : {&Up::configure, &Up::open_store, &Up::make_cluster, &Up::open_server}) {
      if (auto done = (this->*step)(); !done) return done;
    }
    executor_.on_signals({SIGTERM, SIGINT}, [this](int) { on_signal(); });
    executor_.post([this] { apply_objects_at_start(); });
    executor_.run();
    return std::move(outcome_);
  }

 private:
  Result<void> configure() {
    auto kinds = apiserver::choose_external_kinds(options_.kinds);
    if (!kinds) return fail("--kinds: " + kinds.error().message);
    external_kinds_ = std::move(*kinds);
    auto gates = controller::parse_feature_gates(options_.feature_gates);
    if (!gates) return fail("--feature-gates: " + gates.error().message);
    const auto configuration = read_configuration_file(options_.config);
    if (!configuration) return tl::unexpected(configuration.error());
    auto options = controller::controller_options(*configuration, *gates);
    if (!options) return tl::unexpected(options.error());
    controller_options_ = std::move(*options);
    // A new user finds every framework on. Another controller has its own configuration.
    if (options_.config.empty() && options_.controller) {
      controller_options_.manage_pods = true;
      controller_options_.manage_deployments = true;
      controller_options_.manage_stateful_sets = true;
      controller_options_.manage_leader_worker_sets = true;
      for (auto& kind : controller_options_.kinds) kind.managed = true;
    }
    if (auto added = add_job_kinds(
            {{kKindsField, configuration->job_kinds_directory}, {kKindsFlag, options_.job_kinds}}, controller_options_);
        !added)
      return added;
    return {};
  }

  api::kueue::AdmissionPolicy policy() const {
    auto policy = controller::admission_policy(controller_options_);
    if (options_.controller)
      policy.manages_namespace = [this](std::string_view ns) {
        return controller_ && controller_->manages_namespace(ns);
      };
    return policy;
  }

  Result<void> open_store() {
    auto log = apiserver::make_memory_log(executor_);
    if (!options_.data_dir.empty()) {
      auto dir = DataDir::open(options_.data_dir);
      if (!dir) return fail(dir.error().message);
      dir_.emplace(std::move(*dir));
      continues_ = std::filesystem::exists(options_.data_dir + "/state.db");
      apiserver::SqliteLogOptions options;
      options.accept_lost_writes = options_.accept_lost_writes;
      auto durable = apiserver::open_sqlite_log(options_.data_dir + "/state.db", executor_, options);
      if (!durable) return fail(durable.error().message);
      log = std::move(*durable);
    }
    apiserver::ApiServerOptions server;
    const auto holders_in = [this](std::string_view queue) {
      return controller_ ? controller_->volcano_holders(queue) : std::size_t{0};
    };
    simulate::set_admission(server, controller_options_.volcano, holders_in, policy());
    auto core = apiserver::ApiServer::open(executor_, std::move(log), std::move(server));
    if (!core) return fail(core.error().message);
    core_ = std::move(*core);
    return {};
  }

  Result<void> open_server() {
    auto endpoint = berth::http::parse_listen_address("--listen", options_.listen);
    if (!endpoint) return fail(endpoint.error().message);
    const std::string pki_dir = options_.data_dir.empty() ? "" : options_.data_dir + "/pki";
    auto pki = http::load_or_create_pki(pki_dir, server_names(endpoint->address), executor_.now());
    if (!pki) return fail(pki.error().message);
    auto tokens = read_tokens(options_.token_file);
    if (!tokens) return fail(tokens.error().message);
    auto signer = http::TokenSigner::with_key(pki->service_accounts);
    if (!signer) return fail("the key for tokens of service accounts: " + signer.error().message);
    client_authority_ = pki->authority.certificate;
    console_token_ = make_console_token();
    if (console_token_.empty()) return fail("this system has no random numbers");
    tokens->add(console_token_, http::authenticated("console-admin", "", {std::string(http::kMastersGroup)}));

    http::RouterOptions router;
    router.tokens = std::move(*tokens);
    router.signer = std::move(*signer);
    router.objects = core_->objects();
    router.metrics = &metrics_;
    router.discovery.metrics = [this] { return metrics_text(); };
    router.discovery.checks = {{"ping", nullptr, false},
                               {"storage", [this] { return core_->storage_problem(); }, false},
                               {"started", [this] { return std::string(ready_ ? "" : "starting"); }, true},
                               {"shutdown", [this] { return std::string(stopping_ ? "shutting down" : ""); }, true}};
    router.discovery.server_address = options_.listen;
    if (controller_ && controller_options_.pending_workloads_api) {
      router.discovery.virtual_groups.push_back(visibility_group(pending_source(
          [this]() -> const controller::Controller& { return *controller_; }, [this] { return executor_.now(); })));
    }
    router_ = std::make_unique<http::Router>(*core_, core_->registry(), executor_, std::move(router));
    auto server = listen("--listen", *router_, *pki, *endpoint);
    if (!server) return tl::unexpected(server.error());
    server_ = std::move(*server);
    const std::string url = url_of(endpoint->address, server_->port());
    if (auto written = write_kubeconfig(http::make_kubeconfig(*pki, url)); !written) return written;
    log::info("serving", {{"url", url}});
    if (auto opened = open_console(*pki, url); !opened) return opened;
    return open_metrics(*pki);
  }

  Result<void> open_console(const http::Pki& pki, const std::string& url) {
    if (options_.console == "off") return {};
    ConsoleHost::Options console;
    console.access.server = url;
    console.access.authority.inline_pem = pki.authority.certificate;
    console.access.certificate.inline_pem = pki.admin.certificate;
    console.access.key.inline_pem = pki.admin.key;
    console.listen = options_.console;
    console.listen_flag = "--console";
    console.reader = core_.get();
    console.allow_changes = options_.console_changes;
    console.journal = options_.controller ? options_.journal.directory : "";
    auto host = ConsoleHost::open(executor_, std::move(console));
    if (!host) return tl::unexpected(host.error());
    console_ = std::move(*host);
    return {};
  }

  Result<std::unique_ptr<berth::http::HttpsServer>> listen(const std::string& flag, berth::http::Handler& handler,
                                                           const http::Pki& pki,
                                                           const berth::http::ListenAddress& endpoint) {
    auto tls = http::server_context(pki);
    if (!tls) return fail(tls.error().message);
    berth::http::HttpsServerOptions https;
    https.address = endpoint.address;
    https.port = endpoint.port;
    auto server = berth::http::HttpsServer::start(handler, executor_, std::move(*tls), https);
    if (server) return server;
    return fail(server.error().message + "; free the port, or choose another address with " + flag);
  }

  Result<void> open_metrics(const http::Pki& pki) {
    if (options_.metrics_listen.empty()) return {};
    const auto endpoint = berth::http::parse_listen_address("--metrics-listen", options_.metrics_listen);
    if (!endpoint) return fail(endpoint.error().message);
    metrics_page_ = std::make_unique<OnePath>(*router_, "/metrics");
    auto server = listen("--metrics-listen", *metrics_page_, pki, *endpoint);
    if (!server) return tl::unexpected(server.error());
    metrics_server_ = std::move(*server);
    metrics_url_ = url_of(endpoint->address, metrics_server_->port()) + "/metrics";
    return {};
  }

  // The counters, and gauges that are set when metrics are read.
  std::string metrics_text() {
    store_metrics_.set(*core_);
    connections_.set({}, static_cast<double>(server_->connections()));
    broken_.set({}, static_cast<double>(broken_invariants()));
    if (controller_) {
      leading_.set({}, 1);  // nobody else decides in its cluster
      controller_->refresh_metrics();
      journal_gauges_.set(journal_.get());
      for (const auto& [request, count] : controller_->request_counts())
        controller_requests_.set({{"request", request}}, static_cast<double>(count));
    }
    return metrics_.text();
  }

  Result<void> write_kubeconfig(const std::string& text) {
    std::error_code error;
    const auto parent = std::filesystem::path(options_.kubeconfig).parent_path();
    if (!parent.empty()) std::filesystem::create_directories(parent, error);
    if (error) return fail("cannot make the directory " + parent.string() + ": " + error.message());
    return http::write_private_file(options_.kubeconfig, text);
  }

  Result<void> make_cluster() {
    auto cluster = cluster_options(options_.cluster);
    if (!cluster) return tl::unexpected(cluster.error());
    cluster->vcjobs = controller_options_.volcano.enabled;
    cluster->leader_worker_sets = true;
    for (const auto& kind : controller_options_.kinds) cluster->kinds.push_back(kind.description);
    auto made = cluster::PretendCluster::make(*core_, executor_, *cluster);
    if (!made) return fail(made.error().message);
    cluster_ = std::move(*made);
    if (!options_.controller) return {};
    controller_metrics_.emplace(
        metrics_, controller::ControllerMetricsOptions{.role = "standalone",
                                                       .cluster_queue_resources = true,
                                                       .custom_labels = controller_options_.custom_metric_labels});
    controller_options_.metrics = &*controller_metrics_;
    controller::report_build(metrics_, this_build());
    controller::report_not_honoured(metrics_, controller_options_.not_honoured);
    auto journal = open_journal(options_.journal, executor_);
    if (!journal) return tl::unexpected(journal.error());
    journal_ = std::move(*journal);
    controller_options_.journal = journal_.get();
    controller_ = std::make_unique<controller::Controller>(*core_, executor_, controller_options_);
    return {};
  }

  void apply_objects_at_start() {
    auto objects = definitions_at_start(external_kinds_, controller_options_.volcano.enabled);
    auto given = read_objects(options_.load);
    if (objects) objects->push_back(client_authority_map(client_authority_));
    if (!objects) return finish(fail(objects.error().message));
    if (!given) return finish(fail("--load: " + given.error().message));
    add_objects_for(options_.workers, controller_options_.multikueue.ns, *objects);
    apply_objects(*core_, core_->registry(), executor_, std::move(*objects),
                  [this, given = std::move(*given)](Result<void> done) {
                    if (!done) return finish(std::move(done));
                    if (!continues_) return start_work(given);
                    report_without_effect(*core_, options_.cluster, [this, given](std::vector<std::string> notices) {
                      notices_ = std::move(notices);
                      start_work(given);
                    });
                  });
  }

  void start_work(const std::vector<ObjectToApply>& given) {
    cluster_->start();
    if (controller_) {
      controller_->on_leading([this] { look_whether_ready(); });
      controller_->lead();
      controller_->start();
    }
    apply_objects(*core_, core_->registry(), executor_, given, [this](Result<void> done) {
      if (!done) return finish(std::move(done));
      all_applied_ = true;
      look_whether_ready();
    });
  }

  void look_whether_ready() {
    if (stopping_ || !all_applied_ || (controller_ && !controller_->leading())) return;
    ready_ = true;
    if (console_) {
      console_->start();
      std::printf("console: %s/#token=%s\n", console_->url().c_str(), console_token_.c_str());
    }
    if (!metrics_url_.empty()) std::printf("metrics: %s\n", metrics_url_.c_str());
    if (continues_)
      std::printf(
          "state: continued from %s (to begin anew: stop, and delete this directory or name another --data-dir)\n",
          options_.data_dir.c_str());
    for (const auto& notice : notices_) std::printf("note: %s\n", notice.c_str());
    std::printf("kubeconfig: %s\nready\n", options_.kubeconfig.c_str());
    std::fflush(stdout);
  }

  void on_signal() {
    if (stopping_) std::_Exit(130);  // second signal: exit at once
    log::info("stopping");
    finish({});
  }

  void finish(Result<void> outcome) {
    if (stopping_) return;
    stopping_ = true;
    outcome_ = std::move(outcome);
    auto left = std::make_shared<int>(1 + (metrics_server_ ? 1 : 0) + (console_ ? 1 : 0));
    const auto stopped = [this, left] {
      if (--*left > 0) return;
      console_.reset();
      controller_.reset();
      journal_.reset();
      cluster_.reset();
      executor_.stop();
    };
    server_->stop(kStopGrace, stopped);
    if (metrics_server_) metrics_server_->stop(kStopGrace, stopped);
    if (console_) console_->stop(kStopGrace, stopped);
  }

  const UpOptions& options_;
  berth::http::AsioExecutor executor_;
  Metrics metrics_;
  StoreMetrics store_metrics_{metrics_};
  GaugeFamily connections_ = metrics_.gauge("berth_apiserver_connections", "Open connections.");
  GaugeFamily broken_ =
      metrics_.gauge("berth_broken_invariants", "How often an invariant was broken; anything but 0 is a bug.");
  GaugeFamily leading_ = metrics_.gauge("berth_leading", "1 when this process decides, 0 when it follows.");
  GaugeFamily controller_requests_ =
      metrics_.gauge("berth_controller_requests", "Requests that the controller has sent, by kind.");
  std::vector<embedded::File> external_kinds_;
  controller::ControllerOptions controller_options_;
  std::optional<DataDir> dir_;
  std::unique_ptr<apiserver::ApiServer> core_;
  std::unique_ptr<http::Router> router_;
  std::unique_ptr<cluster::PretendCluster> cluster_;
  std::optional<controller::ControllerMetrics> controller_metrics_;
  bool continues_ = false;            // the data directory has the state of an earlier run
  std::vector<std::string> notices_;  // about options without effect on that state
  JournalGauges journal_gauges_{metrics_};
  std::unique_ptr<journal::Journal> journal_;  // null: nothing is recorded
  std::unique_ptr<controller::Controller> controller_;
  std::unique_ptr<berth::http::HttpsServer> server_;
  std::string client_authority_;  // PEM
  std::unique_ptr<OnePath> metrics_page_;
  std::unique_ptr<berth::http::HttpsServer> metrics_server_;
  std::string metrics_url_;
  std::string console_token_;  // valid for this process; in no file
  std::unique_ptr<ConsoleHost> console_;
  bool all_applied_ = false;  // every object of the start
  bool ready_ = false;
  bool stopping_ = false;
  Result<void> outcome_;
};

}  // namespace

Result<void> run_up(const UpOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a limit of the size of files is an error of a write, as a full disk is
  return Up(options).run();
}

}  // namespace berth::cli
