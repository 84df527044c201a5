#include "jobs/same_template.h"

#include <gtest/gtest.h>

#include <string>

#include "base/yaml.h"

namespace berth::jobs {
namespace {

Json with_container(const std::string& container) {
  return parse_yaml("{spec: {containers: [" + container + "]}}")->front();
}

TEST(SameTemplate, WhatAnApiServerChangesMakesNoDifference) {
  // What a job has, and what the Workload definition makes of it.
  const std::pair<std::string, std::string> kPairs[] = {
      {"{name: c, ports: [{containerPort: 80}]}", "{name: c, ports: [{containerPort: 80, protocol: TCP}]}"},
      {"{name: c, args: null}", "{name: c}"},
      {"{name: c, args: []}", "{name: c}"},
      {"{name: c, image: null, resources: null}", "{name: c}"},
      {"{name: c, resources: {limits: null}}", "{name: c, resources: {}}"},
      {"{name: c, resources: {requests: {cpu: null}}}", "{name: c, resources: {requests: {}}}"},
      {"{name: c, env: [{name: A, value: null}]}", "{name: c, env: [{name: A}]}"},
      {"{name: c, env: [{name: A, value: ''}]}", "{name: c, env: [{name: A}]}"},
      {"{name: c, envFrom: [{configMapRef: {}}]}", "{name: c, envFrom: [{configMapRef: {name: ''}}]}"},
      {"{name: c, livenessProbe: {grpc: {port: 1}}}", "{name: c, livenessProbe: {grpc: {port: 1, service: ''}}}"},
      {"{name: c, imagePullPolicyy: Never}", "{name: c}"},
      {"{name: c, env: [{name: A, vaule: x}]}", "{name: c, env: [{name: A}]}"},
  };
  for (const auto& [job, stored] : kPairs) {
    EXPECT_TRUE(same_template(with_container(job), with_container(stored), true)) << job;
    EXPECT_TRUE(same_template(with_container(stored), with_container(job), false)) << stored;
  }
}

TEST(SameTemplate, QuantitiesAreComparedByTheirValue) {
  const auto asking = [](const std::string& cpu) {
    return with_container("{name: c, resources: {requests: {cpu: " + cpu + "}, limits: {memory: 1Gi}}}");
  };
  for (const std::string cpu : {"1", "'1'", "1000m", "1.0"})
    EXPECT_TRUE(same_template(asking("'1'"), asking(cpu), true)) << cpu;
  EXPECT_EQ(template_difference(asking("1"), asking("1001m"), true),
            R"(spec.containers[0].resources.requests.cpu: "1" and "1001m")");
  EXPECT_FALSE(same_template(asking("odd"), asking("1"), true)) << "what is no quantity stays a text";
}

TEST(SameTemplate, TheFirstDifferenceIsReported) {
  EXPECT_EQ(template_difference(with_container("{name: c, image: x}"), with_container("{name: c, image: y}"), false),
            R"(spec.containers[0].image: "x" and "y")");
  EXPECT_EQ(template_difference(with_container("{name: c, args: [a]}"), with_container("{name: c}"), false),
            R"(spec.containers[0].args: ["a"] and nothing)");
}

TEST(SameTemplate, WhatRunsAndRequestsMakesADifference) {
  const std::string kBase = "{name: c, image: x}";
  for (const std::string other :
       {"{name: d, image: x}", "{name: c, image: y}", "{name: c, image: x, args: [a]}",
        "{name: c, image: x, resources: {requests: {cpu: 1}}}", "{name: c, image: x, resources: {requests: {name: 1}}}",
        "{name: c, image: x, ports: [{containerPort: 80, protocol: UDP}]}", "{name: c, image: x, tty: false}",
        "{name: c, image: x, securityContext: {runAsUser: 0}}", "{name: c, image: x, restartPolicy: Always}"})
    EXPECT_FALSE(same_template(with_container(kBase), with_container(other), false)) << other;
  EXPECT_FALSE(same_template(with_container(kBase), with_container(kBase + ", " + kBase), false));
}

TEST(SameTemplate, PlacementCountsOnDemand) {
  const Json here = parse_yaml("{spec: {nodeSelector: {a: b}, containers: []}}")->front();
  const Json there = parse_yaml("{spec: {tolerations: [], containers: []}}")->front();
  EXPECT_TRUE(same_template(here, there, false));
  EXPECT_FALSE(same_template(here, there, true));
  EXPECT_TRUE(same_template(there, parse_yaml("{spec: {affinity: {}}}")->front(), true));
}

}  // namespace
}  // namespace berth::jobs
