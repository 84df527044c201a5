#include <chrono>
#include <exception>
#include <future>
#include <map>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>

#include "api/status.h"
#include "base/embedded.h"
#include "base/yaml.h"
#include "conformance/configured.h"
#include "conformance/real_front.h"
#include "conformance/site.h"
#include "controller/controller.h"
#include "embedded/apiserver/crd/external_kinds.h"
#include "embedded/cluster/cluster.h"
#include "http/asio_executor.h"
#include "kube/client.h"
#include "support/https_client.h"
#include "support/real_api_server.h"

namespace berth::conformance {
namespace {

using http::AsioExecutor;
using testing_support::eventually;

// A recorded state is reached within this time, or never: the longest backoffs in the recordings take some seconds.
constexpr std::chrono::seconds kForALook{40};
// A state must hold at two consecutive checks with this interval.
constexpr std::chrono::milliseconds kBetweenChecks{250};

constexpr const char* kVisibility = "/apis/visibility.kueue.x-k8s.io/v1beta2";

struct Kind {
  const char *group, *version, *resource;
  bool namespaced;
};
const std::map<std::string_view, Kind> kKinds = {
    {"Namespace", {"", "v1", "namespaces", false}},
    {"Node", {"", "v1", "nodes", false}},
    {"Pod", {"", "v1", "pods", true}},
    {"PodTemplate", {"", "v1", "podtemplates", true}},
    {"LimitRange", {"", "v1", "limitranges", true}},
    {"Event", {"events.k8s.io", "v1", "events", true}},
    {"Job", {"batch", "v1", "jobs", true}},
    {"Deployment", {"apps", "v1", "deployments", true}},
    {"StatefulSet", {"apps", "v1", "statefulsets", true}},
    {"LeaderWorkerSet", {"leaderworkerset.x-k8s.io", "v1", "leaderworkersets", true}},
    {"JobSet", {"jobset.x-k8s.io", "v1alpha2", "jobsets", true}},
    {"PyTorchJob", {"kubeflow.org", "v1", "pytorchjobs", true}},
    {"TFJob", {"kubeflow.org", "v1", "tfjobs", true}},
    {"XGBoostJob", {"kubeflow.org", "v1", "xgboostjobs", true}},
    {"PaddleJob", {"kubeflow.org", "v1", "paddlejobs", true}},
    {"JAXJob", {"kubeflow.org", "v1", "jaxjobs", true}},
    {"MPIJob", {"kubeflow.org", "v2beta1", "mpijobs", true}},
    {"TrainJob", {"trainer.kubeflow.org", "v1alpha1", "trainjobs", true}},
    {"TrainingRuntime", {"trainer.kubeflow.org", "v1alpha1", "trainingruntimes", true}},
    {"ClusterTrainingRuntime", {"trainer.kubeflow.org", "v1alpha1", "clustertrainingruntimes", false}},
    {"RayCluster", {"ray.io", "v1", "rayclusters", true}},
    {"RayJob", {"ray.io", "v1", "rayjobs", true}},
    {"RayService", {"ray.io", "v1", "rayservices", true}},
    {"AppWrapper", {"workload.codeflare.dev", "v1beta2", "appwrappers", true}},
    {"SparkApplication", {"sparkoperator.k8s.io", "v1beta2", "sparkapplications", true}},
    {"PriorityClass", {"scheduling.k8s.io", "v1", "priorityclasses", false}},
    {"CustomResourceDefinition", {"apiextensions.k8s.io", "v1", "customresourcedefinitions", false}},
    {"ProvisioningRequest", {"autoscaling.x-k8s.io", "v1", "provisioningrequests", true}},
    {"ResourceFlavor", {"kueue.x-k8s.io", "v1beta2", "resourceflavors", false}},
    {"ClusterQueue", {"kueue.x-k8s.io", "v1beta2", "clusterqueues", false}},
    {"LocalQueue", {"kueue.x-k8s.io", "v1beta2", "localqueues", true}},
    {"Cohort", {"kueue.x-k8s.io", "v1beta2", "cohorts", false}},
    {"AdmissionCheck", {"kueue.x-k8s.io", "v1beta2", "admissionchecks", false}},
    {"WorkloadPriorityClass", {"kueue.x-k8s.io", "v1beta2", "workloadpriorityclasses", false}},
    {"Topology", {"kueue.x-k8s.io", "v1beta2", "topologies", false}},
    {"ProvisioningRequestConfig", {"kueue.x-k8s.io", "v1beta2", "provisioningrequestconfigs", false}},
    {"Workload", {"kueue.x-k8s.io", "v1beta2", "workloads", true}},
    {"Service", {"", "v1", "services", true}},
    {"MutatingWebhookConfiguration", {"admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations", false}},
    {"ValidatingWebhookConfiguration",
     {"admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations", false}},
    {"APIService", {"apiregistration.k8s.io", "v1", "apiservices", false}},
};

testing_support::RealApiServerOptions server_options(const SiteOptions& site) {
  testing_support::RealApiServerOptions options;
  options.aggregation = site.webhooks;
  if (site.webhooks) options.tokens = {std::string(kPastWebhooks) + "," + kPastWebhooks + ",1,\"system:masters\""};
  return options;
}

// The controller and the Job controller run on their own thread.
class RealSite final : public Site {
 public:
  explicit RealSite(const SiteOptions& options)
      : options_(configured(options)),
        job_controller_(options.job_controller),
        apps_controllers_(options.apps_controllers),
        server_(server_options(options)) {
    const auto external_kinds = apiserver::choose_external_kinds(options.external_kinds);
    if (!external_kinds) throw std::runtime_error(external_kinds.error().message);
    auto access = kube::load_kubeconfig({server_.kubeconfig()});
    if (!access) throw std::runtime_error(access.error().message);
    person_ = client("recorder", *access);
    kube::Access past = *access;
    past.certificate = past.key = {};
    past.token = kPastWebhooks;
    past_webhooks_ = client("recorder", past);
    loop_ = std::thread([this] { executor_.run(); });
    try {
      install_definitions(embedded::crds());
      install_definitions(external_kinds.value());
      if (options.garbage_collector) server_.start_garbage_collector();
      start(*access);
      if (options.webhooks) open_front();
    } catch (...) {
      stop();
      throw;
    }
  }
  ~RealSite() override { stop(); }

