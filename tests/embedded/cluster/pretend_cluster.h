// A pretend cluster on an in-memory API server, with short functions to create pods and to read their state.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "api/object_condition.h"
#include "embedded/cluster/cluster.h"
#include "embedded/cluster/world.h"

namespace berth::cluster::testing_support {

// The status of a condition: "True", "False", "Unknown", or "" when there is none.
inline std::string_view condition_status(const Json& object, std::string_view type) {
  const Json* condition = api::object_condition(object, type);
  return condition == nullptr ? std::string_view() : string_at(*condition, {"status"});
}

class Cluster : public World {
 public:
  explicit Cluster(ClusterOptions options) {
    auto made = PretendCluster::make(*server, executor, options);
    if (!made) {
      ADD_FAILURE() << made.error().message;
      return;
    }
    cluster = *std::move(made);
    cluster->start();
    pass(1);
  }

  void pass(int seconds) { run_for(std::chrono::seconds(seconds)); }

  Json pod(std::string_view name, std::string_view spec = "{}", std::string_view annotations = "{}") {
    Json pod = yaml(
        "{apiVersion: v1, kind: Pod, spec: {restartPolicy: Never, containers: [{name: c, image: i, "
        "resources: "
        "{requests: {cpu: '1'}}}]}}");
    ensure_path(pod, {"metadata", "name"}) = name;
    ensure_path(pod, {"metadata", "annotations"}) = yaml(annotations);
    const Json given = yaml(spec);
    for (const auto& [key, value] : given.as_object()) {
      ensure_path(pod, {"spec", std::string_view(key.data(), key.size())}) = value;
    }
    return create(kPods, std::move(pod));
  }

  std::string node_of(std::string_view pod) { return std::string(string_at(get(kPods, pod), {"spec", "nodeName"})); }
  std::string phase(std::string_view pod) { return std::string(string_at(get(kPods, pod), {"status", "phase"})); }
  // Status and reason of a condition: "True", "False/Unschedulable"; "none" when it does not exist.
  std::string condition(std::string_view pod, std::string_view type) {
    const Json object = get(kPods, pod);
    for (const auto& c : array_at(object, {"status", "conditions"})) {
      if (string_at(c, {"type"}) != type) continue;
      std::string out(string_at(c, {"status"}));
      if (const auto reason = string_at(c, {"reason"}); !reason.empty()) out += "/" + std::string(reason);
      return out;
    }
    return "none";
  }

  std::unique_ptr<PretendCluster> cluster;
};

inline std::string requests(std::string_view list) {
  return "{containers: [{name: c, image: i, resources: {requests: " + std::string(list) + "}}]}";
}

}  // namespace berth::cluster::testing_support
