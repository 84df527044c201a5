#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/yaml.h"
#include "console/activity.h"
#include "console/changes.h"
#include "console/node_use.h"
#include "console/rows/other_rows.h"
#include "console/rows/queue_rows.h"
#include "console/rows/workload_row.h"
#include "console/usage_series.h"

namespace berth::console::rows_test {
namespace {

Json yaml(std::string_view text) { return parse_yaml(text).value().at(0); }
Json row_of(MakeRow make, const Json& object) { return parse_json(make(object).value().json).value(); }

constexpr const char* kWorkload = R"(
metadata: {namespace: n, name: w, uid: u, creationTimestamp: "2026-11-21T09:00:00Z",
           ownerReferences: [{apiVersion: batch/v1, kind: Job, name: j, controller: true}]}
spec: {queueName: q, priority: 7, priorityClassRef: {name: high}, active: true,
       podSets: [{name: a, count: 3, template: {spec: {containers: [{resources: {requests: {cpu: 500m, memory: 1Gi}}}]}}}]}
)";

TEST(WorkloadRow, PendingShowsWhatItAsksForAndWhy) {
  Json workload = yaml(kWorkload);
  workload.as_object()["status"] = yaml(R"(
conditions: [{type: QuotaReserved, status: "False", reason: Pending, message: no quota}]
)");
  EXPECT_EQ(
      to_string(row_of(workload_row, workload)),
      R"({"key":"n/w","ns":"n","name":"w","created":1795251600000,"uid":"u","queue":"q","state":"pending",)"
      R"("reason":"Pending","message":"no quota","why":"pending","priority":7,"pc":"high","waitsSince":1795251600000,)"
      R"("evictions":0,"owner":{"kind":"Job","name":"j","group":"batch"},"pods":3,)"
      R"("requests":{"cpu":1500,"memory":3221225472}})");
}

// The usual manifest of a job with GPUs.
TEST(WorkloadRow, LimitsCountWhereRequestsAreMissing) {
  Json workload = yaml(kWorkload);
  workload.as_object()["spec"].as_object()["podSets"] = yaml(R"(
- {name: a, count: 2, template: {spec: {containers: [
    {resources: {requests: {cpu: 1}, limits: {cpu: 2, nvidia.com/gpu: 4}}}]}}}
)");
  const Json row = row_of(workload_row, workload);
  EXPECT_EQ(to_string(Json(object_at(row, {"requests"}))), R"({"cpu":2000,"nvidia.com/gpu":8})");
}

std::string state(std::string_view status, bool active = true) {
  Json workload = yaml(kWorkload);
  workload.as_object()["spec"].as_object()["active"] = active;
  workload.as_object()["status"] = yaml(status);
  return std::string(string_at(row_of(workload_row, workload), {"state"}));
}

TEST(WorkloadRow, States) {
  EXPECT_EQ(state("{}"), "pending");
  EXPECT_EQ(state("{}", false), "inactive");
  EXPECT_EQ(state(R"({conditions: [{type: QuotaReserved, status: "True"}]})"), "quotaReserved");
  EXPECT_EQ(state(R"({conditions: [{type: QuotaReserved, status: "True"}, {type: Admitted, status: "True"}]})"),
            "admitted");
  EXPECT_EQ(state(R"({conditions: [{type: QuotaReserved, status: "True"}, {type: Evicted, status: "True"}]})"),
            "evicted");
  EXPECT_EQ(state(R"({conditions: [{type: Evicted, status: "True"}]})"), "pending");
  EXPECT_EQ(state(R"({conditions: [{type: Finished, status: "True", reason: Failed}]})"), "finished");
}

TEST(QueueRow, QuotasHaveTheirUsage) {
  const Json row = row_of(cluster_queue_row, yaml(R"(
metadata: {name: cq}
spec:
  cohortName: c
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 4, borrowingLimit: 2}]}]}]
status:
  pendingWorkloads: 5
  conditions: [{type: Active, status: "False", reason: FlavorNotFound, message: no f}]
  flavorsReservation: [{name: f, resources: [{name: cpu, total: 5, borrowed: 1}]}]
  flavorsUsage: [{name: f, resources: [{name: cpu, total: "4500m"}]}]
)"));
  EXPECT_EQ(
      to_string(row.at("quotas")),
      R"([{"flavor":"f","resource":"cpu","nominal":4000,"borrowingLimit":2000,"reserved":5000,"used":4500,"borrowed":1000}])");
  EXPECT_EQ(string_at(row, {"reason"}), "FlavorNotFound");
  EXPECT_EQ(int_at(row, {"pending"}), 5);
}

TEST(Rows, LongMessagesAreCutBetweenCharacters) {
  Json workload = yaml(kWorkload);
  std::string message(299, 'x');
  message += "\xc3\xa4 and more";
  workload.as_object()["status"] = JsonObject{
      {"conditions", JsonArray{JsonObject{{"type", "QuotaReserved"}, {"status", "False"}, {"message", message}}}}};
  EXPECT_EQ(string_at(row_of(workload_row, workload), {"message"}), std::string(299, 'x'));
}

