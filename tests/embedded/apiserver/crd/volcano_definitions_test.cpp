// The CRDs of Volcano's kinds have the names, fields, defaults and limits that Volcano's clients and manifests
// expect.
#include <gmock/gmock.h>

#include "base/embedded.h"
#include "embedded/apiserver/crd/crd.h"
#include "embedded/apiserver/schema/support.h"

namespace berth::apiserver::volcano_definitions_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ResourcePtr resource(std::string_view plural_and_group) {
  for (const embedded::File& file : embedded::crds()) {
    const Json crd = schema_support::yaml(file.content);
    if (string_at(crd, {"metadata", "name"}) == plural_and_group) return resources_of_crd(crd)->at(0);
  }
  ADD_FAILURE() << "no CRD " << plural_and_group;
  return nullptr;
}

const ResourcePtr& queues() {
  static const ResourcePtr definition = resource("queues.scheduling.volcano.sh");
  return definition;
}

std::vector<std::string> errors(const ResourcePtr& definition, const Json& object) {
  return schema_support::texts(validate_custom_object(object, nullptr, *definition, ""));
}

// The fields that strict field validation would report.
std::vector<std::string> unknown_fields(const ResourcePtr& definition, Json object) {
  std::vector<std::string> unknown;
  prune(object, *definition->schema, true, &unknown);
  return unknown;
}

Json with_defaults(const ResourcePtr& definition, std::string_view text) {
  Json object = schema_support::yaml(text);
  apply_defaults(object, *definition->schema);
  return object;
}

Json queue_with(std::string_view field, std::string_view value) {
  return schema_support::yaml("{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: q}, spec: {" +
                              std::string(field) + ": " + std::string(value) + "}}");
}

TEST(VolcanoDefinitions, HaveVolcanosNamesAndColumns) {
  EXPECT_EQ(queues()->gvr, (api::GroupVersionResource{"scheduling.volcano.sh", "v1beta1", "queues"}));
  EXPECT_FALSE(queues()->namespaced);
  EXPECT_TRUE(queues()->has_status);
  EXPECT_THAT(queues()->short_names, ElementsAre("q", "queue-v1beta1"));
  ASSERT_EQ(queues()->columns.size(), 1u);
  EXPECT_EQ(queues()->columns[0].json_path, ".spec.parent");

  const ResourcePtr groups = resource("podgroups.scheduling.volcano.sh");
  EXPECT_TRUE(groups->namespaced);
  EXPECT_FALSE(groups->has_status);  // Volcano's clients write spec and status together
  EXPECT_THAT(groups->short_names, ElementsAre("pg", "podgroup-v1beta1"));
  EXPECT_EQ(groups->columns.size(), 5u);

  const ResourcePtr jobs = resource("jobs.batch.volcano.sh");
  EXPECT_EQ(jobs->gvr, (api::GroupVersionResource{"batch.volcano.sh", "v1alpha1", "jobs"}));
  EXPECT_TRUE(jobs->has_status);
  EXPECT_THAT(jobs->short_names, ElementsAre("vcjob", "vj"));

  const ResourcePtr commands = resource("commands.bus.volcano.sh");
  EXPECT_EQ(commands->gvr, (api::GroupVersionResource{"bus.volcano.sh", "v1alpha1", "commands"}));
  EXPECT_TRUE(commands->namespaced);
  EXPECT_FALSE(commands->has_status);
}

TEST(VolcanoDefinitions, TakeAQueueWithEveryField) {
  const Json queue = schema_support::yaml(R"(
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: q}
spec:
  parent: tenant-a
  weight: 3
  reclaimable: false
  priority: 10
  dequeueStrategy: fifo
  type: batch
  capability: {cpu: 10, memory: 8Gi, nvidia.com/gpu: "4"}
  deserved: {cpu: 1500m}
  guarantee: {resource: {cpu: "1"}}
  affinity:
    nodeGroupAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [a], preferredDuringSchedulingIgnoredDuringExecution: [b]}
    nodeGroupAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [c]}
  extendClusters: [{name: c, weight: 1, capacity: {cpu: 1}}]
status: {state: Closing, allocated: {cpu: 1, pods: "3"}, pending: 1, reservation: {nodes: [n], resource: {cpu: 1}}}
)");
  EXPECT_THAT(errors(queues(), queue), IsEmpty());
  EXPECT_THAT(unknown_fields(queues(), queue), IsEmpty());
}

TEST(VolcanoDefinitions, BoundAQueue) {
  EXPECT_THAT(errors(queues(), queue_with("weight", "-1")),
              Contains(HasSubstr("spec.weight in body should be greater than or equal to 1")));
  EXPECT_THAT(errors(queues(), queue_with("weight", "65536")), Contains(HasSubstr("less than or equal to 65535")));
  EXPECT_THAT(errors(queues(), queue_with("priority", "-1")), Contains(HasSubstr("spec.priority")));
  EXPECT_THAT(errors(queues(), queue_with("dequeueStrategy", "lifo")),
              Contains(HasSubstr("Unsupported value: \"lifo\"")));
  EXPECT_THAT(errors(queues(), queue_with("parent", "A_b")), Contains(HasSubstr("spec.parent")));
  EXPECT_THAT(errors(queues(), queue_with("capability", "{cpu: ten}")), Contains(HasSubstr("spec.capability.cpu")));
  EXPECT_THAT(unknown_fields(queues(), queue_with("capacity", "{}")), ElementsAre("spec.capacity"));
}

