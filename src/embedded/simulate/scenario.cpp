#include "embedded/simulate/scenario.h"

#include <algorithm>

#include "base/yaml.h"
#include "embedded/cluster/devices/driver.h"
#include "embedded/cluster/nodes.h"
#include "embedded/simulate/members.h"

namespace berth::simulate {
namespace {

constexpr std::string_view kDefaultStart = "2026-01-01T00:00:00Z";

Result<std::vector<Json>> objects(const Json& parent, std::string_view key, const std::string& path) {
  std::vector<Json> list;
  const Json* value = find(parent, key);
  if (value == nullptr) return list;
  const std::string here = path + "." + std::string(key);
  if (!value->is_array()) return fail(here + ": expected a list of objects");
  for (std::size_t i = 0; i < value->as_array().size(); ++i) {
    const Json& object = value->as_array()[i];
    if (string_at(object, {"kind"}).empty()) return fail(here + "[" + std::to_string(i) + "]: kind is missing");
    list.push_back(object);
  }
  return list;
}

Reference reference(const Json& value) {
  return {std::string(string_at(value, {"kind"})), std::string(string_at(value, {"namespace"})),
          std::string(string_at(value, {"name"})), std::string(string_at(value, {"apiVersion"}))};
}

Result<Step> parse_step(const Json& value, const std::string& path) {
  if (auto known =
          known_members(value, path, {"at", "say", "racks", "apply", "refuse", "delete", "patch", "expect", "placed"});
      !known)
    return tl::unexpected(known.error());
  Step step;
  auto at = parse_duration(string_at(value, {"at"}));
  if (!at) return fail(path + ".at: expected a duration such as 10s or 5m: " + at.error().message);
  step.at = *at;
  step.say = string_at(value, {"say"});
  step.racks = bool_at(value, {"racks"});
  auto apply = objects(value, "apply", path);
  if (!apply) return tl::unexpected(apply.error());
  step.apply = std::move(*apply);
  auto refuse = objects(value, "refuse", path);
  if (!refuse) return tl::unexpected(refuse.error());
  for (Json& object : *refuse) {
    std::string because(string_at(object, {"because"}));
    if (because.empty()) return fail(path + ".refuse: every object needs the words of the answer in because");
    object.as_object().erase("because");
    step.refuse.push_back({std::move(object), std::move(because)});
  }
  auto expect = objects(value, "expect", path);
  if (!expect) return tl::unexpected(expect.error());
  step.expect = std::move(*expect);
  const auto& placed = array_at(value, {"placed"});
  for (std::size_t i = 0; i < placed.size(); ++i) {
    auto parsed = parse_placed(placed[i], path + ".placed[" + std::to_string(i) + "]");
    if (!parsed) return tl::unexpected(parsed.error());
    step.placed.push_back(std::move(*parsed));
  }
  auto removed = objects(value, "delete", path);
  if (!removed) return tl::unexpected(removed.error());
  for (const auto& entry : *removed) step.remove.push_back(reference(entry));
  auto patched = objects(value, "patch", path);
  if (!patched) return tl::unexpected(patched.error());
  for (const auto& entry : *patched) {
    const Json* patch = find(entry, "patch");
    if (patch == nullptr) return fail(path + ".patch: every entry needs a patch");
    step.patch.push_back({reference(entry), std::string(string_at(entry, {"subresource"})), *patch});
  }
  return step;
}

Result<void> read_cluster(const Json& cluster, Scenario& scenario) {
  if (auto known = known_members(cluster, "scenario.cluster",
                                 {"nodes", "nodeResources", "devices", "scaleUp", "provisioningDelay"});
      !known)
    return known;
  scenario.nodes = string_at(cluster, {"nodes"});
  if (!scenario.nodes.empty()) {
    if (const auto shape = cluster::parse_node_shape(scenario.nodes); !shape)
      return fail("scenario.cluster.nodes: " + shape.error().message);
  }
  scenario.node_resources = string_at(cluster, {"nodeResources"});
  scenario.devices = string_at(cluster, {"devices"});
  if (const auto devices = cluster::devices::parse_devices(scenario.devices); !devices)
    return fail("scenario.cluster.devices: " + devices.error().message);
  scenario.scale_up = string_at(cluster, {"scaleUp"});
  if (const auto delay = string_at(cluster, {"provisioningDelay"}); !delay.empty()) {
    auto duration = parse_duration(delay);
    if (!duration) return fail("scenario.cluster.provisioningDelay: " + duration.error().message);
    scenario.provisioning_delay = *duration;
  }
  return {};
}

}  // namespace

Result<Scenario> parse_scenario(std::string_view text) {
  auto documents = parse_yaml(text);
  if (!documents) return tl::unexpected(documents.error());
  if (documents->size() != 1)
    return fail("a scenario is one YAML document, this file has " + std::to_string(documents->size()));
  const Json& root = documents->front();
  if (auto known = known_members(
          root, "scenario",
          {"name", "about", "cluster", "featureGates", "configuration", "start", "manifests", "timeline", "end"});
      !known) {
    return tl::unexpected(known.error());
  }
  Scenario scenario;
  scenario.name = string_at(root, {"name"});
  if (scenario.name.empty()) return fail("scenario.name: is missing");
  scenario.about = string_at(root, {"about"});
  if (const Json* cluster = find(root, "cluster")) {
    if (auto read = read_cluster(*cluster, scenario); !read) return tl::unexpected(read.error());
  }
  if (const Json* gates = find(root, "featureGates")) {
    auto decoded = controller::decode_feature_gates(*gates, "scenario.featureGates");
    if (!decoded) return tl::unexpected(decoded.error());
    scenario.feature_gates = std::move(*decoded);
  }
  if (const Json* parts = find(root, "configuration"); parts != nullptr && parts->is_object()) {
    JsonObject document = parts->get_object();
    document["apiVersion"] = "config.kueue.x-k8s.io/v1beta2";
    document["kind"] = "Configuration";
    auto configuration = api::config::decode_configuration(std::move(document), "scenario.configuration");
    if (!configuration) return tl::unexpected(configuration.error());
    scenario.configuration = std::move(*configuration);
  }
  auto start = parse_time(string_at(root, {"start"}, kDefaultStart));
  if (!start) return fail("scenario.start: " + start.error().message);
  scenario.start = *start;
  auto manifests = objects(root, "manifests", "scenario");
  if (!manifests) return tl::unexpected(manifests.error());
  scenario.manifests = std::move(*manifests);
  const auto& steps = array_at(root, {"timeline"});
  for (std::size_t i = 0; i < steps.size(); ++i) {
    auto step = parse_step(steps[i], "scenario.timeline[" + std::to_string(i) + "]");
    if (!step) return tl::unexpected(step.error());
    scenario.timeline.push_back(std::move(*step));
  }
  std::stable_sort(scenario.timeline.begin(), scenario.timeline.end(),
                   [](const Step& a, const Step& b) { return a.at < b.at; });
  if (const auto end = string_at(root, {"end"}); !end.empty()) {
    auto duration = parse_duration(end);
    if (!duration) return fail("scenario.end: " + duration.error().message);
    scenario.end = *duration;
  }
  return scenario;
}

}  // namespace berth::simulate
