// The webhook rules for LeaderWorkerSets: what they get, and what is refused.
#include "api/kueue/leader_worker_set_rules.h"

#include <gtest/gtest.h>

#include "api/kueue/webhooks/admission.h"
#include "api/leaderworkerset/rolling_update.h"
#include "base/yaml.h"

namespace berth::api::kueue::leader_worker_set_rules_test {
namespace {

Json object(std::string_view yaml) { return parse_yaml(yaml).value().front(); }
std::string errors_of(const FieldErrors& errors) { return errors.empty() ? "" : to_string(errors); }

Json a_set(std::string_view labels, bool leaders = true) {
  Json out = object(R"(
metadata: {name: a, namespace: ns}
spec:
  replicas: 2
  leaderWorkerTemplate:
    size: 3
    workerTemplate: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}]}}
)");
  ensure_path(out, {"metadata", "labels"}) = object(labels);
  if (leaders)
    ensure_path(out, {"spec", "leaderWorkerTemplate", "leaderTemplate"}) =
        object("{spec: {containers: [{name: c, image: i, resources: {requests: {cpu: '2'}}}]}}");
  return out;
}
Json with(Json out, std::initializer_list<std::string_view> path, Json value) {
  ensure_path(out, path) = std::move(value);
  return out;
}
Json with_defaults(Json out, const JobContext& context = {}) {
  default_leader_worker_set(out, context);
  return out;
}
std::string metadata_of(const Json& set, std::string_view pod_template) {
  const Json* found = find_path(set, {"spec", "leaderWorkerTemplate", pod_template, "metadata"});
  return found == nullptr ? "" : to_string(*found);
}

constexpr std::string_view kQueued = "{kueue.x-k8s.io/queue-name: q}";
const std::string kWaits =
    R"("kueue.x-k8s.io/pod-group-serving":"true","kueue.x-k8s.io/pod-suspending-parent":"leaderworkerset.x-k8s.io/leaderworkerset")";

TEST(LeaderWorkerSetRules, BothTemplatesWaitInTheQueue) {
  const Json now = with_defaults(a_set("{kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/priority-class: high}"));
  const std::string labels = R"("labels":{"kueue.x-k8s.io/queue-name":"q","kueue.x-k8s.io/priority-class":"high"})";
  EXPECT_EQ(metadata_of(now, "leaderTemplate"), "{" + labels + R"(,"annotations":{)" + kWaits + "}}");
  EXPECT_EQ(metadata_of(now, "workerTemplate"),
            "{" + labels + R"(,"annotations":{)" + kWaits + R"(,"kueue.x-k8s.io/pod-index-offset":"1"}})");
  EXPECT_EQ(with_defaults(now), now) << "idempotent";
}

TEST(LeaderWorkerSetRules, WorkersCountFromZeroWhenTheyAreRankedWithTheirLeader) {
  EXPECT_EQ(metadata_of(with_defaults(a_set(kQueued, false)), "workerTemplate").find("pod-index-offset"),
            std::string::npos);
  EXPECT_EQ(metadata_of(with_defaults(a_set(kQueued, false)), "leaderTemplate"), "");
  const Json together =
      with(a_set(kQueued), {"spec", "leaderWorkerTemplate", "workerTemplate", "metadata", "annotations"},
           object("{kueue.x-k8s.io/podset-group-name: both}"));
  EXPECT_EQ(metadata_of(with_defaults(together), "workerTemplate").find("pod-index-offset"), std::string::npos);
}

TEST(LeaderWorkerSetRules, WhatIsNotManagedStaysAsItIs) {
  const Json plain = a_set("{}"), queued = a_set(kQueued);
  EXPECT_EQ(with_defaults(plain), plain);
  EXPECT_EQ(with_defaults(queued, {.namespace_managed = false}), queued);
  EXPECT_EQ(with_defaults(queued, {.ancestor_managed = true}), queued);
  const Json without_queue = with_defaults(plain, {.manage_without_queue_name = true});
  EXPECT_EQ(metadata_of(without_queue, "leaderTemplate"), R"({"annotations":{)" + kWaits + "}}");
  EXPECT_EQ(with_defaults(plain, {.namespace_managed = false, .manage_without_queue_name = true}), plain);
  const Json by_default = with_defaults(plain, {.default_queue_exists = true});
  EXPECT_EQ(string_at(by_default, {"metadata", "labels", "kueue.x-k8s.io/queue-name"}), "default");
}

