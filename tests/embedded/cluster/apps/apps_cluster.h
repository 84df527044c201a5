// A pretend cluster with short functions for Deployments, ReplicaSets and StatefulSets.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/apps_resources.h"
#include "embedded/cluster/pretend_cluster.h"

namespace berth::cluster::testing_support {

using api::kControllerRevisions;
using api::kDeployments;
using api::kReplicaSets;
using api::kStatefulSets;

inline ClusterOptions nodes_only(std::string nodes) {
  ClusterOptions options;
  options.nodes = std::move(nodes);
  return options;
}

class AppsCluster : public Cluster {
 public:
  explicit AppsCluster(std::string nodes = "4") : Cluster(nodes_only(std::move(nodes))) {}

  // `spec`: more members of the spec. The pods have the label app: <name>.
  Json app(const api::GroupVersionResource& resource, std::string_view kind, std::string_view name, int replicas,
           std::string_view spec = "{}") {
    Json object = yaml("{apiVersion: apps/v1, spec: {template: {spec: {containers: [{name: c, image: 'i:1'}]}}}}");
    object.as_object()["kind"] = kind;
    ensure_path(object, {"metadata", "name"}) = name;
    ensure_path(object, {"spec", "replicas"}) = replicas;
    ensure_path(object, {"spec", "selector", "matchLabels", "app"}) = name;
    ensure_path(object, {"spec", "template", "metadata", "labels", "app"}) = name;
    const Json more = yaml(spec);
    for (const auto& [key, value] : more.as_object())
      ensure_path(object, {"spec", std::string_view(key.data(), key.size())}) = value;
    return create(resource, std::move(object));
  }
  Json deployment(std::string_view name, int replicas, std::string_view spec = "{}") {
    return app(kDeployments, "Deployment", name, replicas, spec);
  }
  Json replica_set(std::string_view name, int replicas, std::string_view spec = "{}") {
    return app(kReplicaSets, "ReplicaSet", name, replicas, spec);
  }
  Json stateful_set(std::string_view name, int replicas, std::string_view spec = "{}") {
    return app(kStatefulSets, "StatefulSet", name, replicas, spec);
  }

  void scale(const api::GroupVersionResource& resource, std::string_view name, int replicas) {
    auto r = request(api::Verb::kPatch, resource, name);
    r.subresource = "scale";
    r.patch_type = api::PatchType::kMerge;
    r.body = JsonObject{{"spec", JsonObject{{"replicas", replicas}}}};
    expect_ok(call(std::move(r)));
  }
  void set_image(const api::GroupVersionResource& resource, std::string_view name, std::string_view image) {
    patch(resource, name, "{spec: {template: {spec: {containers: [{name: c, image: '" + std::string(image) + "'}]}}}}");
  }

  // Names of the pods with the label app: <name>, in order.
  std::vector<std::string> pod_names(std::string_view name) {
    std::vector<std::string> out;
    for (const Json& pod : list(kPods, "app=" + std::string(name)))
      out.emplace_back(string_at(pod, {"metadata", "name"}));
    std::sort(out.begin(), out.end());
    return out;
  }
  // How many pods have which image, without those that are being deleted: "2 of i:1, 1 of i:2".
  std::string images(std::string_view name) {
    std::map<std::string, int> counts;
    for (const Json& pod : list(kPods, "app=" + std::string(name))) {
      if (find_path(pod, {"metadata", "deletionTimestamp"}) == nullptr)
        ++counts[std::string(string_at(array_at(pod, {"spec", "containers"})[0], {"image"}))];
    }
    std::string out;
    for (const auto& [image, count] : counts) out += (out.empty() ? "" : ", ") + std::to_string(count) + " of " + image;
    return out;
  }
  std::string image_of(std::string_view pod) {
    const Json object = get(kPods, pod);
    const auto& containers = array_at(object, {"spec", "containers"});
    return containers.empty() ? "" : std::string(string_at(containers[0], {"image"}));
  }
  // Reasons of the conditions "Available" and "Progressing".
  std::string reason(std::string_view deployment, std::string_view type) {
    const Json object = get(kDeployments, deployment);
    for (const Json& condition : array_at(object, {"status", "conditions"})) {
      if (string_at(condition, {"type"}) == type)
        return std::string(string_at(condition, {"status"})) + " " + std::string(string_at(condition, {"reason"}));
    }
    return "none";
  }
  std::int64_t status(const api::GroupVersionResource& resource, std::string_view name, std::string_view key) {
    return int_at(get(resource, name), {"status", key});
  }
  // A new process takes over.
  void restart(std::string nodes = "4") {
    cluster.reset();
    cluster = PretendCluster::make(*server, executor, nodes_only(std::move(nodes))).value();
    cluster->start();
  }
};

}  // namespace berth::cluster::testing_support