  api::RestResponse call(api::RestRequest request) override { return call_as(*person_, std::move(request)); }
  api::RestResponse call_past_webhooks(api::RestRequest request) override {
    return call_as(*past_webhooks_, std::move(request));
  }

  HttpAnswer ask(const std::string& method, const std::string& path, const std::string& as) override {
    std::vector<std::pair<std::string, std::string>> headers = {{"Accept", "application/json"}};
    if (!as.empty()) headers.emplace_back("Impersonate-User", as);
    testing_support::HttpsClient client(server_.port(), server_.authority(), server_.admin());
    const auto answer = client.request(method, path, "", headers);
    auto body = parse_json(answer.body);
    return {answer.status, body ? std::move(*body) : Json(answer.body)};
  }

  Result<api::RestRequest> request_for(std::string_view api_version, std::string_view kind, std::string_view ns,
                                       std::string_view name) const override {
    const auto it = kKinds.find(kind);
    if (it == kKinds.end()) return fail("no served resource has the kind \"" + std::string(kind) + "\"");
    api::RestRequest request;
    request.resource = {it->second.group, it->second.version, it->second.resource};
    if (!api_version.empty()) {
      const auto slash = api_version.find('/');
      request.resource.version = api_version.substr(slash == std::string_view::npos ? 0 : slash + 1);
    }
    if (it->second.namespaced) request.ns = ns.empty() ? "default" : std::string(ns);
    request.name = name;
    return request;
  }

  Time now() const override { return std::chrono::floor<Duration>(std::chrono::system_clock::now()); }

  bool real_time() const override { return true; }
  std::set<std::string> traits() override { return {server_.minor_version()}; }

  void after_action() override {
    std::this_thread::sleep_until(std::chrono::ceil<std::chrono::seconds>(std::chrono::system_clock::now()));
  }

  void wait(Duration time) override { std::this_thread::sleep_for(time); }

  void until(const std::function<bool()>& settled) override {
    const auto end = std::chrono::steady_clock::now() + kForALook;
    for (int held = 0; held < 2 && std::chrono::steady_clock::now() < end;) {
      std::this_thread::sleep_for(kBetweenChecks);
      held = settled() ? held + 1 : 0;
    }
  }

 private:
  api::RestResponse call_as(kube::Client& client, api::RestRequest request) {
    auto answer = std::make_shared<std::promise<api::RestResponse>>();
    auto answered = answer->get_future();
    executor_.post([&client, answer, request = std::move(request)]() mutable {
      client.call(std::move(request), [answer](api::RestResponse response) { answer->set_value(std::move(response)); });
    });
    if (answered.wait_for(testing_support::kDeadline) == std::future_status::ready) return answered.get();
    api::RestResponse none;
    none.code = 0;
    return none;
  }

