// Plays a table of situations (metric_situations.yaml) on a whole controller and compares every line of the families
// that it names with the scrape, so that a series too many is found like one that is missing.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "base/embedded.h"
#include "controller/configure.h"
#include "controller/metrics_fixture.h"
#include "embedded/apiserver/kueue_webhooks.h"
#include "embedded/apiserver/server/harness.h"
#include "source_dir.h"

namespace berth::controller::metric_situations_test {
namespace {

const api::GroupVersionResource kFlavors{"kueue.x-k8s.io", "v1beta2", "resourceflavors"};
const std::map<std::string, api::GroupVersionResource, std::less<>> kResources = {
    {"ClusterQueue", api::kClusterQueues}, {"Cohort", api::kCohorts},     {"LocalQueue", api::kLocalQueues},
    {"Namespace", api::kNamespaces},       {"Workload", api::kWorkloads}, {"ResourceFlavor", kFlavors}};

std::string ns_of(std::string_view kind) { return kind == "LocalQueue" || kind == "Workload" ? "default" : ""; }

const std::vector<Json>& situations() {
  static const std::vector<Json> all = [] {
    std::ifstream in(source_path("tests/controller/metric_situations.yaml"));
    std::stringstream text;
    text << in.rdbuf();
    return parse_yaml(text.str()).value();
  }();
  return all;
}

// What a shorthand of the table stands for. `at`: the shorthand as an object.
Json resource_groups(const Json& at) {
  JsonArray resources, covered;
  for (const char* resource : {"cpu", "memory"}) {
    const Json* nominal = find(at, resource);
    if (nominal == nullptr) continue;
    Json quota = JsonObject{{"name", resource}, {"nominalQuota", *nominal}};
    if (const Json* lending = find(at, "lending")) quota.as_object()["lendingLimit"] = *lending;
    resources.push_back(std::move(quota));
    covered.push_back(Json(resource));
  }
  if (resources.empty()) return JsonArray{};
  const Json flavors =
      JsonArray{JsonObject{{"name", find(at, "flavor") ? *find(at, "flavor") : Json("f")}, {"resources", resources}}};
  return JsonArray{JsonObject{{"coveredResources", covered}, {"flavors", flavors}}};
}

Json cohort_spec(const Json& at) {
  return JsonObject{{"parentName", find(at, "parent") ? *find(at, "parent") : Json(nullptr)},
                    {"resourceGroups", resource_groups(at)}};
}

Json queue_spec(const Json& at) {
  Json spec = JsonObject{{"cohortName", find(at, "cohort") ? *find(at, "cohort") : Json(nullptr)},
                         {"namespaceSelector", find(at, "namespaces") ? *find(at, "namespaces") : Json(JsonObject{})},
                         {"stopPolicy", find(at, "stop") ? *find(at, "stop") : Json("None")},
                         {"resourceGroups", resource_groups(at)}};
  return spec;
}

Json workload_spec(const Json& at) {
  const Json requests = JsonObject{{"cpu", find(at, "cpu") ? *find(at, "cpu") : Json("1")}};
  const Json container = JsonObject{{"name", "c"}, {"image", "i"}, {"resources", JsonObject{{"requests", requests}}}};
  const Json pod = JsonObject{{"restartPolicy", "Never"}, {"containers", JsonArray{container}}};
  const Json pod_set = JsonObject{{"name", "main"},
                                  {"count", find(at, "count") ? *find(at, "count") : Json(1)},
                                  {"template", JsonObject{{"spec", pod}}}};
  return JsonObject{{"queueName", *find(at, "queue")}, {"podSets", JsonArray{pod_set}}};
}

class Situation : public apiserver::ServerTest, public testing::WithParamInterface<std::size_t> {
 protected:
  Situation() : ServerTest({.seed = 7, .admission = apiserver::kueue_webhooks({}), .controllers = false}) {
    for (const auto& file : embedded::crds()) {
      auto crd = request(api::Verb::kCreate, apiserver::kCrds, "");
      crd.body = parse_yaml(file.content).value().front();
      EXPECT_TRUE(call(std::move(crd)).ok()) << file.name;
    }
    for (const char* flavor : {"f", "g"}) write("ResourceFlavor", flavor, JsonObject{});
    start();
  }

  void start() {
    Json document = metrics_fixture::object("{apiVersion: config.kueue.x-k8s.io/v1beta2, kind: Configuration}");
    if (const Json* more = find(table(), "configuration")) {
      for (const auto& [key, value] : more->as_object()) document.as_object()[key] = value;
    }
    const auto configuration = api::config::read_configuration(to_string(document), "the situation");
    ASSERT_TRUE(configuration) << configuration.error().message;
    auto options = controller_options(*configuration, {});
    ASSERT_TRUE(options) << options.error().message;
    metrics.emplace(registry, metrics_options(*configuration, *options));
    options->metrics = &*metrics;
    controller.emplace(*server, executor, std::move(*options));
    controller->start();
    controller->lead();
    pass(5);
  }