TEST(VolcanoDefinitions, FillInVolcanosDefaults) {
  EXPECT_EQ(canonical_json(with_defaults(queues(), "{spec: {}}")),
            R"({"spec":{"dequeueStrategy":"traverse","weight":1}})");
  EXPECT_EQ(canonical_json(with_defaults(resource("podgroups.scheduling.volcano.sh"),
                                         "{spec: {networkTopology: {}, subGroupPolicy: [{name: a}]}}")),
            R"({"spec":{"networkTopology":{"mode":"hard"},"queue":"default",)"
            R"("subGroupPolicy":[{"minSubGroups":0,"name":"a","subGroupSize":1}]}})");
  EXPECT_EQ(canonical_json(with_defaults(resource("jobs.batch.volcano.sh"), "{spec: {tasks: []}}")),
            R"({"spec":{"maxRetry":3,"queue":"default","tasks":[]}})");
}

TEST(VolcanoDefinitions, TakeAJobAsVolcanosExamplesWriteIt) {
  const ResourcePtr jobs = resource("jobs.batch.volcano.sh");
  const Json job = schema_support::yaml(R"(
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: mpi, labels: {volcano.sh/job-type: MPI}}
spec:
  minAvailable: 3
  schedulerName: volcano
  plugins: {ssh: [], svc: [--publish-not-ready-addresses=true]}
  queue: research
  policies: [{event: PodEvicted, action: RestartJob}, {events: [PodFailed], action: AbortJob, timeout: 5m}]
  volumes: [{mountPath: /data, volumeClaim: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]
  tasks:
    - replicas: 1
      name: master
      policies: [{event: TaskCompleted, action: CompleteJob}]
      template:
        metadata: {labels: {a: b}}
        spec: {restartPolicy: OnFailure, containers: [{name: m, image: i, resources: {requests: {cpu: 500m}}, ports: [{containerPort: 22}]}]}
    - replicas: 2
      name: worker
      dependsOn: {name: [master]}
      partitionPolicy: {totalPartitions: 1, partitionSize: 2}
      template: {spec: {containers: [{name: w, image: i}]}}
status:
  state: {phase: Running, lastTransitionTime: "2026-11-21T09:30:00Z"}
  taskStatusCount: {worker: {phase: {Running: 2}}}
  conditions: [{status: Running, lastTransitionTime: "2026-11-21T09:30:00Z"}]
)");
  EXPECT_THAT(errors(jobs, job), IsEmpty());
  EXPECT_THAT(unknown_fields(jobs, job), IsEmpty());
  Json bad = job;
  ensure_path(bad, {"spec", "tasks"}) = JsonArray();
  EXPECT_THAT(errors(jobs, bad), Contains(HasSubstr("spec.tasks in body should have at least 1 items")));
  bad = job;
  ensure_path(bad, {"status", "state", "phase"}) = "Sleeping";
  EXPECT_THAT(errors(jobs, bad), Contains(HasSubstr("Unsupported value: \"Sleeping\"")));
}

TEST(VolcanoDefinitions, TakePodGroupsAndCommands) {
  const ResourcePtr groups = resource("podgroups.scheduling.volcano.sh");
  const Json group = schema_support::yaml(R"(
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: g, namespace: n}
spec:
  minMember: 2
  minTaskMember: {worker: 2}
  minResources: {cpu: 2, nvidia.com/gpu: "1"}
  queue: q
  priorityClassName: high
  networkTopology: {mode: soft, highestTierAllowed: 2}
  subGroupPolicy: [{name: s, subGroupSize: 2, labelSelector: {matchExpressions: [{key: k, operator: Exists}]}, matchLabelKeys: [k]}]
status:
  phase: Inqueue
  conditions: [{type: Unschedulable, status: "True", transitionID: x, lastTransitionTime: "2026-11-21T09:30:00Z", reason: r, message: m}]
  running: 1
)");
  EXPECT_THAT(errors(groups, group), IsEmpty());
  EXPECT_THAT(unknown_fields(groups, group), IsEmpty());

  const ResourcePtr commands = resource("commands.bus.volcano.sh");
  const Json command = schema_support::yaml(R"(
apiVersion: bus.volcano.sh/v1alpha1
kind: Command
metadata: {name: c, namespace: n}
action: CloseQueue
target: {apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, name: q, uid: u, controller: true, blockOwnerDeletion: true}
reason: r
message: m
)");
  EXPECT_THAT(errors(commands, command), IsEmpty());
  EXPECT_THAT(unknown_fields(commands, command), IsEmpty());
  Json bad = command;
  erase_path(bad, {"target", "name"});
  EXPECT_THAT(errors(commands, bad), Contains(HasSubstr("target.name: Required value")));
}

}  // namespace
}  // namespace berth::apiserver::volcano_definitions_test