  std::unique_ptr<kube::Client> client(const std::string& name, const kube::Access& access) {
    kube::ClientOptions options;
    options.user_agent = name;
    auto made = kube::Client::make(executor_, access, options);
    if (!made) throw std::runtime_error(made.error().message);
    return std::move(*made);
  }

  void install_definitions(std::span<const embedded::File> files) {
    for (const embedded::File& file : files) {
      auto definitions = parse_yaml(file.content);
      for (Json& definition : definitions.value()) {
        const std::string name(string_at(definition, {"metadata", "name"}));
        if (const auto created = create(std::move(definition)); !created)
          throw std::runtime_error(name + ": " + created.error().message);
        if (!eventually([&] { return established(name); })) throw std::runtime_error(name + " is not established");
      }
    }
  }

  bool established(const std::string& name) {
    const auto definition = get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", name);
    if (!definition) return false;
    for (const Json& condition : array_at(*definition, {"status", "conditions"})) {
      if (string_at(condition, {"type"}) == "Established" && string_at(condition, {"status"}) == "True") return true;
    }
    return false;
  }

  void start(const kube::Access& access) {
    controller_client_ = client("berth-controller", access);
    cluster_client_ = client("berth-cluster", access);
    cluster::ClusterOptions options;
    options.runs_nodes = false;
    options.job_controller = job_controller_;
    options.apps_controllers = apps_controllers_;
    auto made = cluster::PretendCluster::make(*cluster_client_, executor_, options);
    if (!made) throw std::runtime_error(made.error().message);
    cluster_ = std::move(*made);
    controller_ = std::make_unique<controller::Controller>(*controller_client_, executor_, options_);
    on_loop([this] {
      cluster_->start();
      controller_->lead();
      controller_->start();
    });
    if (!eventually([this] {
          bool leading = false;
          on_loop([&] { leading = controller_->leading(); });
          return leading;
        }))
      throw std::runtime_error("the controller could not read the API server's objects");
  }

  // Waits until the API server calls the webhooks and the visibility API.
  void open_front() {
    std::vector<Json> objects;
    on_loop([&] {
      front_ = std::make_unique<RealFront>(*controller_client_, executor_, *controller_, options_);
      objects = front_->objects();
    });
    for (Json& object : objects) {
      const std::string name(string_at(object, {"metadata", "name"}));
      if (const auto created = create(std::move(object)); !created)
        throw std::runtime_error(name + ": " + created.error().message);
    }
    const bool called = eventually([&] {
      auto probe = request_for("", "ResourceFlavor", "", {}).value();
      probe.verb = api::Verb::kCreate;
      probe.dry_run = true;
      probe.body = JsonObject{{"apiVersion", "kueue.x-k8s.io/v1beta2"},
                              {"kind", "ResourceFlavor"},
                              {"metadata", JsonObject{{"name", "probe"}}}};
      return !array_at(call(std::move(probe)).body, {"metadata", "finalizers"}).empty();
    });
    const bool asked = eventually([&] { return ask("GET", kVisibility, "").status == 200; });
    if (!called || !asked) throw std::runtime_error("the API server does not call webhooks or the visibility API");
  }

  void on_loop(const std::function<void()>& task) {
    std::promise<void> done;
    executor_.post([&] {
      try {
        task();
        done.set_value();
      } catch (...) {
        done.set_exception(std::current_exception());
      }
    });
    done.get_future().get();
  }

  void stop() {
    on_loop([this] {
      front_.reset();
      controller_.reset();
      cluster_.reset();
    });
    executor_.stop();
    loop_.join();
  }

  const controller::ControllerOptions options_;
  const bool job_controller_, apps_controllers_;
  testing_support::RealApiServer server_;
  AsioExecutor executor_;
  std::unique_ptr<kube::Client> person_, past_webhooks_, controller_client_, cluster_client_;
  std::unique_ptr<cluster::PretendCluster> cluster_;
  std::unique_ptr<controller::Controller> controller_;
  std::unique_ptr<RealFront> front_;
  std::thread loop_;
};

}  // namespace

std::unique_ptr<Site> real_site(const SiteOptions& options) { return std::make_unique<RealSite>(options); }

}  // namespace berth::conformance
