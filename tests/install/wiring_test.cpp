// Consistency of the manifests: ports, selectors, Services, Secrets, webhooks, definitions.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "api/config/configuration.h"
#include "controller/configure.h"
#include "install/manifests.h"
#include "jobs/kinds/read/shipped.h"
#include "serve/keeping_sink.h"
#include "serve/webhooks.h"
#include "source_dir.h"

namespace berth::install::wiring_test {
namespace {

constexpr std::string_view kNamespace = "kueue-system";

const Json& pod_template() {
  static const Json& found = *find_path(the("Deployment", "berth-controller-manager"), {"spec", "template"});
  return found;
}

const Json& container() { return array_at(pod_template(), {"spec", "containers"})[0]; }

// Numbers of the container's ports, by name.
std::map<std::string, std::int64_t> ports() {
  std::map<std::string, std::int64_t> found;
  for (const Json& port : array_at(container(), {"ports"}))
    found.emplace(string_at(port, {"name"}), int_at(port, {"containerPort"}));
  return found;
}

std::string_view configuration_in(const Json& config_map) {
  return string_at(config_map, {"data", "controller_manager_config.yaml"});
}

Json configuration() {
  auto parsed = parse_yaml(configuration_in(the("ConfigMap", "berth-manager-config")));
  EXPECT_TRUE(parsed && parsed->size() == 1);
  return parsed ? parsed->front() : Json(nullptr);
}

TEST(Namespaces, AreTheOnesThatTheFileMakes) {
  EXPECT_EQ(name_of(manifests().front()), kNamespace) << "first of all";
  for (const Json& object : manifests()) {
    std::string_view ns = namespace_of(object);
    // reads the ConfigMap extension-apiserver-authentication there
    if (kind_of(object) == "RoleBinding" && ns == "kube-system") continue;
    EXPECT_TRUE(ns.empty() || ns == kNamespace) << name_of(object);
  }
}

TEST(Ports, OfTheContainerAreThoseOfTheConfiguration) {
  const Json config = configuration();
  const auto port_of = [](std::string_view address) { return std::stoll(std::string(address.substr(1))); };
  EXPECT_EQ(ports().at("webhook-server"), int_at(config, {"webhook", "port"}));
  EXPECT_EQ(ports().at("visibility"), int_at(config, {"visibilityServer", "bindPort"}));
  EXPECT_EQ(ports().at("metrics"), port_of(string_at(config, {"metrics", "bindAddress"})));
  EXPECT_EQ(ports().at("health"), port_of(string_at(config, {"health", "healthProbeBindAddress"})));
  for (const char* probe : {"livenessProbe", "readinessProbe"})
    EXPECT_EQ(string_at(container(), {probe, "httpGet", "port"}), "health");
}

TEST(Configurations, AreTakenByTheController) {
  std::ifstream service(source_path("packaging/debian/controller.yaml"));
  const std::string of_the_service((std::istreambuf_iterator<char>(service)), std::istreambuf_iterator<char>());
  const std::vector<Json> plain = read_documents("config/install/berth.yaml");
  const Json& map =
      *std::find_if(plain.begin(), plain.end(), [](const Json& one) { return kind_of(one) == "ConfigMap"; });
  struct Installed {
    std::string text;
    bool volcano;
  };
  for (const auto& [text, volcano] : {Installed{std::string(configuration_in(map)), false},
                                      {std::string(configuration_in(the("ConfigMap", "berth-manager-config"))), true},
                                      {of_the_service, false}}) {
    const auto read = api::config::read_configuration(text, "controller.yaml");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(read->warnings.empty()) << read->warnings.front();
    EXPECT_EQ(read->ns, kNamespace);
    EXPECT_EQ(read->volcano.enabled, volcano) << "beside Volcano, Berth decides only when told to";
  }
}

// Applying berth.yaml to a cluster with Volcano changes nothing for Volcano.
TEST(Volcano, IsLeftAloneUntilItsPartIsApplied) {
  const std::vector<Json> plain = read_documents("config/install/berth.yaml");
  for (const Json& one : plain) {
    if (kind_of(one) == "ConfigMap") continue;
    EXPECT_EQ(to_string(one).find("volcano"), std::string::npos) << kind_of(one) << " " << name_of(one);
  }
  for (const Json& one : read_documents("config/install/volcano.yaml")) {
    const bool known =
        std::any_of(plain.begin(), plain.end(), [&](const Json& other) { return same_object(one, other); });
    EXPECT_EQ(known, !name_of(one).starts_with("berth-volcano-")) << kind_of(one) << " " << name_of(one);
    EXPECT_TRUE(std::none_of(plain.begin(), plain.end(), [&](const Json& other) { return json_equal(one, other); }))
        << kind_of(one) << " " << name_of(one) << " is said twice";
  }
}

TEST(Services, SelectThePodsAndNameTheirPorts) {
  const auto services = all_of("Service");
  EXPECT_EQ(services.size(), 3U);
  const JsonObject& labels = object_at(pod_template(), {"metadata", "labels"});
  for (const Json* one : services) {
    const Json& service = *one;
    for (const auto& label : object_at(service, {"spec", "selector"})) {
      ASSERT_TRUE(labels.contains(label.key())) << name_of(service) << " " << label.key();
      EXPECT_EQ(labels.at(label.key()), label.value()) << name_of(service);
    }
    for (const Json& port : array_at(service, {"spec", "ports"}))
      EXPECT_TRUE(ports().contains(std::string(string_at(port, {"targetPort"})))) << name_of(service);
  }
  const JsonObject& selector =
      object_at(the("Deployment", "berth-controller-manager"), {"spec", "selector", "matchLabels"});
  for (const auto& label : selector) EXPECT_EQ(labels.at(label.key()), label.value());
}

TEST(Certificates, AreKeptWhereTheConfigurationSays) {
  const Json config = configuration();
  EXPECT_TRUE(bool_at(config, {"internalCertManagement", "enable"}));
  const Json& secret = the("Secret", string_at(config, {"internalCertManagement", "webhookSecretName"}));
  EXPECT_EQ(namespace_of(secret), string_at(config, {"namespace"}));
  the("Service", string_at(config, {"internalCertManagement", "webhookServiceName"}));
}

// The Service that a client configuration references exists and has the port.
void expect_service(const Json& reference, const std::string& who) {
  const Json& service = the("Service", string_at(reference, {"name"}));
  EXPECT_EQ(string_at(reference, {"namespace"}), namespace_of(service)) << who;
  const std::int64_t port = optional_int_at(reference, {"port"}).value_or(443);
  const JsonArray& all = array_at(service, {"spec", "ports"});
  EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const Json& one) { return int_at(one, {"port"}) == port; }))
      << who;
}

