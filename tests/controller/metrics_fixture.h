// Workloads that live through what is counted, and queues in an engine: for tests of the controller's metrics.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/meta.h"
#include "base/yaml.h"
#include "controller/metrics.h"

namespace berth::controller::metrics_fixture {

using api::kueue::Workload;

inline const Time kStart = parse_time("2026-11-21T09:00:00Z").value();

inline Json object(std::string_view yaml) { return parse_yaml(yaml).value().front(); }
template <typename T>
engine::Ptr<T> ptr(Result<T> decoded) {
  return std::make_shared<const T>(std::move(decoded.value()));
}

// The lines of the metrics text that begin with `name`, without `name` and without the label replica_role.
inline std::string lines_of(const Metrics& metrics, std::string_view name) {
  const std::string text = metrics.text();
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    std::string line = text.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with(name) || (line[name.size()] != '{' && line[name.size()] != ' ')) continue;
    line.erase(0, name.size());
    const std::string_view role = R"(,replica_role="leader")";
    if (const std::size_t r = line.find(role); r != std::string::npos) line.erase(r, role.size());
    out += line + "\n";
  }
  return out;
}

class WorkloadMetricsTest : public testing::Test {
 protected:
  WorkloadMetricsTest() {
    workload.meta.name = "w";
    workload.meta.ns = "a";
    workload.meta.uid = "u";
    workload.meta.creation = kStart;
    workload.queue_name = "lq";
    workload.priority_class_ref = api::kueue::PriorityClassRef{"", "", "high"};
  }
  // Calls metrics.changed() for a change of the workload `second` seconds after its creation.
  template <typename F>
  void at(int second, F change) {
    const Workload before = workload;
    now = kStart + std::chrono::seconds(second);
    change(workload.status);
    metrics.changed(before, workload, queues);
  }
  void set(std::string_view type, bool status, std::string_view reason = "R", std::string_view message = "") {
    api::Condition c;
    c.type = type;
    c.status = status;
    c.reason = reason;
    c.message = message;
    c.last_transition = now;
    api::set_condition(workload.status.conditions, c);
  }
  void admit() {
    workload.status.admission = api::kueue::Admission{"cq", {}};
    set("QuotaReserved", true);
    set("Admitted", true);
  }

  Metrics registry;
  WorkloadMetrics metrics{registry, "leader", true};
  bool cluster_queues_are_there = true, local_queues_are_there = true;
  WorkloadMetrics::Queues queues{[this](std::string_view) { return cluster_queues_are_there; },
                                 [this](std::string_view, std::string_view) { return local_queues_are_there; },
                                 [](std::string_view) { return std::vector<std::string>{"team", "all"}; }};
  Workload workload;
  Time now = kStart;
};

// Everything that can happen to a workload, so that every family has a series.
struct LivedMetricsTest : WorkloadMetricsTest {
  void live() {
    at(1, [&](auto& status) {
      status.admission_checks.emplace_back().name = "check";
      admit();
    });
    metrics.gate_removed("kueue.x-k8s.io/admission", workload, true, kStart + std::chrono::milliseconds(1250), queues);
    at(5, [&](auto&) { set("PodsReady", true); });
    at(10, [&](auto& status) {
      status.evictions = {{"Preempted", "", 1}};
      set("Evicted", true, "Preempted");
      set("Preempted", true, "InCohortReclamation", "Preempted; preemptor path: /root/cq; preemptee path: /root/cq");
    });
    at(13, [&](auto& status) {
      set("QuotaReserved", false);
      status.admission.reset();
    });
    at(14, [&](auto&) {
      for (const char* type : {"Admitted", "PodsReady", "Preempted", "Evicted"}) set(type, false);
    });
    at(20, [&](auto&) { admit(); });
    at(22, [&](auto&) { set("PodsReady", false, "WaitForRecovery"); });
    at(25, [&](auto&) { set("PodsReady", true, "Recovered"); });
    at(30, [&](auto&) { set("Finished", true); });
  }
};

