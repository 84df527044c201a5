// The chart and the manifests that are rendered from it. Rendering needs Go and two of its libraries; the tests are
// skipped where they are missing.
#include <gmock/gmock.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "install/manifests.h"
#include "source_dir.h"

namespace berth::install::render_test {
namespace {

namespace fs = std::filesystem;

struct Ran {
  int exit_code = -1;
  std::string output;  // stdout and stderr
};

Ran run(const std::string& command) {
  Ran ran;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen((command + " 2>&1").c_str(), "r"), ::pclose);
  std::array<char, 4096> buffer{};
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe.get()))
    ran.output.append(buffer.data(), n);
  ran.exit_code = ::pclose(pipe.release());
  return ran;
}

bool can_render() {
  return run("go version").exit_code == 0 && fs::exists("/usr/share/gocode/src/github.com/Masterminds/sprig") &&
         fs::exists("/usr/share/gocode/src/gopkg.in/yaml.v3");
}

#define SKIP_WITHOUT_RENDERER()                                                                   \
  if (!can_render())                                                                              \
  GTEST_SKIP() << "not checked: rendering needs golang-go, golang-github-masterminds-sprig-dev, " \
                  "golang-gopkg-yaml.v3-dev"

const std::string kRender = source_path("scripts/render");

// Renders the chart with these values.
Ran render(const std::string& values) {
  std::string path = fs::temp_directory_path() / "berth-values-XXXXXX";
  const int file = ::mkstemp(path.data());
  EXPECT_GE(file, 0);
  std::FILE* out = ::fdopen(file, "w");
  std::fputs(values.c_str(), out);
  std::fclose(out);
  Ran ran = run(kRender + " --values " + path);
  fs::remove(path);
  return ran;
}

// The same, parsed into documents.
std::vector<Json> rendered(const std::string& values) {
  const Ran ran = render(values);
  EXPECT_EQ(ran.exit_code, 0) << ran.output;
  auto documents = parse_yaml(ran.output);
  EXPECT_TRUE(documents) << documents.error().message;
  return documents ? std::move(*documents) : std::vector<Json>();
}

std::vector<std::string> names(const std::vector<Json>& objects, std::string_view kind) {
  std::vector<std::string> found;
  for (const Json& object : objects) {
    if (kind_of(object) == kind) found.emplace_back(name_of(object));
  }
  return found;
}

Json object(const std::vector<Json>& objects, std::string_view kind, std::string_view name) {
  for (const Json& one : objects) {
    if (kind_of(one) == kind && name_of(one) == name) return one;
  }
  ADD_FAILURE() << "no " << kind << " " << name;
  return Json(nullptr);
}

TEST(Render, ThePlainManifestsAreWhatTheChartGives) {
  SKIP_WITHOUT_RENDERER();
  const Ran ran = run(kRender + " --check");
  EXPECT_EQ(ran.exit_code, 0) << ran.output;
}

TEST(Render, CertManagerTakesTheCertificatesOver) {
  SKIP_WITHOUT_RENDERER();
  const auto objects = rendered("enableCertManager: true\nenablePrometheus: true\n");
  EXPECT_THAT(names(objects, "Certificate"),
              testing::UnorderedElementsAre("kueue-serving-cert", "kueue-metrics-cert", "kueue-visibility-cert"));
  EXPECT_THAT(names(objects, "Secret"), testing::IsEmpty());
  EXPECT_THAT(names(objects, "Role"),
              testing::UnorderedElementsAre("kueue-leader-election-role", "kueue-multikueue-role"))
      << "no Secret of certificates is written";
  const Json webhooks = object(objects, "MutatingWebhookConfiguration", "kueue-mutating-webhook-configuration");
  EXPECT_EQ(string_at(webhooks, {"metadata", "annotations", "cert-manager.io/inject-ca-from"}),
            "kueue-system/kueue-serving-cert");
  const Json config = object(objects, "ConfigMap", "berth-manager-config");
  EXPECT_THAT(std::string(string_at(config, {"data", "controller_manager_config.yaml"})),
              testing::HasSubstr("internalCertManagement:\n  enable: false\n"));
  // The mounted Secrets are those that the Certificates fill.
  const Json deployment = object(objects, "Deployment", "berth-controller-manager");
  std::vector<std::string> mounted, filled;
  for (const Json& volume : array_at(deployment, {"spec", "template", "spec", "volumes"})) {
    if (find(volume, "secret") != nullptr) mounted.emplace_back(string_at(volume, {"secret", "secretName"}));
  }
  for (const std::string& name : names(objects, "Certificate"))
    filled.emplace_back(string_at(object(objects, "Certificate", name), {"spec", "secretName"}));
  EXPECT_THAT(mounted, testing::UnorderedElementsAreArray(filled));
}

