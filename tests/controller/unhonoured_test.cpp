// The list of what Kueue 0.20 has and Berth does not honour: it names everything that nothing reads, and the page
// repeats it. The names of 0.20 are data: kueue_0_20/*.txt, and the CustomResourceDefinitions of this repository.
#include "api/kueue/unhonoured.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "api/kueue/webhooks/admission.h"
#include "base/yaml.h"
#include "controller/gates.h"
#include "source_dir.h"
#include "support/document_section.h"

namespace berth::controller::unhonoured_test {
namespace {

using api::kueue::Unhonoured;
using api::kueue::unhonoured;
using enum Unhonoured::What;

std::string bytes_of(const std::filesystem::path& path) {
  std::stringstream bytes;
  bytes << std::ifstream(path).rdbuf();
  return bytes.str();
}

std::vector<std::string> lines_of(const std::string& name) {
  std::istringstream text(bytes_of(source_path("tests/controller/kueue_0_20/" + name)));
  std::vector<std::string> out;
  for (std::string line; std::getline(text, line);) out.push_back(line);
  EXPECT_FALSE(out.empty()) << name;
  return out;
}

// Whether some source names it. Those of the pretend cluster and the command line, the conversion of stored objects and
// the list itself do not count: they decide nothing.
bool is_read(std::string_view name) {
  static const std::string sources = [] {
    std::string all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(source_path("src"))) {
      const std::string path = entry.path().string();
      if (!entry.is_regular_file() || path.find("/embedded/") != path.npos || path.find("/src/cli/") != path.npos ||
          path.ends_with("unhonoured.cpp") || path.ends_with("api/kueue/conversion.cpp"))
        continue;
      if (path.ends_with(".cpp") || path.ends_with(".h")) all += bytes_of(entry.path());
    }
    return all;
  }();
  return sources.find(fmt::format("\"{}\"", name)) != sources.npos;
}

// Some names of metrics are put together of parts, so what is served counts.
bool is_served(const std::string& metric) {
  static const std::string scrape = bytes_of(source_path("tests/controller/scrape.txt"));
  return is_read(metric) || scrape.find("\n" + metric + " ") != scrape.npos;
}

bool lists(Unhonoured::What what, std::string_view kind, std::string_view name) {
  return std::ranges::any_of(unhonoured(), [&](const Unhonoured& one) {
    if (one.what != what || (!kind.empty() && one.kind != kind) || !name.starts_with(one.name)) return false;
    return name.size() == one.name.size() || name[one.name.size()] == '.' || name[one.name.size()] == '[';
  });
}

std::string last_of(std::string_view path) { return std::string(path.substr(path.find_last_of('.') + 1)); }

// "path" for each field below this schema, except those of pod templates, which are Kubernetes'.
void walk(const Json& schema, const std::string& above, std::vector<std::string>& out) {
  for (const auto& [key, value] : object_at(schema, {"properties"})) {
    const std::string path = above.empty() ? std::string(key) : above + "." + std::string(key);
    if (above.empty() && (path == "apiVersion" || path == "kind" || path == "metadata")) continue;
    out.push_back(path);
    if (last_of(path) != "template") walk(value, path, out);
  }
  for (const auto* inner : {"items", "additionalProperties"}) {
    if (const Json* value = find(schema, inner); value != nullptr && value->is_object()) walk(*value, above, out);
  }
}

std::map<std::string, std::vector<std::string>> fields_of_definitions() {
  std::map<std::string, std::vector<std::string>> out;
  for (const auto& entry : std::filesystem::directory_iterator(source_path("config/crd"))) {
    const auto documents = parse_yaml(bytes_of(entry.path()));
    EXPECT_TRUE(documents) << entry.path();
    if (!documents) continue;
    for (const Json& one : *documents) {
      if (string_at(one, {"spec", "group"}) != "kueue.x-k8s.io") continue;
      for (const Json& version : array_at(one, {"spec", "versions"})) {
        if (string_at(version, {"name"}) != "v1beta2") continue;
        if (const Json* schema = find_path(version, {"schema", "openAPIV3Schema"}))
          walk(*schema, "", out[std::string(string_at(one, {"spec", "names", "kind"}))]);
      }
    }
  }
  return out;
}

TEST(Unhonoured, NamesEveryFieldThatNothingReads) {
  const auto fields = fields_of_definitions();
  EXPECT_GE(fields.size(), 11u);
  std::size_t count = 0;
  for (const auto& [kind, paths] : fields) {
    for (const std::string& path : paths) {
      ++count;
      EXPECT_TRUE(is_read(last_of(path)) || lists(kField, kind, path)) << kind << " " << path;
    }
  }
  EXPECT_GT(count, 250u);
  for (const std::string& line : lines_of("new_fields.txt")) {
    const std::size_t blank = line.find(' ');
    EXPECT_TRUE(lists(kField, line.substr(0, blank), line.substr(blank + 1))) << line;
  }
}

TEST(Unhonoured, NamesEveryKindWithoutADefinition) {
  const auto fields = fields_of_definitions();
  for (const std::string& kind : lines_of("kinds.txt"))
    EXPECT_NE(fields.contains(kind), lists(kKind, "", kind)) << kind;
}

TEST(Unhonoured, NamesEverySettingThatNothingReads) {
  for (const std::string& path : lines_of("configuration.txt"))
    EXPECT_TRUE(is_read(last_of(path)) || lists(kSetting, "Configuration", path)) << path;
}

TEST(Unhonoured, NamesEveryKeyReasonEventAndMetricThatNothingReads) {
  for (const std::string& key : lines_of("keys.txt"))
    EXPECT_NE(is_read(key), lists(kLabel, "", key) || lists(kAnnotation, "", key)) << key;
  for (const std::string& reason : lines_of("reasons.txt"))
    EXPECT_NE(is_read(reason), lists(kReason, "", reason) || lists(kCondition, "", reason)) << reason;
  for (const std::string& event : lines_of("events.txt")) EXPECT_NE(is_read(event), lists(kEvent, "", event)) << event;
  for (const std::string& metric : lines_of("metrics.txt"))
    EXPECT_NE(is_served(metric), lists(kMetric, "", metric)) << metric;
}

TEST(Unhonoured, HasNoRowForWhatNobodyKnows) {
  std::set<std::string> known;
  for (const auto* file : {"kinds.txt", "keys.txt", "reasons.txt", "events.txt", "metrics.txt", "configuration.txt"}) {
    for (const std::string& line : lines_of(file)) known.insert(line);
  }
  for (const std::string& line : lines_of("new_fields.txt")) known.insert(line);
  for (const auto& [kind, paths] : fields_of_definitions()) {
    for (const std::string& path : paths) known.insert(kind + " " + path);
  }
  const Unhonoured* before = nullptr;
  for (const Unhonoured& one : unhonoured()) {
    const std::string name(one.name);
    EXPECT_TRUE(known.contains(one.what == kField ? std::string(one.kind) + " " + name : name)) << name;
    EXPECT_FALSE(one.instead.empty()) << name;
    if (before != nullptr) {
      EXPECT_LT(std::tie(before->what, before->kind, before->name), std::tie(one.what, one.kind, one.name)) << name;
    }
    before = &one;
  }
}

Json object(std::string_view yaml) { return parse_yaml(yaml).value().at(0); }

TEST(Unhonoured, AnObjectThatUsesItGetsAWarning) {
  const Json queue = object(R"(
metadata: {annotations: {kueue.x-k8s.io/preemption-config-name: heroes}}
spec: {concurrentAdmissionPolicy: {}}
status: {effectiveQuotas: []}
)");
  EXPECT_EQ(api::kueue::unhonoured_warning("ClusterQueue", queue, nullptr),
            "spec.concurrentAdmissionPolicy is not honoured: a workload has one place in the queue and takes the first "
            "flavor that fits; metadata.annotations[kueue.x-k8s.io/preemption-config-name] is not honoured: the "
            "`preemption` of the ClusterQueue decides alone");
  EXPECT_EQ(api::kueue::unhonoured_warning("ClusterQueue", queue, &queue), "") << "it was told before";
  EXPECT_EQ(api::kueue::unhonoured_warning("Cohort", queue, nullptr), "");
  EXPECT_EQ(api::kueue::unhonoured_warning("ClusterQueue", object("{spec: {}}"), nullptr), "");
  const Json other = object("{metadata: {annotations: {kueue.x-k8s.io/preemption-config-name: other}}}");
  EXPECT_EQ(api::kueue::unhonoured_warning("ClusterQueue", other, &queue),
            "metadata.annotations[kueue.x-k8s.io/preemption-config-name] is not honoured: the `preemption` of the "
            "ClusterQueue decides alone");
}

// In any version of its kind.
TEST(Unhonoured, TheWebhooksWarn) {
  const api::kueue::ObjectGetter nothing = [](const auto&, auto, auto) { return JsonPtr(); };
  const api::kueue::AdmissionPolicy policy;
  const auto warning = [&](std::string_view resource, std::string_view yaml) {
    return api::kueue::admission_rules("kueue.x-k8s.io", resource).warn(object(yaml), nullptr, {nothing, policy});
  };
  for (const std::string version : {"v1beta1", "v1beta2"}) {
    EXPECT_NE(warning("clusterqueues", "{apiVersion: kueue.x-k8s.io/" + version +
                                           ", kind: ClusterQueue, metadata: {name: q, annotations: "
                                           "{kueue.x-k8s.io/preemption-config-name: heroes}}, spec: {}}"),
              "");
  }
  EXPECT_NE(warning("workloads",
                    "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {annotations: "
                    "{kueue.x-k8s.io/workload-allowed-resource-flavors: f}}, spec: {}}"),
            "");
  EXPECT_EQ(warning("workloads", "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, spec: {}}"), "");
}

std::string_view what_of(Unhonoured::What what) {
  constexpr std::string_view kNames[] = {"kind",      "field",  "setting", "label", "annotation",
                                         "condition", "reason", "event",   "metric"};
  return kNames[static_cast<std::size_t>(what)];
}

std::string page_section() {
  std::string out = "| what | of | name | what happens instead |\n|---|---|---|---|\n";
  for (const Unhonoured& one : unhonoured())
    out += fmt::format("| {} | {} | `{}` | {} |\n", what_of(one.what), one.kind, one.name, one.instead);
  for (const Gate& gate : all_gates()) {
    if (gate.reader.support == GateSupport::kMissing)
      out += fmt::format("| gate | Configuration | `{}` | {} |\n", gate.name, gate.says);
  }
  return out;
}

TEST(Unhonoured, IsListedInTheDocuments) {
  testing_support::expect_section(source_path("docs/compatibility.md"), "not honoured", page_section());
}

}  // namespace
}  // namespace berth::controller::unhonoured_test