TEST(LeaderWorkerSetRules, AmountsAreNotNegative) {
  for (const std::string_view one : {"leaderTemplate", "workerTemplate"}) {
    const auto wrong = [&](std::string_view labels) {
      return with(a_set(labels), {"spec", "leaderWorkerTemplate", one, "spec", "overhead"}, object("{cpu: '-100'}"));
    };
    EXPECT_EQ(errors_of(validate_leader_worker_set(wrong(kQueued), {})),
              "spec.leaderWorkerTemplate." + std::string(one) +
                  ".spec.overhead[cpu]: Invalid value: \"-100\": must be greater than or equal to 0");
    EXPECT_EQ(errors_of(validate_leader_worker_set(wrong("{}"), {})), "") << "not managed";
  }
}

TEST(LeaderWorkerSetRules, RefuseWrongLabelsAndTopologies) {
  const std::string errors = errors_of(validate_leader_worker_set(
      with(a_set("{kueue.x-k8s.io/queue-name: Bad_Name}"), {"metadata", "annotations"},
           object("{kueue.x-k8s.io/elastic-job: 'true', kueue.x-k8s.io/admission-gated-by: gate}")),
      {}));
  EXPECT_NE(errors.find("metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: \"Bad_Name\""), std::string::npos);
  EXPECT_NE(errors.find("elastic job is not supported for \"leaderworkerset.x-k8s.io/v1, Kind=LeaderWorkerSet\""),
            std::string::npos);
  EXPECT_NE(errors.find("must be a domain-prefixed path"), std::string::npos);
  const auto topology = [](std::string_view pod_template, std::string_view annotations) {
    return errors_of(validate_leader_worker_set(
        with(a_set(kQueued), {"spec", "leaderWorkerTemplate", pod_template, "metadata", "annotations"},
             object(annotations)),
        {}));
  };
  for (const std::string_view one : {"leaderTemplate", "workerTemplate"}) {
    EXPECT_TRUE(
        topology(one, "{kueue.x-k8s.io/podset-required-topology: r, kueue.x-k8s.io/podset-preferred-topology: r}")
            .starts_with("spec.leaderWorkerTemplate." + std::string(one) +
                         ".metadata.annotations: Invalid value: must not contain more than one"))
        << one;
  }
  // The size of slices is that of the two workers, not of the group.
  constexpr std::string_view kSlices =
      "{kueue.x-k8s.io/podset-required-topology: r, kueue.x-k8s.io/podset-slice-required-topology: s, "
      "kueue.x-k8s.io/podset-slice-size: ";
  EXPECT_EQ(topology("workerTemplate", std::string(kSlices) + "'2'}"), "");
  EXPECT_NE(topology("workerTemplate", std::string(kSlices) + "'3'}").find("must not be greater than pod set count 2"),
            std::string::npos);
}

TEST(LeaderWorkerSetRules, TheNumberOfGroupsMayChangeTheirShapeMayNot) {
  const Json old = a_set(kQueued);
  const auto changed = [&](std::initializer_list<std::string_view> path, Json value) {
    return errors_of(validate_leader_worker_set_update(with(old, path, std::move(value)), old, {}));
  };
  EXPECT_EQ(changed({"spec", "replicas"}, 0), "");
  EXPECT_EQ(changed({"spec", "replicas"}, 7), "");
  EXPECT_EQ(changed({"spec", "leaderWorkerTemplate", "size"}, 4),
            "spec.leaderWorkerTemplate.size: Invalid value: 4: field is immutable");
  const auto containers = [](std::string_view image, std::string_view cpu) {
    return object("[{name: c, image: " + std::string(image) + ", resources: {requests: {cpu: '" + std::string(cpu) +
                  "'}}}]");
  };
  EXPECT_EQ(changed({"spec", "leaderWorkerTemplate", "workerTemplate", "spec", "containers"}, containers("j", "1")),
            "");
  EXPECT_EQ(changed({"spec", "leaderWorkerTemplate", "workerTemplate", "spec", "containers"}, containers("i", "2")),
            "spec.leaderWorkerTemplate.workerTemplate.spec.containers[0].resources.requests: Invalid value: "
            "{\"cpu\":\"2\"}: field is immutable");
  EXPECT_TRUE(errors_of(validate_leader_worker_set_update(a_set(kQueued, false), old, {}))
                  .starts_with("spec.leaderWorkerTemplate.leaderTemplate: Invalid value: "));
  const Json plain = a_set("{}");
  EXPECT_EQ(
      errors_of(validate_leader_worker_set_update(with(plain, {"spec", "leaderWorkerTemplate", "size"}, 4), plain, {})),
      "")
      << "not managed";
}