TEST(Render, TheOlderVersionIsLeftOutWhereNobodyAsksForIt) {
  SKIP_WITHOUT_RENDERER();
  const auto both = rendered(""), one = rendered("crds: {v1beta1: false}\n");
  const auto definitions = names(both, "CustomResourceDefinition");
  EXPECT_EQ(names(one, "CustomResourceDefinition"), definitions);
  EXPECT_EQ(one.size(), both.size());
  for (const std::string& name : definitions) {
    Json expected = object(both, "CustomResourceDefinition", name);
    expected.at("spec").as_object().erase("conversion");
    auto& versions = expected.at("spec").at("versions").as_array();
    ASSERT_EQ(versions.size(), 2u) << name;
    EXPECT_EQ(string_at(versions[1], {"name"}), "v1beta1") << name;
    versions.pop_back();
    EXPECT_EQ(object(one, "CustomResourceDefinition", name), expected) << name;
  }
}

TEST(Render, TheServiceMonitorSelectsTheMetricsServiceAlone) {
  SKIP_WITHOUT_RENDERER();
  const auto objects = rendered("enablePrometheus: true\nfullnameOverride: other\n");
  const Json monitor = object(objects, "ServiceMonitor", "other-controller-manager-metrics-monitor");
  const JsonObject& selector = object_at(monitor, {"spec", "selector", "matchLabels"});
  std::vector<std::string> selected;
  for (const std::string& name : names(objects, "Service")) {
    const Json service = object(objects, "Service", name);
    const JsonObject& labels = object_at(service, {"metadata", "labels"});
    bool all = !selector.empty();
    for (const auto& label : selector)
      all = all && labels.contains(label.key()) && labels.at(label.key()) == label.value();
    if (all) selected.push_back(name);
  }
  EXPECT_THAT(selected, testing::ElementsAre("other-controller-manager-metrics-service"));
}

TEST(Render, PortsFollowTheConfiguration) {
  SKIP_WITHOUT_RENDERER();
  const auto objects = rendered(R"(
controllerManager:
  featureGates: [{name: PartialAdmission, enabled: false}, {name: TASBalancedPlacement, enabled: true}]
managerConfig:
  controllerManagerConfigYaml: |
    apiVersion: config.kueue.x-k8s.io/v1beta2
    kind: Configuration
    webhook: {port: 19443}
    metrics: {bindAddress: "0"}
    leaderElection: {resourceName: other}
)");
  const Json deployment = object(objects, "Deployment", "berth-controller-manager");
  const Json& container = array_at(deployment, {"spec", "template", "spec", "containers"})[0];
  std::vector<std::string> ports;
  for (const Json& port : array_at(container, {"ports"}))
    ports.push_back(std::string(string_at(port, {"name"})) + " " + std::to_string(int_at(port, {"containerPort"})));
  EXPECT_THAT(ports, testing::ElementsAre("webhook-server 19443", "health 8081", "visibility 8082"));
  EXPECT_THAT(names(objects, "Service"),
              testing::UnorderedElementsAre("kueue-webhook-service", "kueue-visibility-server"))
      << "metrics are off";
  EXPECT_THAT(to_string(*find(container, "args")),
              testing::HasSubstr("--feature-gates=PartialAdmission=false,TASBalancedPlacement=true"));
  EXPECT_THAT(to_string(object(objects, "Role", "kueue-leader-election-role")), testing::HasSubstr(R"(["other"])"));
}

