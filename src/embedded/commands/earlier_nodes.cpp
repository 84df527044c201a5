#include "embedded/commands/earlier_nodes.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "api/core/pod_resources.h"
#include "api/resources.h"
#include "embedded/cluster/devices/driver.h"
#include "embedded/cluster/nodes.h"

namespace berth::cli {
namespace {

constexpr std::size_t kMostNames = 3;  // of nodes in one line

std::string name_of(const Json& object) { return std::string(string_at(object, {"metadata", "name"})); }

std::map<std::string, const Json*> by_name(const std::vector<Json>& objects) {
  std::map<std::string, const Json*> out;
  for (const Json& object : objects) out[name_of(object)] = &object;
  return out;
}

// "8 nodes (n1, n2, n3, ...)"
std::string counted(const std::vector<std::string>& names) {
  std::string out = names.size() == 1 ? "1 node (" : std::to_string(names.size()) + " nodes (";
  for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i) out += (i == 0 ? "" : ", ") + names[i];
  return out + (names.size() > kMostNames ? ", ...)" : ")");
}

std::string resources_text(const Json& capacity) {
  std::string out;
  for (const auto& member : capacity.as_object())
    out += (out.empty() ? "" : ",") + std::string(member.key()) + "=" +
           (member.value().is_string() ? std::string(member.value().as_string()) : "?");
  return out;
}

// Whether the node has just these resources; a node that tells none gets them.
bool has(const Json& node, const api::ResourceList& wanted) {
  const Json* capacity = find_path(node, {"status", "capacity"});
  if (capacity == nullptr) return true;
  const auto present = api::decode_resource_list(*capacity);
  return present && *present == wanted;
}

void about_resources(const ClusterFlags& flags, const EarlierNodes& earlier, const cluster::ClusterOptions& options,
                     std::vector<std::string>& out) {
  const auto wanted = cluster::parse_node_resources(flags.node_resources);
  if (flags.node_resources.empty() || !wanted || options.nodes.empty()) return;
  std::set<std::string> meant;
  for (const Json& node : cluster::make_nodes(*cluster::parse_node_shape(options.nodes), *wanted))
    meant.insert(name_of(node));
  std::vector<std::string> names;
  std::string example;
  for (const Json& node : earlier.nodes) {
    if (!meant.contains(name_of(node)) || has(node, *wanted)) continue;
    if (names.empty()) example = resources_text(*find_path(node, {"status", "capacity"}));
    names.push_back(name_of(node));
  }
  if (names.empty()) return;
  out.push_back("--node-resources changes nothing for " + counted(names) + " of an earlier run: " + names[0] +
                " keeps " + example + ". Delete such a node and start again: it is made with the new resources");
}

void about_shape(const ClusterFlags& flags, const EarlierNodes& earlier, const cluster::ClusterOptions& options,
                 std::vector<std::string>& out) {
  if (!flags.nodes_given) return;
  std::set<std::string> meant;
  if (!options.nodes.empty()) {
    for (const Json& node : cluster::make_nodes(*cluster::parse_node_shape(options.nodes), {}))
      meant.insert(name_of(node));
  }
  for (const Json& node : options.node_manifests) meant.insert(name_of(node));
  std::vector<std::string> names;
  for (const Json& node : earlier.nodes) {
    if (!meant.contains(name_of(node))) names.push_back(name_of(node));
  }
  if (names.empty()) return;
  out.push_back("--nodes " + flags.nodes + " leaves " + counted(names) +
                " of an earlier run in place. Delete with kubectl those that shall go");
}

// Whether the slice publishes as many devices, of the same sort.
bool same_devices(const Json& stored, const Json& wanted) {
  const auto& is = array_at(stored, {"spec", "devices"});
  const auto& asked = array_at(wanted, {"spec", "devices"});
  const auto counters = [](const Json& slice) { return array_at(slice, {"spec", "sharedCounters"}).size(); };
  const auto sort = [](const Json& device) { return string_at(device, {"attributes", "type", "string"}); };
  if (is.size() != asked.size() || counters(stored) != counters(wanted)) return false;
  return is.empty() || sort(is[0]) == sort(asked[0]);
}

void about_devices(const ClusterFlags& flags, const EarlierNodes& earlier, std::vector<std::string>& out) {
  const auto shapes = cluster::devices::parse_devices(flags.devices);
  if (!shapes || shapes->empty()) return;
  const auto stored = by_name(earlier.slices);
  std::set<std::string> changed, drivers;
  for (const auto& shape : *shapes) {
    drivers.insert(shape.driver);
    for (const Json& node : earlier.nodes) {
      for (const Json& wanted : cluster::devices::slices_of(shape, node)) {
        const auto it = stored.find(name_of(wanted));
        if (it != stored.end() && !same_devices(*it->second, wanted)) changed.insert(name_of(node));
      }
    }
  }
  if (!changed.empty())
    out.push_back("--devices changes nothing for " + counted({changed.begin(), changed.end()}) +
                  " of an earlier run: their ResourceSlices stay. Delete such a node and start again: it is made with "
                  "the new devices");
  std::set<std::string> left;
  for (const Json& slice : earlier.slices) {
    const std::string driver(string_at(slice, {"spec", "driver"}));
    if (!drivers.contains(driver)) left.insert(driver);
  }
  for (const auto& driver : left)
    out.push_back("--devices does not name " + driver +
                  ", whose devices of an earlier run stay. Delete the ResourceSlices of " + driver +
                  " to take them away");
}

std::vector<Json> items_of(const api::RestResponse& response) {
  std::vector<Json> out;
  if (response.code != 200) return out;
  for (const Json& item : array_at(response.body, {"items"})) out.push_back(item);
  std::ranges::sort(out, {}, name_of);
  return out;
}

api::RestRequest list_of(const api::GroupVersionResource& resource) {
  api::RestRequest request;
  request.verb = api::Verb::kList;
  request.resource = resource;
  return request;
}

}  // namespace

std::vector<std::string> without_effect(const ClusterFlags& flags, const EarlierNodes& earlier) {
  std::vector<std::string> out;
  const auto options = cluster_options(flags);
  if (!options) return out;
  about_shape(flags, earlier, *options, out);
  about_resources(flags, earlier, *options, out);
  about_devices(flags, earlier, out);
  return out;
}

void report_without_effect(api::RestClient& client, const ClusterFlags& flags,
                           std::function<void(std::vector<std::string>)> done) {
  if (!flags.nodes_given && flags.node_resources.empty() && flags.devices.empty()) return done({});
  client.call(list_of(api::kNodes), [&client, flags, done = std::move(done)](const api::RestResponse& nodes) {
    auto earlier = std::make_shared<EarlierNodes>();
    earlier->nodes = items_of(nodes);
    client.call(list_of(api::kResourceSlices), [flags, done, earlier](const api::RestResponse& slices) {
      earlier->slices = items_of(slices);
      done(without_effect(flags, *earlier));
    });
  });
}

}  // namespace berth::cli
