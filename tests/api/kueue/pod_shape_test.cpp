// Roles of pods against the annotations that Kueue was seen to write.
#include "api/kueue/pod_shape.h"

#include <gtest/gtest.h>

#include <set>

#include "base/yaml.h"

namespace berth::api::kueue::pod_shape_test {
namespace {

Json object(std::string_view yaml) { return parse_yaml(yaml).value().front(); }

// The spec of a pod as Kubernetes completes it before webhooks see it.
Json spec_of(std::string_view cpu, std::int64_t priority = 0) {
  Json spec = object(
      "{restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: '" + std::string(cpu) +
      "'}}}], tolerations: [{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, "
      "tolerationSeconds: 300}, {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, "
      "tolerationSeconds: 300}]}");
  ensure_path(spec, {"priority"}) = priority;
  return spec;
}

TEST(RoleHash, IsTheOneOfKueue) {
  const auto hash_of = [](std::string_view cpu, std::int64_t priority = 0) {
    return role_hash(spec_of(cpu, priority));
  };
  EXPECT_EQ(hash_of("1"), "4b0469f7");
  EXPECT_EQ(hash_of("2"), "c3465716");
  EXPECT_EQ(hash_of("3"), "b54683bb");
  EXPECT_EQ(hash_of("4"), "30c2423d");
  EXPECT_EQ(hash_of("3", 1000), "45b5fd70");
  EXPECT_EQ(hash_of("2000m"), "c3465716") << "amounts are compared, not their spelling";
}

TEST(RoleHash, DependsOnTheShapeOnly) {
  const Json base = spec_of("1");
  const auto changed = [&](std::initializer_list<std::string_view> path, std::string_view yaml) {
    Json spec = base;
    ensure_path(spec, path) = object("{v: " + std::string(yaml) + "}").at("v");
    return role_hash(spec);
  };
  const std::string same = role_hash(base);
  EXPECT_EQ(changed({"volumes"}, "[{name: v}]"), same);
  EXPECT_EQ(changed({"restartPolicy"}, "Always"), same);
  EXPECT_EQ(changed({"nodeSelector"}, "{}"), same);
  EXPECT_EQ(changed({"initContainers"}, "[]"), same);
  EXPECT_EQ(changed({"resources"}, "{limits: {cpu: 1}}"), same);
  EXPECT_EQ(changed({"containers"},
                    "[{name: d, image: j, env: [{name: e}], resources: {requests: {cpu: 1}, limits: "
                    "{cpu: 2}}}]"),
            same);
  std::set<std::string> all = {same};
  for (const std::string& hash :
       {changed({"nodeSelector"}, "{a: b}"), changed({"runtimeClassName"}, "r"), changed({"overhead"}, "{cpu: 1}"),
        changed({"resources"}, "{requests: {cpu: 1}}"), changed({"resourceClaims"}, "[{name: x}]"),
        changed({"initContainers"}, "[{name: c, resources: {requests: {cpu: 1}}}]"),
        changed({"topologySpreadConstraints"}, "[{maxSkew: 1}]"), changed({"affinity"}, "{nodeAffinity: {}}"),
        changed({"tolerations"}, "[]"),
        changed({"containers"}, "[{name: c, ports: [{containerPort: 1}], resources: {requests: {cpu: 1}}}]")})
    EXPECT_TRUE(all.insert(hash).second) << hash;
}

// Clients send members in any order; Kubernetes prints them in the order of its types.
TEST(RoleHash, DoesNotDependOnTheOrderOfMembers) {
  EXPECT_EQ(role_hash(object("{tolerations: [{key: a, operator: Equal, value: b, effect: NoSchedule}], containers: "
                             "[{resources: {requests: {cpu: 1, memory: 1Gi}}}]}")),
            role_hash(object("{containers: [{resources: {requests: {memory: 1Gi, cpu: 1}}}], tolerations: [{effect: "
                             "NoSchedule, value: b, key: a, operator: Equal}]}")));
}

}  // namespace
}  // namespace berth::api::kueue::pod_shape_test