// Volcano itself may run in the cluster: Berth manages its objects only when it is enabled.
TEST(Render, VolcanosPartIsThereWhenAskedFor) {
  SKIP_WITHOUT_RENDERER();
  for (const bool asked : {false, true}) {
    const auto objects = rendered(asked ? "volcano: {enabled: true}\n" : "volcano: {}\n");
    const Json config = object(objects, "ConfigMap", "berth-manager-config");
    EXPECT_THAT(std::string(string_at(config, {"data", "controller_manager_config.yaml"})),
                testing::HasSubstr(asked ? "volcano:\n  enabled: true\n" : "volcano:\n  enabled: false\n"));
    EXPECT_EQ(names(objects, "MutatingWebhookConfiguration").size(), asked ? 2U : 1U);
    EXPECT_EQ(names(objects, "ValidatingWebhookConfiguration").size(), asked ? 2U : 1U);
    for (const Json& one : objects) {
      if (asked || kind_of(one) == "ConfigMap") continue;
      EXPECT_EQ(to_string(one).find("volcano"), std::string::npos) << kind_of(one) << " " << name_of(one);
    }
  }
}

TEST(Render, VolcanosDefinitionsComeWhenAskedFor) {
  SKIP_WITHOUT_RENDERER();
  const std::string of_queues = "queues.scheduling.volcano.sh";
  EXPECT_THAT(names(rendered("crds: {install: true}\n"), "CustomResourceDefinition"),
              testing::Not(testing::Contains(of_queues)));
  const auto objects = rendered("volcano: {enabled: true, crds: {install: true}}\nenableCertManager: true\n");
  EXPECT_THAT(names(objects, "CustomResourceDefinition"),
              testing::IsSupersetOf({of_queues, std::string("podgroups.scheduling.volcano.sh"),
                                     std::string("commands.bus.volcano.sh"), std::string("jobs.batch.volcano.sh")}));
  const Json queues = object(objects, "CustomResourceDefinition", of_queues);
  EXPECT_EQ(string_at(queues, {"metadata", "annotations", "helm.sh/resource-policy"}), "keep");
  EXPECT_EQ(object_at(queues, {"metadata", "annotations"}).size(), 1U) << "nothing is converted, so nobody is trusted";
  EXPECT_EQ(find_path(queues, {"spec", "conversion"}), nullptr);
}

TEST(Render, TheJournalHasAVolumeWhenAskedFor) {
  SKIP_WITHOUT_RENDERER();
  for (const auto& document : rendered("journal: {enabled: true, maxSize: 1Gi}")) {
    if (string_at(document, {"kind"}) != "Deployment") continue;
    const auto& spec = object_at(document, {"spec", "template", "spec"});
    const Json& container = spec.at("containers").as_array().at(0);
    const std::string args = to_string(container.at("args"));
    EXPECT_THAT(args, testing::HasSubstr("--journal=/var/lib/berth/journal/$(POD_NAME)"));
    EXPECT_THAT(args, testing::HasSubstr("--journal-max-size=1Gi"));
    EXPECT_THAT(to_string(container.at("volumeMounts")), testing::HasSubstr("/var/lib/berth/journal"));
    EXPECT_THAT(to_string(spec.at("volumes")), testing::HasSubstr("emptyDir"));
    return;
  }
  FAIL() << "there is no Deployment";
}

