#include "e2e/real_cluster.h"

#include <array>
#include <stdexcept>
#include <utility>

#include "base/yaml.h"
#include "e2e/controller.h"
#include "source_dir.h"
#include "support/real_api_server.h"

namespace berth::e2e {
namespace {

using testing_support::Daemon;
using testing_support::RealApiServer;

// Applied in this order.
const std::array<std::string, 2> kManifests = {source_path("config/install/berth.yaml"),
                                               source_path("config/install/volcano.yaml")};
constexpr const char* kNamespace = "kueue-system";
constexpr const char* kServiceAccount = "kueue-controller-manager";

testing_support::RealApiServerOptions as_in_a_cluster() {
  testing_support::RealApiServerOptions options;
  options.aggregation = true;
  return options;
}

// Services have no address here: their name resolves to this host, and the port is that of a process.
void point_to_this_machine(Json& value, int port) {
  if (auto* object = value.if_object()) {
    if (auto* config = object->if_contains("clientConfig"); config != nullptr && find(*config, "service") != nullptr)
      ensure_path(*config, {"service", "port"}) = port;
    for (auto& [key, item] : *object) point_to_this_machine(item, port);
  } else if (auto* array = value.if_array()) {
    for (auto& item : *array) point_to_this_machine(item, port);
  }
}

// The objects of config/install, except the controller's Deployment: the controller is a process here.
std::string manifests(int webhook_port, int visibility_port) {
  JsonArray items;
  for (const std::string& path : kManifests) {
    auto documents = parse_yaml(testing_support::content_of(path));
    if (!documents) throw std::runtime_error(path + ": " + documents.error().message);
    for (Json& document : *documents) {
      const auto kind = string_at(document, {"kind"});
      if (kind == "Deployment") continue;
      if (kind == "APIService") ensure_path(document, {"spec", "service", "port"}) = visibility_port;
      if (kind == "Service")
        document.as_object()["spec"] = JsonObject{{"type", "ExternalName"}, {"externalName", "localhost"}};
      point_to_this_machine(document, webhook_port);
      items.push_back(std::move(document));
    }
  }
  return to_string(JsonObject{{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}});
}

class RealCluster final : public Cluster {
 public:
  explicit RealCluster(const std::string& nodes) : server_(as_in_a_cluster()) {
    const int webhook_port = free_port(), visibility_port = free_port();
    do_or_throw({"apply", "--server-side", "--validate=strict", "-f", "-"}, manifests(webhook_port, visibility_port));
    do_or_throw({"wait", "--for=condition=established", "--timeout=100s", "crd", "--all"});
    server_.start_garbage_collector();
    controller_ = berth(
        "controller", controllers_kubeconfig(),
        {"--config", write_file("config.yaml", controller_configuration(webhook_port, visibility_port))}, "leading\n");
    std::vector<std::string> flags = {"--leader-worker-sets", "--vcjobs"};
    if (!nodes.empty()) flags.insert(flags.end(), {"--nodes", nodes});
    cluster_ = berth("cluster", kubeconfig(), flags, "ready\n");
    wait_for_webhooks();
  }

  std::string kubeconfig() const override { return server_.kubeconfig(); }

 private:
  std::string do_or_throw(const std::vector<std::string>& arguments, const std::string& input = "") {
    Finished finished = kubectl(arguments, input);
    if (finished.exit_code != 0)
      throw std::runtime_error("kubectl " + arguments[0] + ": " + finished.out + finished.err);
    return std::move(finished.out);
  }

  // The controller's credentials have the rights of its role only.
  std::string controllers_kubeconfig() {
    const std::string path =
        std::string("/api/v1/namespaces/") + kNamespace + "/serviceaccounts/" + kServiceAccount + "/token";
    const auto answer = parse_json(do_or_throw({"create", "--raw", path, "-f", "-"},
                                               R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest"})"));
    if (!answer) throw std::runtime_error(path + ": " + answer.error().message);
    auto config = parse_yaml(testing_support::content_of(kubeconfig())).value().at(0);
    for (Json& user : ensure_path(config, {"users"}).as_array())
      user.as_object()["user"] = JsonObject{{"token", string_at(*answer, {"status", "token"})}};
    return write_file("controller.kubeconfig", to_string(config));
  }

  std::unique_ptr<Daemon> berth(const std::string& command, const std::string& access,
                                std::vector<std::string> arguments, const std::string& when_ready) {
    std::vector<std::string> all = {BERTH_PROGRAM, command, "--kubeconfig", access};
    all.insert(all.end(), arguments.begin(), arguments.end());
    auto daemon = std::make_unique<Daemon>(std::move(all), dir() + "/" + command + ".log");
    if (!daemon->wait_for_output(when_ready))
      throw std::runtime_error("berth " + command + " is not ready:\n" + daemon->last_lines());
    return daemon;
  }

  // The API server receives the webhooks' CA a moment later.
  void wait_for_webhooks() {
    const std::string flavor = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: probe}\n";
    Finished last;
    const bool answered = eventually([&] {
      last = kubectl({"create", "--dry-run=server", "-f", "-"}, flavor);
      return last.exit_code == 0;
    });
    if (!answered) throw std::runtime_error("webhooks are not called: " + last.err + controller_->last_lines());
  }

  RealApiServer server_;
  std::unique_ptr<Daemon> controller_, cluster_;
};

const std::vector<std::string> kNodes = {"--nodes", "1x1x2", "--node-resources", "cpu=16,memory=64Gi"};

class RealServer final : public Cluster {
 public:
  RealServer() {
    must({"apply", "--server-side", "-f", source_path("config/crd"), "-f",
          source_path("config/external/leaderworkersets.yaml")});
    must({"wait", "--for=condition=established", "--timeout=100s", "crd", "--all"});
    server_.start_garbage_collector();
    std::vector<std::string> command = {BERTH_PROGRAM, "cluster", "--kubeconfig", kubeconfig(), "--leader-worker-sets"};
    command.insert(command.end(), kNodes.begin(), kNodes.end());
    nodes_ = std::make_unique<Daemon>(command, dir() + "/nodes.log");
  }
  std::string kubeconfig() const override { return server_.kubeconfig(); }

 private:
  RealApiServer server_;
  std::unique_ptr<Daemon> nodes_;
};

}  // namespace

std::unique_ptr<Cluster> make_cluster_without_controller(On on) {
  if (on == On::kRealApiServer) return std::make_unique<RealServer>();
  std::vector<std::string> arguments = {"--controller=false"};
  arguments.insert(arguments.end(), kNodes.begin(), kNodes.end());
  return std::make_unique<Server>(arguments);
}

std::unique_ptr<Cluster> make_real_cluster(const std::string& nodes) { return std::make_unique<RealCluster>(nodes); }

}  // namespace berth::e2e