  static const Json& table() { return situations().at(GetParam()); }
  void pass(std::int64_t seconds) { executor.run_until(executor.now() + std::chrono::seconds(seconds)); }

  // Creates the object or merges into it.
  void write(std::string_view kind, std::string_view name, const Json& spec) {
    const api::GroupVersionResource& resource = kResources.find(kind)->second;
    const std::string ns = ns_of(kind);
    if (exists(resource, ns, name)) {
      const auto answer = patch(resource, ns, name, to_string(JsonObject{{"spec", spec}}));
      EXPECT_TRUE(answer.ok()) << to_string(answer.body);
      return;
    }
    auto r = request(api::Verb::kCreate, resource, ns);
    r.body = JsonObject{{"apiVersion", resource.group + "/" + resource.version},
                        {"kind", kind},
                        {"metadata", JsonObject{{"name", name}}},
                        {"spec", spec}};
    const auto answer = call(std::move(r));
    EXPECT_TRUE(answer.ok()) << to_string(answer.body);
  }

  void play(const Json& step) {
    for (const auto& [name, at] : object_at(step, {"cohorts"})) write("Cohort", name, cohort_spec(at));
    for (const auto& [name, at] : object_at(step, {"queues"})) {
      write("ClusterQueue", name, queue_spec(at));
      if (!exists(api::kLocalQueues, "default", name)) write("LocalQueue", name, JsonObject{{"clusterQueue", name}});
    }
    for (const auto& [name, policy] : object_at(step, {"hold"}))
      write("LocalQueue", name, JsonObject{{"stopPolicy", policy}});
    for (const auto& [name, labels] : object_at(step, {"label"})) {
      const Json metadata = JsonObject{{"metadata", JsonObject{{"labels", labels}}}};
      EXPECT_TRUE(patch(api::kLocalQueues, "default", name, to_string(metadata)).ok());
    }
    for (const Json& name : array_at(step, {"deactivate"}))
      write("Workload", name.as_string(), JsonObject{{"active", false}});
    for (const auto& [name, at] : object_at(step, {"workloads"})) write("Workload", name, workload_spec(at));
    for (const auto& [name, count] : object_at(step, {"reclaim"}))
      set_status(name, JsonObject{{"reclaimablePods", JsonArray{JsonObject{{"name", "main"}, {"count", count}}}}});
    for (const Json& name : array_at(step, {"finish"})) {
      const Json finished = JsonObject{{"type", "Finished"},
                                       {"status", "True"},
                                       {"reason", "Succeeded"},
                                       {"message", "done"},
                                       {"lastTransitionTime", format_time(executor.now())}};
      Json conditions = JsonArray{};
      const Json seen = get(api::kWorkloads, "default", name.as_string()).body;
      for (const Json& each : array_at(seen, {"status", "conditions"})) conditions.as_array().push_back(each);
      conditions.as_array().push_back(finished);
      set_status(name.as_string(), JsonObject{{"conditions", conditions}});
    }
    for (const Json& what : array_at(step, {"delete"})) {
      const std::string_view text = what.as_string();
      const auto space = text.find(' ');
      const std::string kind(text.substr(0, space));
      EXPECT_TRUE(remove(kResources.at(kind), ns_of(kind), text.substr(space + 1)).ok()) << text;
    }
    pass(find(step, "wait") ? int_at(step, {"wait"}) : 5);
  }

  void set_status(std::string_view workload, const Json& status) {
    const auto answer = patch(api::kWorkloads, "default", workload, to_string(JsonObject{{"status", status}}),
                              api::PatchType::kMerge, "status");
    EXPECT_TRUE(answer.ok()) << to_string(answer.body);
  }

  void compare(const Json& expected, std::size_t step) {
    controller->refresh_metrics();
    for (const auto& [family, lines] : expected.as_object()) {
      std::string wanted;
      for (const Json& line : lines.as_array()) wanted.append(line.as_string()).append("\n");
      EXPECT_EQ(metrics_fixture::lines_of(registry, family), wanted)
          << family << " after step " << step << " of '" << string_at(table(), {"name"}) << "'";
    }
  }

  Metrics registry;
  std::optional<ControllerMetrics> metrics;
  std::optional<Controller> controller;
};

TEST_P(Situation, IsInformedLineByLine) {
  std::size_t number = 0;
  for (const Json& step : array_at(table(), {"steps"})) {
    play(step);
    ++number;
    if (const Json* expected = find(step, "expect")) compare(*expected, number);
    if (HasFailure()) return;
  }
}

std::string name_of(const testing::TestParamInfo<std::size_t>& info) {
  std::string out;
  for (const char c : string_at(situations().at(info.param), {"name"})) out += std::isalnum(c) != 0 ? c : '_';
  return out;
}

INSTANTIATE_TEST_SUITE_P(Metrics, Situation, testing::Range(std::size_t{0}, situations().size()), name_of);

}  // namespace
}  // namespace berth::controller::metric_situations_test
