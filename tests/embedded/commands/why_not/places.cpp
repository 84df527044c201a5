// Places in a topology, and pods of admitted jobs that do not run.
#include "embedded/commands/why_not/stage.h"

namespace berth::cli::why_not {
namespace {

const std::string kRack = "kueue.x-k8s.io/podset-required-topology: cloud.provider.com/topology-rack";

// 100 cpus of a flavor with racks and hosts.
void racks(Stage& stage) {
  stage.apply(R"(
{apiVersion: kueue.x-k8s.io/v1beta2, kind: Topology, metadata: {name: room}, spec: {levels: [{nodeLabel: cloud.provider.com/topology-rack}, {nodeLabel: kubernetes.io/hostname}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: racked}, spec: {topologyName: room, nodeLabels: {cloud.provider.com/node-group: tas-group}}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: team}
spec:
  namespaceSelector: {}
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: racked, resources: [{name: cpu, nominalQuota: 100}]}]}]
)");
}

Situation on_racks(std::string name, std::function<void(Stage&)> play) {
  return {std::move(name),
          [play = std::move(play)](Stage& s) {
            racks(s);
            play(s);
          },
          {.nodes = "1x2x2"}};
}

void on_nodes(Stage& stage, const std::string& body) {
  for (const char* node : {"b1-r1-n1", "b1-r1-n2", "b1-r2-n1", "b1-r2-n2"}) stage.patch("Node", node, body);
}

}  // namespace

std::vector<Situation> of_places() {
  return {
      on_racks("No rack has enough room now",
               [](Stage& s) {
                 s.job("other-1", {.requests = "cpu: 5", .pods = 1, .pod_annotations = kRack});
                 s.job("other-2", {.requests = "cpu: 5", .pods = 2, .pod_annotations = kRack});
                 s.job("train", {.requests = "cpu: 4", .pods = 4, .pod_annotations = kRack});
               }),
      on_racks("It can never fit on a rack",
               [](Stage& s) { s.job("train", {.requests = "cpu: 4", .pods = 5, .pod_annotations = kRack}); }),
      on_racks("All nodes of the flavor are cordoned",
               [](Stage& s) {
                 on_nodes(s, "{spec: {unschedulable: true}}");
                 s.job("train", {.requests = "cpu: 2", .pod_annotations = kRack});
               }),
      on_racks("Pods of a job that is gone still end on the nodes",
               [](Stage& s) {
                 s.job("other", {.requests = "cpu: 6",
                                 .pods = 4,
                                 .pod_annotations = "berth.dev/stop-after: 200s",
                                 .pod = "terminationGracePeriodSeconds: 300"});
                 s.remove("Job", "other");
                 s.job("train", {.requests = "cpu: 4", .pod_annotations = kRack});
               }),
      on_racks("Its pods do not tolerate the taint of the nodes",
               [](Stage& s) {
                 on_nodes(s, "{spec: {taints: [{key: maintenance, value: 'true', effect: NoSchedule}]}}");
                 s.job("train", {.pod_annotations = kRack});
               }),
      on_racks("The topology has no such level",
               [](Stage& s) {
                 s.job("train", {.pod_annotations = "kueue.x-k8s.io/podset-required-topology: example.com/switch"});
               }),
      on_racks("One pod asks for more than any node has",
               [](Stage& s) { s.job("train", {.requests = "cpu: 12", .pod_annotations = kRack}); }),
      on_racks("It asks for places, but the flavor's nodes are not ready",
               [](Stage& s) {
                 on_nodes(s, "{metadata: {annotations: {berth.dev/fail: NotReady}}}");
                 s.wait(minutes(2));
                 s.job("train", {.pod_annotations = kRack});
               }),
      {"It asks for a topology, and the queue's flavor has none",
       [](Stage& s) { s.job("train", {.pod_annotations = kRack}); }},
  };
}

std::vector<Situation> of_pods() {
  return {
      {"Admitted, but no node has the labels of the flavor",
       [](Stage& s) {
         s.apply(
             "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: h100}, spec: {nodeLabels: "
             "{example.com/gpu: h100}}}\n---\n"
             "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: team}, spec: "
             "{namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu], flavors: [{name: h100, resources: "
             "[{name: cpu, nominalQuota: 4}]}]}]}}");
         s.job("train", {"cpu: 1", 2});
         s.wait(seconds(30));
       }},
      {"Admitted, but a pod is larger than every node",
       [](Stage& s) {
         s.queue("", "16");
         s.job("train", {"cpu: 10"});
         s.wait(seconds(30));
       }},
      {"Admitted, but all nodes are cordoned",
       [](Stage& s) {
         for (const char* node : {"b1-r1-n1", "b1-r1-n2"}) s.patch("Node", node, "{spec: {unschedulable: true}}");
         s.job("train", {});
         s.wait(seconds(30));
       }},
      {"Admitted, but pods without quota fill the nodes",
       [](Stage& s) {
         for (const char* name : {"stranger-1", "stranger-2"})
           s.apply("{apiVersion: v1, kind: Pod, metadata: {name: " + std::string(name) +
                   ", namespace: default, annotations: {berth.dev/run-for: 24h}}, spec: {containers: [{name: c, image: "
                   "i, resources: {requests: {cpu: 6}}}]}}");
         s.job("train", {"cpu: 4"});
         s.wait(seconds(30));
       }},
      {"Admitted, but its pods have a gate of another controller",
       [](Stage& s) {
         s.job("train", {.pod = "schedulingGates: [{name: example.com/data}]"});
         s.wait(seconds(30));
       }},
      {"Admitted, but its pods select a zone that no node is in",
       [](Stage& s) {
         s.job("train", {.pod = "nodeSelector: {topology.kubernetes.io/zone: west}"});
         s.wait(seconds(30));
       }},
  };
}

}  // namespace berth::cli::why_not