TEST(Render, TheConsoleComesWithARoleThatOnlyReads) {
  SKIP_WITHOUT_RENDERER();
  for (const auto& document : rendered("")) {
    EXPECT_THAT(string_at(document, {"metadata", "name"}), testing::Not(testing::HasSubstr("console")));
  }
  const auto objects = rendered(
      "enableCertManager: true\n"
      "console: {enabled: true, allowChanges: true, trustedProxies: [10.0.0.0/8, fd00::/8], ingress: {enabled: true, "
      "host: berth.example.org}}");
  const Json role = object(objects, "ClusterRole", "berth-console");
  for (const Json& rule : role.as_object().at("rules").as_array()) {
    const std::string group = to_string(rule.at("apiGroups").as_array().at(0));
    for (const Json& verb : rule.at("verbs").as_array()) {
      const std::string text(verb.as_string());
      if (text == "create") {
        EXPECT_THAT(group, testing::AnyOf("\"authentication.k8s.io\"", "\"authorization.k8s.io\""));
      } else {
        EXPECT_THAT(text, testing::AnyOf("get", "list", "watch"));
      }
    }
  }
  const Json deployment = object(objects, "Deployment", "berth-console");
  const Json& container = object_at(deployment, {"spec", "template", "spec"}).at("containers").as_array().at(0);
  const std::string args = to_string(container.at("args"));
  for (const char* arg : {"--tls-cert=/etc/berth-console/tls.crt", "--allow-changes", "--listen=0.0.0.0:8443",
                          "--trusted-proxies=10.0.0.0/8,fd00::/8"})
    EXPECT_THAT(args, testing::HasSubstr(arg));
  EXPECT_THAT(to_string(object(objects, "Ingress", "berth-console")), testing::HasSubstr("berth.example.org"));
  EXPECT_THAT(to_string(object(objects, "Certificate", "kueue-console-cert")),
              testing::HasSubstr("berth-console.kueue-system.svc"));
  const Ran open = render("console: {enabled: true}\n");
  EXPECT_NE(open.exit_code, 0);
  EXPECT_THAT(open.output, testing::HasSubstr("console.tls.certificateSecret"));
  const Ran nameless = render("console: {enabled: true, tls: {enabled: false}, ingress: {enabled: true}}\n");
  EXPECT_NE(nameless.exit_code, 0);
  EXPECT_THAT(nameless.output, testing::HasSubstr("console.ingress.host"));
}

TEST(Render, SettingsThatContradictEachOtherAreRefused) {
  SKIP_WITHOUT_RENDERER();
  for (const char* values :
       {"volcano: {enabled: true}\nmanagerConfig: {controllerManagerConfigYaml: 'volcano: {enabled: false}'}\n",
        "managerConfig: {controllerManagerConfigYaml: 'volcano: {flavor: a}'}\n"}) {
    const Ran both = render(values);
    EXPECT_NE(both.exit_code, 0) << values;
    EXPECT_THAT(both.output, testing::HasSubstr("volcano.enabled: must say the same as volcano.enabled in")) << values;
  }
  const Ran nobody = render("volcano: {crds: {install: true}}\n");
  EXPECT_NE(nobody.exit_code, 0);
  EXPECT_THAT(nobody.output, testing::HasSubstr("volcano.crds.install: needs volcano.enabled=true"));
  const Ran ran = render(
      "controllerManager: {featureGates: [{name: A, enabled: true}]}\n"
      "managerConfig: {controllerManagerConfigYaml: 'featureGates: {B: true}'}\n");
  EXPECT_NE(ran.exit_code, 0);
  EXPECT_THAT(ran.output, testing::HasSubstr("controllerManager.featureGates: not together with featureGates"));
}

// Each value is described in the schema, and the schema describes no other value. A value with free content is an
// object without a list of members.
void expect_described(const Json& value, const Json& schema, const std::string& path) {
  const Json* members = find(schema, "properties");
  if (!value.is_object() || members == nullptr) return;
  EXPECT_EQ(to_string(*find(schema, "additionalProperties")), "false") << path << " takes members nobody reads";
  for (const auto& member : value.get_object()) {
    const std::string key(member.key());
    const Json* described = find(*members, key);
    EXPECT_TRUE(described != nullptr) << path << "." << key << " is not in values.schema.json";
    if (described != nullptr) expect_described(member.value(), *described, path + "." + key);
  }
}

TEST(ValuesSchema, DescribesEveryValue) {
  const Json values = read_documents("config/helm/berth/values.yaml").at(0);
  const Json schema = read_documents("config/helm/berth/values.schema.json").at(0);
  expect_described(values, schema, "values");
}

}  // namespace
}  // namespace berth::install::render_test
