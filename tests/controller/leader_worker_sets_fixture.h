// LeaderWorkerSets on an API server with webhooks, garbage collector and the pretend cluster.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "api/leaderworkerset/names.h"
#include "api/resources.h"
#include "base/embedded.h"
#include "controller/pods_fixture.h"
#include "embedded/cluster/cluster.h"

namespace berth::controller {

class LeaderWorkerSetsTest : public QueueTest {
 protected:
  static api::kueue::AdmissionPolicy webhooks(bool without_queue_name) {
    api::kueue::AdmissionPolicy out;
    out.manage_pods = out.manage_leader_worker_sets = true;
    out.manage_jobs_without_queue_name = without_queue_name;
    return out;
  }
  static ControllerOptions managing(bool without_queue_name) {
    ControllerOptions out;
    out.manage_pods = out.manage_leader_worker_sets = true;
    out.manage_jobs_without_queue_name = without_queue_name;
    return out;
  }
  explicit LeaderWorkerSetsTest(bool installed = true, bool without_queue_name = false)
      : QueueTest(webhooks(without_queue_name), managing(without_queue_name)) {
    if (installed) install_leader_worker_sets();
    local_queue("q2");
    cluster::ClusterOptions shape;
    shape.nodes = "2";
    shape.node_resources = "cpu=16";
    shape.leader_worker_sets = true;
    auto made = cluster::PretendCluster::make(*server, executor, shape);
    EXPECT_TRUE(made.has_value());
    pretend = std::move(*made);
    pretend->start();
    lead();
    pass();
  }
  void install_leader_worker_sets() {
    for (const auto& file : embedded::external_crds()) {
      if (file.name.find("leaderworkersets") != std::string_view::npos) install(file);
    }
  }
  void pass(int seconds = 10) { QueueTest::pass(seconds); }

  // A set named s with one leader and one worker of one cpu in each group.
  void make_set(int replicas, std::string_view labels = "kueue.x-k8s.io/queue-name: q", std::string_view more = "",
                const std::string& ns = "default") {
    const std::string pod = "{spec: {containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}]}}";
    make(api::leaderworkerset::kLeaderWorkerSets, "LeaderWorkerSet", ns,
         "{metadata: {name: s, labels: {" + std::string(labels) + "}}, spec: {replicas: " + std::to_string(replicas) +
             std::string(more) + ", leaderWorkerTemplate: {size: 2, leaderTemplate: " + pod +
             ", workerTemplate: " + pod + "}}}");
    pass();
  }
  void change_set(const std::string& body) {
    EXPECT_TRUE(patch(api::leaderworkerset::kLeaderWorkerSets, "default", "s", body).ok());
    pass();
  }
  // "Running", "gated" or another phase, by the name of the pod.
  std::map<std::string, std::string> pods(std::string_view ns = "default") {
    std::map<std::string, std::string> out;
    for (const Json& pod : items(apiserver::kPods, ns)) {
      const bool gated = !array_at(pod, {"spec", "schedulingGates"}).empty();
      out[std::string(string_at(pod, {"metadata", "name"}))] =
          gated ? "gated" : std::string(string_at(pod, {"status", "phase"}));
    }
    return out;
  }
  using Pods = std::map<std::string, std::string>;
  std::string name_of_group(int index) {
    for (const Json& workload : items(api::kWorkloads)) {
      if (string_at(workload, {"metadata", "annotations", "kueue.x-k8s.io/component-workload-index"}) ==
          std::to_string(index))
        return std::string(string_at(workload, {"metadata", "name"}));
    }
    return {};
  }
  Json workload(int index) { return get(api::kWorkloads, "default", name_of_group(index)).body; }

  std::unique_ptr<cluster::PretendCluster> pretend;
};

}  // namespace berth::controller