TEST(LeaderWorkerSetRules, TheQueueMayChangeWhileNoGroupIsReady) {
  const Json old = a_set(kQueued);
  const Json moved = a_set("{kueue.x-k8s.io/queue-name: q2}");
  EXPECT_EQ(errors_of(validate_leader_worker_set_update(moved, old, {})), "");
  EXPECT_EQ(errors_of(validate_leader_worker_set_update(moved, with(old, {"status", "readyReplicas"}, 1), {})),
            "metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: \"q2\": field is immutable");
}

TEST(LeaderWorkerSetRules, NothingHappensWhileTheFrameworkIsOff) {
  const ObjectGetter get = [](auto&&...) { return nullptr; };
  AdmissionPolicy policy{.manage_pods = true, .manage_leader_worker_sets = true};
  const auto& rules = admission_rules("leaderworkerset.x-k8s.io", "leaderworkersets");
  EXPECT_TRUE(rules.mutates_updates);
  const Json queued = a_set(kQueued), wrong = a_set("{kueue.x-k8s.io/queue-name: Bad_Name}");
  Json now = queued;
  rules.mutate(now, {get, policy});
  EXPECT_NE(now, queued);
  EXPECT_FALSE(rules.check(wrong, nullptr, "", {get, policy}).empty());
  EXPECT_EQ(rules.warn(queued, nullptr, {get, policy}), "");
  policy.manage_leader_worker_sets = false;
  now = queued;
  rules.mutate(now, {get, policy});
  EXPECT_EQ(now, queued);
  EXPECT_TRUE(rules.check(wrong, nullptr, "", {get, policy}).empty());
  EXPECT_NE(rules.warn(queued, nullptr, {get, policy}).find("leaderworkerset.x-k8s.io/leaderworkerset"),
            std::string::npos);
}

TEST(RollingUpdate, LimitsAreNumbersOrShares) {
  const auto limits = [](std::string_view configuration) {
    return leaderworkerset::rolling_update_of(object(
        "{spec: {replicas: 10, rolloutStrategy: {rollingUpdateConfiguration: " + std::string(configuration) + "}}}"));
  };
  EXPECT_EQ(limits("{}").max_surge, 0);
  EXPECT_EQ(limits("{}").max_unavailable, 1);
  EXPECT_EQ(limits("{maxSurge: 2, maxUnavailable: 0, partition: 3}").max_surge, 2);
  EXPECT_EQ(limits("{maxSurge: 2, maxUnavailable: 0, partition: 3}").max_unavailable, 0);
  EXPECT_EQ(limits("{maxSurge: 2, maxUnavailable: 0, partition: 3}").partition, 3);
  EXPECT_EQ(limits("{maxSurge: 25%, maxUnavailable: 25%}").max_surge, 3) << "up";
  EXPECT_EQ(limits("{maxSurge: 25%, maxUnavailable: 25%}").max_unavailable, 2) << "down";
  EXPECT_EQ(limits("{maxUnavailable: 0}").max_unavailable, 1) << "an update can begin";
  EXPECT_EQ(limits("{maxSurge: -1, maxUnavailable: many}").max_surge, 0);
  EXPECT_EQ(limits("{maxSurge: -1, maxUnavailable: many}").max_unavailable, 1);
  EXPECT_EQ(leaderworkerset::replicas_of(object("{}")), 1);
}

}  // namespace
}  // namespace berth::api::kueue::leader_worker_set_rules_test
