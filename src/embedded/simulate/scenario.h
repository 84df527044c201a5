// Scenarios: real manifests, a timeline and expectations. They describe, test and demonstrate behaviour.
// docs/scenarios.md explains each field.
//
//   name: two-teams
//   about: what the scenario demonstrates
//   # Optional; without it no pod ever runs. Also scaleUp: 2x4 and provisioningDelay: 30s.
//   cluster: {nodes: 1x1x4, nodeResources: "cpu=8,memory=32Gi"}
//   featureGates: {TASBalancedPlacement: true}         # optional: see controller/feature_gates.h
//   configuration: {waitForPodsReady: {timeout: 1m}}   # optional: parts of Kueue's Configuration (v1beta2)
//   start: 2026-01-01T00:00:00Z                        # optional
//   manifests: [ ...objects, created in this order at 0s... ]
//   timeline:
//   - at: 10s
//     say: team-a asks for its quota back              # optional, printed for the reader
//     racks: true                                      # shows a picture of the racks (rack_picture.h)
//     apply: [ ...objects, created or merged... ]
//     refuse: [ ...objects that the server must refuse, each with because: a part of its message... ]
//     delete: [ {kind: Job, namespace: default, name: x} ]   # and apiVersion when several groups have it
//     patch: [ {kind: ClusterQueue, name: q, patch: {...}, subresource: status} ]
//     # Partial objects: see match.h. A workload can be named by its job.
//     expect: [ {kind: Job, metadata: {name: x}, absent: true}, {kind: Workload, job: x, status: {...}} ]
//     placed: [ {job: x, domains: {cloud.provider.com/topology-rack: 1}, pods: 4} ]   # see placed.h
//   end: 10m                                           # optional; default: until all workloads are done
//
// A step first checks (expect, placed, racks) and then acts (apply, refuse, patch, delete). A node fails by a patch
// ({metadata: {annotations: {berth.dev/fail: NotReady}}}). It can be cordoned, tainted and deleted like any object.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/config/configuration.h"
#include "base/json.h"
#include "base/time.h"
#include "controller/feature_gates.h"
#include "embedded/simulate/placed.h"

namespace berth::simulate {

struct Reference {
  std::string kind, ns, name;
  std::string api_version;  // empty: any group that has the kind, core Kubernetes groups first
};

struct Patch {
  Reference object;
  std::string subresource;
  Json patch;  // merge patch
};

struct Refusal {
  Json object;
  std::string because;
};

struct Step {
  Duration at{};
  std::string say;
  bool racks = false;
  std::vector<Json> apply;
  std::vector<Refusal> refuse;
  std::vector<Reference> remove;
  std::vector<Patch> patch;
  std::vector<Json> expect;
  std::vector<PlacedExpectation> placed;
};

struct Scenario {
  std::string name, about;
  // same format as the flags of `berth up`; empty: no cluster, no autoscaler
  std::string nodes, node_resources, devices, scale_up;
  Duration provisioning_delay = std::chrono::seconds(30);
  controller::FeatureGates feature_gates;
  api::config::Configuration configuration;
  Time start{};
  std::vector<Json> manifests;
  std::vector<Step> timeline;  // ordered by time
  std::optional<Duration> end;
};

// Parses YAML. An error names the place in the document and what was expected there.
Result<Scenario> parse_scenario(std::string_view text);

}  // namespace berth::simulate