class QueueMetricsTest : public testing::Test {
 protected:
  explicit QueueMetricsTest(const engine::Options& options = {}) : engine(options) {
    engine.handle(kStart, engine::NamespaceSeen{"a", {}});
    engine.handle(kStart,
                  engine::ResourceFlavorSeen{ptr(api::kueue::decode_resource_flavor(object("metadata: {name: f}")))});
    queue("{name: cpu, nominalQuota: 3, borrowingLimit: 500m}");
    stored["localqueues/a/lq"] =
        std::make_shared<const Json>(object("{metadata: {name: lq, namespace: a}, spec: {clusterQueue: cq}}"));
    engine.handle(kStart, engine::LocalQueueSeen{ptr(api::kueue::decode_local_queue(*stored["localqueues/a/lq"]))});
    metrics.local_queue_changed("a", "lq");
    for (const char* name : {"w1", "w2"}) workload(name);
    engine.handle(kStart, engine::Synced{});
    decide();
  }
  // A workload of two pods with one cpu each.
  void workload(const std::string& name) {
    engine.handle(
        kStart,
        engine::WorkloadSeen{ptr(api::kueue::decode_workload(object(
            "{metadata: {name: " + name + ", namespace: a, uid: " + name +
            ", creationTimestamp: '2026-11-21T09:00:00Z'}, spec: {queueName: lq, active: true, podSets: [{name: main, "
            "count: 2, template: {spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}}]}}")))});
  }
  void queue(const std::string& resource, const std::string& weight = "1") {
    stored["clusterqueues//cq"] = std::make_shared<const Json>(
        object("{metadata: {name: cq}, spec: {cohortName: team, fairSharing: {weight: '" + weight +
               "'}, namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, "
               "resources: [" +
               resource + "]}]}]}}"));
    engine.handle(kStart,
                  engine::ClusterQueueSeen{ptr(api::kueue::decode_cluster_queue(*stored["clusterqueues//cq"]))});
    metrics.cluster_queue_changed("cq");
  }
  // Two queues of one cohort whose workloads want the quota of the same victim, so that the second one searches again.
  void overlapping_preemptions() {
    for (const char* name : {"lender", "left", "right"}) {
      const bool lends = std::string_view(name) == "lender";
      engine.handle(kStart,
                    engine::ClusterQueueSeen{ptr(api::kueue::decode_cluster_queue(
                        object("{metadata: {name: " + std::string(name) +
                               "}, spec: {cohortName: overlap, "
                               "namespaceSelector: {}, preemption: {reclaimWithinCohort: Any}, resourceGroups: "
                               "[{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: " +
                               (lends ? "0" : "2") + "}]}]}]}}")))});
      stored["clusterqueues//" + std::string(name)] = std::make_shared<const Json>(
          object("{metadata: {name: " + std::string(name) + "}, spec: {cohortName: overlap}}"));
      metrics.cluster_queue_changed(name);
      engine.handle(
          kStart,
          engine::LocalQueueSeen{ptr(api::kueue::decode_local_queue(object(
              "{metadata: {name: " + std::string(name) + ", namespace: a}, spec: {clusterQueue: " + name + "}}")))});
    }
    workload_in("lender", "borrows", 4);
    decide();
    workload_in("left", "wants", 2);
    workload_in("right", "wants-too", 2);
    decide();
  }
  void workload_in(const std::string& queue, const std::string& name, int cpu) {
    engine.handle(kStart, engine::WorkloadSeen{ptr(api::kueue::decode_workload(
                              object("{metadata: {name: " + name + ", namespace: a, uid: " + name +
                                     ", creationTimestamp: '2026-11-21T09:00:00Z'}, spec: {queueName: " + queue +
                                     ", active: true, podSets: [{name: main, count: 1, template: {spec: {containers: "
                                     "[{name: c, resources: {requests: {cpu: " +
                                     std::to_string(cpu) + "}}}]}}}]}}")))});
  }
  void decide() {
    const engine::Effects effects = engine.schedule(kStart);
    metrics.decided(effects, {kStart, std::chrono::milliseconds(3), engine.evaluated()});
    for (const auto& effect : effects) {
      if (const auto* e = std::get_if<engine::ClusterQueueStatusChanged>(&effect))
        metrics.cluster_queue_changed(e->name);
      if (const auto* e = std::get_if<engine::LocalQueueStatusChanged>(&effect))
        metrics.local_queue_changed(e->ns, e->name);
    }
  }
  void refresh() { refresh(metrics); }
  void refresh(ControllerMetrics& those) {
    const auto get = [this](const std::string& key) {
      const auto it = stored.find(key);
      return it == stored.end() ? JsonPtr() : it->second;
    };
    those.refresh(
        engine,
        [&](const api::GroupVersionResource& what, std::string_view ns, std::string_view name) {
          return get(what.resource + "/" + std::string(ns) + "/" + std::string(name));
        },
        [&](const std::string& name) {
          const JsonPtr object = get("clusterqueues//" + name);
          return object ? ptr(api::kueue::decode_cluster_queue(*object)) : nullptr;
        });
  }

  Metrics registry;
  ControllerMetrics metrics{registry, {.cluster_queue_resources = true}};
  engine::Engine engine;
  std::map<std::string, JsonPtr> stored;
};

struct FairQueueMetricsTest : QueueMetricsTest {
  FairQueueMetricsTest()
      : QueueMetricsTest([] {
          engine::Options options;
          options.fair_sharing.enabled = true;
          return options;
        }()) {}
};

}  // namespace berth::controller::metrics_fixture