TEST(Activity, CountsEachEventOnceInItsMinute) {
  Collection rates("rates");
  Activity activity(rates);
  const Time now = parse_time("2026-11-21T09:05:00Z").value();
  Json workload = yaml(kWorkload);
  for (int i = 0; i < 3; ++i) activity.workload_changed("n/w", &workload, now);
  workload.as_object()["status"] = yaml(R"(
conditions: [{type: Evicted, status: "True", reason: Preempted, lastTransitionTime: "2026-11-21T09:00:30Z"}]
)");
  for (int i = 0; i < 3; ++i) activity.workload_changed("n/w", &workload, now);
  Collection::Cursor cursor;
  EXPECT_EQ(
      *rates.next_part({true, {}}, cursor),
      R"({"key":"n|1795251600000","ns":"n","t":1795251600000,"submitted":1,"admitted":0,"evicted":1,"preempted":1,"finished":0})");
  activity.forget_old(now + std::chrono::hours(7));
  EXPECT_EQ(rates.size(), 0u);
}

TEST(Changes, OnlyWellFormedOnesAreSent) {
  const auto text = [](std::string_view change) {
    const auto request = read_change(parse_json(change).value());
    return request ? request->resource.resource + " " + to_string(request->body) : "error: " + request.error().message;
  };
  EXPECT_EQ(text(R"({"action":"stop","resource":"clusterqueues","name":"q","policy":"HoldAndDrain"})"),
            R"(clusterqueues {"spec":{"stopPolicy":"HoldAndDrain"}})");
  EXPECT_EQ(text(R"({"action":"resume","resource":"localqueues","namespace":"n","name":"q"})"),
            R"(localqueues {"spec":{"stopPolicy":"None"}})");
  for (const char* bad : {"{}", "[]", "7", R"({"action":"stop","resource":"clusterqueues","name":"q"})",
                          R"({"action":"stop","resource":"clusterqueues","name":"q","policy":"None"})",
                          R"({"action":"stop","resource":"nodes","name":"q","policy":"Hold"})",
                          R"({"action":"stop","resource":"localqueues","name":"q","policy":"Hold"})",
                          R"({"action":"activate","namespace":"a/b","name":"q"})",
                          R"({"action":"activate","namespace":"a","name":"../q"})",
                          R"({"action":"resume","resource":"clusterqueues","namespace":"n","name":"q"})"})
    EXPECT_TRUE(text(bad).starts_with("error: ")) << bad;
}

// Replaces some values in an object by something else.
void damage(Json& value) {
  static const Json kOther[] = {nullptr, true,     -1,     9'000'000'000'000'000'000, 1.5,
                                "",      "x/../y", "\n\n", JsonArray{7, nullptr},     JsonObject{{"", JsonArray{}}}};
  if (*rc::gen::inRange(0, 8) == 0) {
    value = kOther[*rc::gen::inRange<std::size_t>(0, std::size(kOther))];
  } else if (value.is_object()) {
    for (auto& [key, each] : value.get_object()) damage(each);
  } else if (value.is_array()) {
    for (auto& each : value.get_array()) damage(each);
  }
}

RC_GTEST_PROP(Rows, SurviveAnything, ()) {
  Json object = yaml(kWorkload);
  object.as_object()["status"] = yaml(R"(
conditions: [{type: Evicted, status: "True", lastTransitionTime: "2026-11-21T09:00:00Z"}, {type: Ready, status: "True"}]
admission: {clusterQueue: c, podSetAssignments: [{name: a, flavors: {cpu: f}, resourceUsage: {cpu: 1}, topologyAssignment: {}}]}
admissionChecks: [{name: c, state: Ready}]
schedulingStats: {evictions: [{count: 2}]}
flavorsUsage: [{name: f, resources: [{name: cpu, total: 1}]}]
flavorsReservation: [{name: f, resources: [{name: cpu, total: 1}]}]
fairSharing: {weightedShare: 3, admissionFairSharingStatus: {consumedResources: {cpu: 1}, lastUpdate: "2026-11-21T09:00:00Z"}}
allocatable: {cpu: 4}
)");
  auto& spec = object.as_object()["spec"].as_object();
  const Json more = yaml(R"(
resourceGroups: [{flavors: [{name: f, resources: [{name: cpu, nominalQuota: 1, borrowingLimit: 1}]}]}]
nodeLabels: {a: b}
nodeTaints: [{key: k, value: v, effect: NoSchedule}]
levels: [{nodeLabel: l}]
nodeName: n
taints: [{key: k}]
containers: [{resources: {requests: {cpu: 1}}}]
capability: {cpu: 1}
guarantee: {resource: {cpu: 1}}
fairSharing: {weight: 2}
)");
  for (const auto& [key, value] : more.as_object()) spec[key] = value;
  damage(object);
  for (const MakeRow make : {workload_row, cluster_queue_row, cohort_row, local_queue_row, flavor_row, topology_row,
                             check_row, provisioning_request_row, volcano_queue_row}) {
    if (const auto row = make(object)) {
      RC_ASSERT(row->json.find('\n') == std::string::npos);
      RC_ASSERT(string_at(parse_json(row->json).value(), {"key"}) == row->key);
    }
  }
  Collection nodes("nodes"), placements("placements"), series("series"), rates("rates");
  NodeUse use(nodes, placements);
  use.node_changed("n", &object);
  use.pod_changed("n/w", &object);
  use.workload_changed("n/w", &object);
  use.flush();
  use.pod_changed("n/w", nullptr);
  use.node_changed("n", nullptr);
  use.flush();
  UsageSeries usage(series);
  usage.queue_changed("q", &object);
  usage.sample(Time());
  Activity activity(rates);
  activity.workload_changed("n/w", &object, parse_time("2026-11-21T09:05:00Z").value());
  (void)read_change(object);
}

}  // namespace
}  // namespace berth::console::rows_test
