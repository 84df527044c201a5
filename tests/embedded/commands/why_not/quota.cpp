// Quota is missing, or never suffices; queues that admit nothing.
#include "embedded/commands/why_not/stage.h"

namespace berth::cli::why_not {
namespace {

constexpr const char* kVersion = "apiVersion: kueue.x-k8s.io/v1beta2";

// Another ClusterQueue of 8 cpus, or as many, with the LocalQueue other.
void neighbour(Stage& stage, const std::string& fields, const std::string& quota = "nominalQuota: 8") {
  const std::string version = kVersion;
  stage.apply("{" + version + ", kind: ClusterQueue, metadata: {name: neighbour}, spec: {namespaceSelector: {}, " +
              fields +
              ", resourceGroups: [{coveredResources: [cpu], flavors: [{name: default, resources: [{name: cpu, " +
              quota + "}]}]}]}}\n---\n{" + version +
              ", kind: LocalQueue, metadata: {name: other, namespace: default}, spec: {clusterQueue: neighbour}}");
}

void priorities(Stage& stage) {
  const std::string version = kVersion;
  stage.apply("{" + version + ", kind: WorkloadPriorityClass, metadata: {name: high}, value: 1000}\n---\n{" + version +
              ", kind: WorkloadPriorityClass, metadata: {name: low}, value: 1}");
}

const std::string kHigh = "kueue.x-k8s.io/priority-class: high", kLow = "kueue.x-k8s.io/priority-class: low";

// The queue's only resource group, with this text in the place of the usual one.
void groups(Stage& stage, const std::string& text) {
  stage.apply("{" + std::string(kVersion) +
              ", kind: ClusterQueue, metadata: {name: team}, spec: {namespaceSelector: {}, resourceGroups: [" + text +
              "]}}");
}

void stop(Stage& stage, const std::string& kind, const std::string& name, const std::string& policy) {
  stage.patch(kind, name, "{spec: {stopPolicy: " + policy + "}}");
}

}  // namespace

std::vector<Situation> of_quota() {
  return {
      {"All of the queue's quota is in use",
       [](Stage& s) {
         s.job("other", {"cpu: 6"});
         s.job("train", {"cpu: 4"});
       }},
      {"It asks for more than the queue can ever have", [](Stage& s) { s.job("train", {"cpu: 3", 4}); }},
      {"The queue borrows as much as it may",
       [](Stage& s) {
         s.apply("{" + std::string(kVersion) + ", kind: Cohort, metadata: {name: research}, spec: {}}");
         neighbour(s, "cohortName: research");
         s.patch("ClusterQueue", "team",
                 "{spec: {cohortName: research, resourceGroups: [{coveredResources: [cpu], flavors: [{name: default, "
                 "resources: [{name: cpu, nominalQuota: 8, borrowingLimit: 2}]}]}]}}");
         s.job("other", {"cpu: 3", 3});
         s.job("train", {"cpu: 1", 2});
       }},
      {"Other queues of the cohort use the quota, and it may not reclaim it",
       [](Stage& s) {
         s.patch("ClusterQueue", "team", "{spec: {cohortName: research}}");
         neighbour(s, "cohortName: research");
         s.job("other", {"cpu: 7", 2, "other"});
         s.job("train", {"cpu: 6"});
       }},
      {"Others lend only a part of what they have",
       [](Stage& s) {
         s.patch("ClusterQueue", "team", "{spec: {cohortName: research}}");
         neighbour(s, "cohortName: research", "nominalQuota: 8, lendingLimit: 1");
         s.job("other", {"cpu: 6"});
         s.job("train", {"cpu: 4"});
       }},
      {"The cohort above borrows as much as it may",
       [](Stage& s) {
         const std::string version = kVersion;
         s.apply("{" + version + ", kind: Cohort, metadata: {name: company}, spec: {}}\n---\n{" + version +
                 ", kind: Cohort, metadata: {name: research}, spec: {parentName: company, resourceGroups: "
                 "[{coveredResources: [cpu], flavors: [{name: default, resources: [{name: cpu, nominalQuota: 0, "
                 "borrowingLimit: 1}]}]}]}}");
         s.patch("ClusterQueue", "team", "{spec: {cohortName: research}}");
         neighbour(s, "cohortName: company");
         s.job("other", {"cpu: 6"});
         s.job("train", {"cpu: 4"});
       }},
      {"StrictFIFO: a larger job stands before it",
       [](Stage& s) {
         s.queue("queueingStrategy: StrictFIFO");
         s.job("other", {"cpu: 6"});
         s.job("large", {"cpu: 8"});
         s.job("train", {"cpu: 1"});
       }},
      {"An equal job was tried just before, and found no quota",
       [](Stage& s) {
         s.job("other", {"cpu: 6"});
         s.job("twin", {"cpu: 4"});
         s.job("train", {"cpu: 4"});
       }},
      {"It was preempted, and waits again",
       [](Stage& s) {
         priorities(s);
         s.queue("preemption: {withinClusterQueue: LowerPriority}");
         s.job("train", {.requests = "cpu: 4", .labels = kLow});
         s.job("other", {.requests = "cpu: 6", .labels = kHigh});
         s.wait(minutes(1));
       }},
      {"The queue has no quota for a resource that it asks for",
       [](Stage& s) { s.job("train", {"cpu: 1, example.com/gpu: 1}, limits: {example.com/gpu: 1"}); }},
      {"Each of two flavors has too little left",
       [](Stage& s) {
         s.apply("{" + std::string(kVersion) + ", kind: ResourceFlavor, metadata: {name: spot}}");
         groups(s,
                "{coveredResources: [cpu], flavors: [{name: default, resources: [{name: cpu, nominalQuota: 4}]}, "
                "{name: spot, resources: [{name: cpu, nominalQuota: 4}]}]}");
         s.job("other-1", {"cpu: 3"});
         s.job("other-2", {"cpu: 3"});
         s.job("train", {"cpu: 2"});
       }},
      {"Not even the fewest pods that it allows fit now",
       [](Stage& s) {
         s.job("other", {"cpu: 6"});
         s.job("train", {.requests = "cpu: 1", .pods = 4, .annotations = "kueue.x-k8s.io/job-min-parallelism: '3'"});
       }},
      {"The number of pods is limited",
       [](Stage& s) {
         groups(s,
                "{coveredResources: [cpu, pods], flavors: [{name: default, resources: [{name: cpu, nominalQuota: 8}, "
                "{name: pods, nominalQuota: 4}]}]}");
         s.job("other", {"cpu: 1", 3});
         s.job("train", {"cpu: 1", 2});
       }},
  };
}

std::vector<Situation> of_queues() {
  return {
      {"The queue's name is mistyped", [](Stage& s) { s.job("train", {.queue = "mian"}); }},
      {"The LocalQueue names a ClusterQueue that does not exist",
       [](Stage& s) {
         s.apply("{" + std::string(kVersion) +
                 ", kind: LocalQueue, metadata: {name: next, namespace: default}, spec: {clusterQueue: tema}}");
         s.job("train", {.queue = "next"});
       }},
      {"The ClusterQueue is stopped",
       [](Stage& s) {
         stop(s, "ClusterQueue", "team", "Hold");
         s.job("train", {});
       }},
      {"The ClusterQueue was drained while it ran",
       [](Stage& s) {
         s.job("train", {});
         stop(s, "ClusterQueue", "team", "HoldAndDrain");
         s.wait(minutes(1));
       }},
      {"The LocalQueue is stopped",
       [](Stage& s) {
         stop(s, "LocalQueue", "main", "Hold");
         s.job("train", {});
       }},
      {"A flavor of the queue does not exist",
       [](Stage& s) {
         groups(s, "{coveredResources: [cpu], flavors: [{name: a100, resources: [{name: cpu, nominalQuota: 4}]}]}");
         s.job("train", {});
       }},
      {"An admission check of the queue does not exist",
       [](Stage& s) {
         s.queue("admissionChecksStrategy: {admissionChecks: [{name: budget}]}");
         s.job("train", {});
       }},
      {"The queue does not take jobs of this namespace",
       [](Stage& s) {
         s.patch("ClusterQueue", "team", "{spec: {namespaceSelector: {matchLabels: {department: physics}}}}");
         s.job("train", {});
       }},
      {"Cohorts form a cycle",
       [](Stage& s) {
         const std::string version = kVersion;
         s.apply("{" + version + ", kind: Cohort, metadata: {name: a}, spec: {parentName: b}}\n---\n{" + version +
                 ", kind: Cohort, metadata: {name: b}, spec: {parentName: a}}");
         s.patch("ClusterQueue", "team", "{spec: {cohortName: a}}");
         s.job("train", {});
       }},
      {"The topology of a flavor does not exist",
       [](Stage& s) {
         s.apply("{" + std::string(kVersion) +
                 ", kind: ResourceFlavor, metadata: {name: racked}, spec: {topologyName: room, nodeLabels: {a: b}}}");
         groups(s, "{coveredResources: [cpu], flavors: [{name: racked, resources: [{name: cpu, nominalQuota: 4}]}]}");
         s.job("train", {});
       }},
      {"Its pods select other nodes than the flavor's",
       [](Stage& s) {
         s.apply("{" + std::string(kVersion) +
                 ", kind: ResourceFlavor, metadata: {name: a100}, spec: {nodeLabels: {example.com/gpu: a100}}}");
         groups(s, "{coveredResources: [cpu], flavors: [{name: a100, resources: [{name: cpu, nominalQuota: 4}]}]}");
         s.job("train", {.pod = "nodeSelector: {example.com/gpu: h100}"});
       }},
      {"The flavor has a taint that its pods do not tolerate",
       [](Stage& s) {
         s.apply("{" + std::string(kVersion) +
                 ", kind: ResourceFlavor, metadata: {name: spot}, spec: {nodeTaints: [{key: spot, value: 'true', "
                 "effect: NoSchedule}]}}");
         groups(s, "{coveredResources: [cpu], flavors: [{name: spot, resources: [{name: cpu, nominalQuota: 4}]}]}");
         s.job("train", {});
       }},
      {"The queue is being deleted, and something still runs in it",
       [](Stage& s) {
         s.job("other", {});
         s.remove("ClusterQueue", "team");
         s.job("train", {});
       }},
  };
}

}  // namespace berth::cli::why_not