TEST(Webhooks, NameTheirServiceAndAPathOfTheirOwn) {
  for (const char* kind : {"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}) {
    const std::string verb = std::string(kind).starts_with("Mut") ? "/mutate" : "/validate";
    std::set<std::string> paths;
    EXPECT_EQ(all_of(kind).size(), 2U);
    for (const Json* configuration : all_of(kind)) {
      const bool volcano = name_of(*configuration).starts_with("berth-volcano-");
      EXPECT_FALSE(array_at(*configuration, {"webhooks"}).empty());
      for (const Json& webhook : array_at(*configuration, {"webhooks"})) {
        const std::string name(string_at(webhook, {"name"}));
        expect_service(*find_path(webhook, {"clientConfig", "service"}), name);
        const std::string path(string_at(webhook, {"clientConfig", "service", "path"}));
        EXPECT_TRUE(volcano ? path.ends_with(verb) : path.starts_with(verb + "-")) << path;
        EXPECT_TRUE(paths.insert(path).second) << path;
        EXPECT_EQ(string_at(webhook, {"failurePolicy"}), "Fail") << name << ": all kinds are managed by default";
        EXPECT_EQ(string_at(webhook, {"sideEffects"}), "None") << name;
      }
    }
  }
}

// The webhooks of all configurations of a kind.
std::vector<Json> webhooks_of(std::string_view kind) {
  std::vector<Json> found;
  for (const Json* configuration : all_of(kind)) {
    const JsonArray& some = array_at(*configuration, {"webhooks"});
    found.insert(found.end(), some.begin(), some.end());
  }
  return found;
}

// The HTTP status of the handler's answer to a review.
int asked(const std::string& path, const std::string& body) {
  controller::ControllerOptions options;
  for (const auto& kind : jobs::kinds::shipped_job_kinds()) options.kinds.push_back({kind, true});
  serve::WebhookHandler handler([](auto&&...) { return nullptr; }, controller::admission_policy(options));
  return serve::ask(handler, serve::request_of("POST", path, body))->response.value().status;
}

TEST(Webhooks, AreServedForTheirResources) {
  for (const char* kind : {"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}) {
    for (const Json& webhook : webhooks_of(kind)) {
      const Json& rule = array_at(webhook, {"rules"})[0];
      Json review = JsonObject{{"apiVersion", "admission.k8s.io/v1"}, {"kind", "AdmissionReview"}};
      Json& request = ensure_path(review, {"request"});
      request = JsonObject{{"uid", "u"}, {"operation", "CREATE"}};
      ensure_path(request, {"resource", "group"}) = array_at(rule, {"apiGroups"})[0];
      ensure_path(request, {"resource", "version"}) = array_at(rule, {"apiVersions"})[0];
      ensure_path(request, {"resource", "resource"}) = array_at(rule, {"resources"})[0];
      ensure_path(request, {"object", "metadata", "name"}) = "a";
      const std::string path(string_at(webhook, {"clientConfig", "service", "path"}));
      EXPECT_EQ(asked(path, to_string(review)), 200) << path;
    }
  }
  EXPECT_EQ(asked("/mutate-nothing", "{}"), 404);
  for (const Json* definition : all_of("CustomResourceDefinition")) {
    const std::string path(
        string_at(*definition, {"spec", "conversion", "webhook", "clientConfig", "service", "path"}));
    EXPECT_EQ(asked(path, "{}"), 400) << path << " is there, and this is no review";
  }
}

// Otherwise the controller could not start again when it is down.
TEST(Webhooks, LeaveTheSystemsAndTheirOwnNamespaceAlone) {
  for (const char* kind : {"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}) {
    for (const Json& webhook : webhooks_of(kind)) {
      const Json& rule = array_at(webhook, {"rules"})[0];
      if (array_at(rule, {"apiGroups"})[0] == Json("kueue.x-k8s.io")) continue;
      if (array_at(rule, {"resources"})[0] == Json("queues")) continue;  // cluster-scoped
      EXPECT_EQ(to_string(*find(webhook, "namespaceSelector")),
                R"({"matchExpressions":[{"key":"kubernetes.io/metadata.name","operator":"NotIn",)"
                R"("values":["kube-system","kueue-system"]}]})");
    }
  }
}

// A definition without the parts that the chart adds.
Json plain(Json definition) {
  JsonObject& metadata = definition.as_object()["metadata"].as_object();
  metadata.erase("annotations");
  metadata.erase("labels");
  definition.as_object()["spec"].as_object().erase("conversion");
  return definition;
}

TEST(Definitions, AreThoseOfConfigCrdWithAWebhookForConversion) {
  std::map<std::string, Json> installed;
  for (const Json* one : all_of("CustomResourceDefinition")) {
    const Json& definition = *one;
    const std::string name(name_of(definition));
    expect_service(*find_path(definition, {"spec", "conversion", "webhook", "clientConfig", "service"}), name);
    EXPECT_EQ(string_at(definition, {"metadata", "annotations", "helm.sh/resource-policy"}), "keep");
    installed.emplace(name, plain(definition));
  }
  std::size_t found = 0;
  for (const auto& file : std::filesystem::directory_iterator(source_path("config/crd"))) {
    const Json source = read_documents("config/crd/" + file.path().filename().string()).at(0);
    if (string_at(source, {"spec", "group"}) != "kueue.x-k8s.io") continue;
    ++found;
    const auto copy = installed.find(std::string(name_of(source)));
    ASSERT_NE(copy, installed.end()) << name_of(source);
    EXPECT_TRUE(json_equal(copy->second, plain(source))) << name_of(source) << ": run scripts/render";
  }
  EXPECT_EQ(found, installed.size());
  EXPECT_GE(found, 11U);
}

TEST(Visibility, IsAnsweredByItsService) {
  const auto services = all_of("APIService");
  EXPECT_EQ(services.size(), 2U);
  for (const Json* one : services) {
    const Json& service = *one;
    expect_service(*find_path(service, {"spec", "service"}), std::string(name_of(service)));
    EXPECT_FALSE(bool_at(service, {"spec", "insecureSkipTLSVerify"}));
  }
  const Json& schema = *all_of("FlowSchema").at(0);
  the("PriorityLevelConfiguration", string_at(schema, {"spec", "priorityLevelConfiguration", "name"}));
}

TEST(Pods, AreRestricted) {
  EXPECT_EQ(string_at(manifests().front(), {"metadata", "labels", "pod-security.kubernetes.io/enforce"}), "restricted");
  EXPECT_TRUE(bool_at(pod_template(), {"spec", "securityContext", "runAsNonRoot"}));
  EXPECT_EQ(string_at(pod_template(), {"spec", "securityContext", "seccompProfile", "type"}), "RuntimeDefault");
  const Json& context = *find(container(), "securityContext");
  EXPECT_TRUE(bool_at(context, {"readOnlyRootFilesystem"}));
  EXPECT_EQ(find(context, "allowPrivilegeEscalation")->as_bool(), false);
  EXPECT_EQ(to_string(*find_path(context, {"capabilities", "drop"})), R"(["ALL"])");
}

}  // namespace
}  // namespace berth::install::wiring_test
