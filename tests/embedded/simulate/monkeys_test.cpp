// The monkeys themselves: which objects they draw, and whether a cluster can be restored after them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/yaml.h"
#include "embedded/apiserver/server/api_server.h"
#include "embedded/simulate/lab_names.h"
#include "embedded/simulate/storm.h"
#include "embedded/simulate/world.h"

namespace berth::simulation::monkeys_test {
namespace {

using simulate::Manner;
using simulate::MonkeyGroup;
using simulate::MonkeyKinds;
using simulate::MonkeyOptions;

constexpr Duration kBetweenActions = std::chrono::milliseconds(500);

Json yaml_of(std::string_view text) { return parse_yaml(text).value().front(); }

std::unique_ptr<simulate::World> empty_world(bool controller = false) {
  simulate::WorldOptions options;
  options.start = parse_time("2026-01-01T00:00:00Z").value();
  options.controller = controller;
  options.nodes = "1x1x2";
  options.node_resources = "cpu=8,memory=32Gi";
  return std::move(*simulate::World::make(options));
}

MonkeyKinds kinds_of(simulate::World& world) { return simulate::kinds_of(world.server().registry()); }

void play(simulate::World& world, MonkeyGroup& group, int actions) {
  for (int i = 0; i < actions; ++i) {
    group.step();
    world.run_for(kBetweenActions);
  }
}

TEST(MonkeyKinds, EveryKindThatIsPlayedWithIsServed) {
  const auto world = empty_world();
  const auto kinds = kinds_of(*world);
  for (const auto& [resource, weight] : MonkeyOptions::kinds_that_berth_reads()) {
    const auto* kind = kinds.find(resource);
    ASSERT_NE(kind, nullptr) << resource;
    EXPECT_FALSE(kind->kind.empty()) << resource;
    EXPECT_NE(find(kinds.resolve(*kind, *kind->schema), "properties"), nullptr) << resource;
  }
  EXPECT_TRUE(kinds.find("workloads.kueue.x-k8s.io")->namespaced);
  EXPECT_TRUE(kinds.find("workloads.kueue.x-k8s.io")->has_status);
  EXPECT_FALSE(kinds.find("workloadpriorityclasses.kueue.x-k8s.io")->has_status);
}

// An OpenAPI document that uses $ref in other ways than the embedded server's documents.
constexpr std::string_view kDocument = R"(
paths:
  /apis/example.com/v1/namespaces/{namespace}/things:
    get: {}
    post:
      requestBody: {content: {'*/*': {schema: {$ref: '#/components/schemas/Thing'}}}}
      x-kubernetes-group-version-kind: {group: example.com, version: v1, kind: Thing}
  /apis/example.com/v1/namespaces/{namespace}/things/{name}: {get: {}}
components:
  schemas:
    Thing: {type: object, properties: {spec: {allOf: [{$ref: '#/components/schemas/Spec'}], default: {}}}}
    Spec:
      type: object
      required: [size]
      properties:
        size: {type: integer, minimum: 3, maximum: 4}
        brandNew: {type: string, enum: [Red, Green]}
        more: {type: object, additionalProperties: {type: string, pattern: '^x[0-9]*$'}}
)";

TEST(ObjectMaker, DrawsEveryMemberThatTheSchemaHas) {
  MonkeyKinds kinds;
  kinds.read(yaml_of(kDocument));
  const auto* kind = kinds.find("things.example.com");
  ASSERT_NE(kind, nullptr);
  simulate::Words words;
  simulate::Random random(7);
  simulate::ObjectMaker maker(kinds, words, random);
  Manner manner{.optional = 700, .odd = 0, .missing = 0};
  std::map<std::string, int> seen;
  for (int i = 0; i < 500; ++i) {
    const Json thing = maker.make(*kind, manner, Time());
    EXPECT_EQ(string_at(thing, {"kind"}), "Thing");
    if (find(thing, "spec") == nullptr) continue;
    const auto size = int_at(thing, {"spec", "size"});
    EXPECT_TRUE(size == 3 || size == 4) << size;
    ++seen[std::string(string_at(thing, {"spec", "brandNew"}, "none"))];
  }
  EXPECT_GT(seen["Red"], 0);
  EXPECT_GT(seen["Green"], 0);
  EXPECT_GT(seen["none"], 0);
}

TEST(ObjectMaker, UsesTheWordsOfTheCluster) {
  MonkeyKinds kinds;
  kinds.read(yaml_of(kDocument));
  simulate::Words words;
  words.learn(yaml_of("{metadata: {name: a}, spec: {more: {colour: x12}}}"));
  simulate::Random random(7);
  simulate::ObjectMaker maker(kinds, words, random);
  Manner manner{.optional = 1000, .odd = 0, .missing = 0, .edge = 0};
  int used = 0;
  for (int i = 0; i < 200; ++i) {
    const Json thing = maker.make(*kinds.find("things.example.com"), manner, Time());
    used += string_at(thing, {"spec", "more", "colour"}) == "x12" ? 1 : 0;
  }
  EXPECT_GT(used, 20);
}

TEST(MonkeyGroup, DoesTheSameWithTheSameSeed) {
  std::map<std::string, std::uint64_t> first;
  for (int i = 0; i < 2; ++i) {
    const auto world = empty_world();
    const auto kinds = kinds_of(*world);
    MonkeyGroup group(world->client(), world->executor(), kinds, 5);
    play(*world, group, 400);
    EXPECT_EQ(group.log().actions, 400u);
    if (i == 0) {
      first = group.log().accepted_by_action;
    } else {
      EXPECT_EQ(group.log().accepted_by_action, first);
    }
  }
}

TEST(MonkeyGroup, MuchOfWhatTheyDoIsAccepted) {
  const auto world = empty_world(true);
  world->run_for(std::chrono::seconds(5));  // until Volcano's queues root and default exist
  const auto kinds = kinds_of(*world);
  // The schema alone does not say what a valid Job needs: monkeys learn it from existing objects.
  ASSERT_TRUE(
      world->create(yaml_of("{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: default}, "
                            "spec: {suspend: true, template: {spec: "
                            "{restartPolicy: Never, containers: [{name: c, image: i}]}}}}")));
  ASSERT_TRUE(
      world->create(yaml_of("{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: g, "
                            "namespace: default}, spec: {}}")));
  MonkeyGroup group(world->client(), world->executor(), kinds, 1);
  play(*world, group, 1500);
  const auto& log = group.log();
  EXPECT_GT(log.accepted * 4, log.accepted + log.refused) << "less than a quarter is accepted: little is tested";
  for (const char* action :
       {"create workloads", "change workloads", "write the status of workloads", "write a condition of workloads",
        "label or bind workloads", "delete workloads", "delete and make anew workloads", "create clusterqueues",
        "create localqueues", "create jobs", "create podgroups"})
    EXPECT_TRUE(log.accepted_by_action.contains(action)) << action;
}

TEST(MonkeyGroup, WhatTheClusterIsMadeOfComesBack) {
  const auto world = empty_world(true);  // with a controller, which must remove finalizers
  const auto kinds = kinds_of(*world);
  MonkeyOptions options;
  options.crds = true;
  MonkeyGroup group(world->client(), world->executor(), kinds, 3, options);
  ASSERT_TRUE(world->create(yaml_of("{apiVersion: v1, kind: Namespace, metadata: {name: team}}")));
  ASSERT_TRUE(
      world->create(yaml_of("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: q}, "
                            "spec: {namespaceSelector: {}}}")));
  ASSERT_TRUE(
      world->create(yaml_of("{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: q, "
                            "namespace: team}, spec: {clusterQueue: q}}")));
  group.remember([](const Result<void>& known) { EXPECT_TRUE(known) << known.error().message; });
  world->run_for(std::chrono::seconds(1));
  play(*world, group, 1000);
  std::vector<std::string> wrong = {"nothing was told"};
  for (int i = 0; i < 60 && !wrong.empty(); ++i) {
    group.restore([&wrong](std::vector<std::string> what) { wrong = std::move(what); });
    world->run_for(std::chrono::seconds(20));
  }
  EXPECT_THAT(wrong, testing::IsEmpty());
  EXPECT_TRUE(world->get("", "LocalQueue", "team", "q"));
  EXPECT_EQ(list_all(*world, "kueue.x-k8s.io/v1beta2", "ClusterQueue").size(), 1u);
  EXPECT_EQ(list_all(*world, "kueue.x-k8s.io/v1beta2", "Workload").size(), 0u);
}

}  // namespace
}  // namespace berth::simulation::monkeys_test
