// The copy of a workload, and what is read from a worker.
#include "multikueue/copy.h"

#include <gtest/gtest.h>

#include "base/yaml.h"
#include "multikueue/names.h"

namespace berth::multikueue::copy_test {
namespace {

constexpr std::string_view kOriginal = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata:
  name: w
  namespace: team
  uid: u1
  resourceVersion: "7"
  generation: 3
  finalizers: [kueue.x-k8s.io/resource-in-use]
  ownerReferences: [{apiVersion: batch/v1, kind: Job, name: j, uid: j1, controller: true}]
  labels: {kueue.x-k8s.io/job-uid: j1, team: a}
  annotations: {note: b}
spec:
  queueName: q
  priority: 5
  active: true
  preemptionGates: [{name: kueue.x-k8s.io/mine}]
  podSets: [{name: main, count: 2, template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}]
status:
  conditions: [{type: QuotaReserved, status: "True", reason: QuotaReserved, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"}]
)";

api::kueue::Workload original() { return api::kueue::decode_workload(parse_yaml(kOriginal).value().front()).value(); }

// The copy as a worker stores it.
Json stored(const api::kueue::Workload& of) {
  Json copy = copy_of(of, Sender{"here", "m1"});
  ensure_path(copy, {"metadata", "uid"}) = "r1";
  ensure_path(copy, {"metadata", "resourceVersion"}) = "1";
  return copy;
}
void set(Json& copy, std::string_view type, std::string_view reason = "R", std::string_view status = "True") {
  Json& conditions = ensure_path(copy, {"status", "conditions"});
  if (!conditions.is_array()) conditions = JsonArray();
  conditions.as_array().push_back(JsonObject{{"type", type},
                                             {"status", status},
                                             {"reason", reason},
                                             {"message", "m"},
                                             {"lastTransitionTime", "2026-01-02T00:00:00Z"}});
}
CopyState state(const Json& copy) {
  const auto workload = original();
  return state_of(seen_copy(copy), &workload, "here");
}

TEST(Copy, HasTheSpecAndNobodysOwners) {
  const Json copy = copy_of(original(), Sender{"here", "m1"});
  EXPECT_EQ(string_at(copy, {"metadata", "name"}), "w");
  EXPECT_EQ(string_at(copy, {"metadata", "namespace"}), "team");
  EXPECT_EQ(string_at(copy, {"metadata", "labels", kOriginLabel}), "here");
  EXPECT_EQ(string_at(copy, {"metadata", "labels", "team"}), "a");
  EXPECT_EQ(string_at(copy, {"metadata", "annotations", "note"}), "b");
  EXPECT_EQ(string_at(copy, {"metadata", "annotations", kOriginalUid}), "u1");
  for (const std::string_view dropped : {"uid", "resourceVersion", "generation", "finalizers", "ownerReferences"})
    EXPECT_TRUE(find_path(copy, {"metadata", dropped}) == nullptr) << dropped;
  EXPECT_TRUE(find_path(copy, {"metadata", "labels", "kueue.x-k8s.io/job-uid"}) == nullptr);
  EXPECT_TRUE(find(copy, "status") == nullptr);
  EXPECT_TRUE(find_path(copy, {"spec", "preemptionGates"}) == nullptr);
  EXPECT_EQ(string_at(copy, {"spec", "queueName"}), "q");
  EXPECT_EQ(int_at(copy, {"spec", "priority"}), 5);
  EXPECT_EQ(array_at(copy, {"spec", "podSets"}).size(), 1u);
}

TEST(Copy, ItsStateFollowsFromItsConditions) {
  Json copy = stored(original());
  EXPECT_EQ(state(copy), CopyState::kPending);
  set(copy, "QuotaReserved");
  EXPECT_EQ(state(copy), CopyState::kReserved);
  set(copy, "Admitted");
  EXPECT_EQ(state(copy), CopyState::kAdmitted);
  EXPECT_EQ(format_time(admitted_since(seen_copy(copy))), "2026-01-02T00:00:00Z");
  set(copy, "Evicted", "Preempted");
  EXPECT_EQ(state(copy), CopyState::kEvicted);
  Json inactive = copy;
  ensure_path(inactive, {"spec", "active"}) = false;
  EXPECT_EQ(state(inactive), CopyState::kDeactivated);
  Json going = copy;
  ensure_path(going, {"metadata", "deletionTimestamp"}) = "2026-01-03T00:00:00Z";
  EXPECT_EQ(state(going), CopyState::kDeactivated);
  Json ended = inactive, lost = inactive;
  set(ended, "Finished", "Succeeded");
  EXPECT_EQ(state(ended), CopyState::kFinished);
  EXPECT_EQ(end_of(seen_copy(ended), true).reason, "Succeeded");
  set(lost, "Finished", "OutOfSync");
  EXPECT_EQ(state(lost), CopyState::kGivenUp);
}

TEST(Copy, AReasonThatNoConditionMayHaveBecomesAKnownOne) {
  const auto end = [](std::string_view reason, bool job_succeeded) {
    Json copy = stored(original());
    set(copy, "Finished", reason);
    return end_of(seen_copy(copy), job_succeeded).reason;
  };
  for (const auto& good : std::vector<std::string>{"A", "JobFinished", "a_1,b:c_", std::string(1024, 'a')})
    EXPECT_EQ(end(good, false), good);
  for (const auto& bad : std::vector<std::string>{"", "1", "_a", "a,", "a:", "two words", "a-b", "\xC3\xA4", "a\n",
                                                  std::string(1025, 'a')}) {
    EXPECT_EQ(end(bad, true), "Succeeded") << bad;
    EXPECT_EQ(end(bad, false), "Failed") << bad;
  }
}

TEST(Copy, OfAnotherOriginOrAnEarlierLifeIsReportedApart) {
  Json copy = stored(original());
  set(copy, "Finished", "Succeeded");
  Json foreign = copy;
  ensure_path(foreign, {"metadata", "labels", kOriginLabel}) = "there";
  EXPECT_EQ(state(foreign), CopyState::kForeign);
  erase_path(foreign, {"metadata", "labels"});
  EXPECT_EQ(state(foreign), CopyState::kForeign);
  Json earlier = copy;
  ensure_path(earlier, {"metadata", "annotations", kOriginalUid}) = "u0";
  EXPECT_EQ(state(earlier), CopyState::kDiffers) << "an end of an earlier workload is not the end of this one";
  Json other_size = copy;
  other_size.at_pointer("/spec/podSets/0/count") = 3;
  EXPECT_EQ(state(other_size), CopyState::kDiffers);
  Json by_kueue = copy;  // without Berth's annotation
  erase_path(by_kueue, {"metadata", "annotations", kOriginalUid});
  EXPECT_EQ(state(by_kueue), CopyState::kFinished);
  EXPECT_EQ(state_of(seen_copy(copy), nullptr, "here"), CopyState::kPending) << "the original is gone";
}

TEST(Copy, WhatAWorkerChangesItselfMakesNoDifference) {
  Json copy = stored(original());
  ensure_path(copy, {"spec", "priority"}) = 9;
  ensure_path(copy, {"spec", "preemptionGates"}) = JsonArray{JsonObject{{"name", "kueue.x-k8s.io/multikueue"}}};
  EXPECT_EQ(state(copy), CopyState::kPending);
}

TEST(Copy, TextsThatNobodyCanReadDifferFromEveryOriginal) {
  for (const char* spec : {"5", "{podSets: 5}", "{podSets: [{name: main, count: 1}], queueName: []}"}) {
    Json copy = stored(original());
    copy.as_object()["spec"] = parse_yaml(spec).value().front();
    EXPECT_EQ(state(copy), CopyState::kDiffers) << spec;
  }
  EXPECT_EQ(state(JsonObject()), CopyState::kForeign);
}

TEST(Copy, IsAskedOnceToStop) {
  const Time now = parse_time("2026-01-05T00:00:00Z").value();
  Json copy = stored(original());
  set(copy, "Admitted");
  const Json patch = deactivation(seen_copy(copy), "Evicted on manager: preempted", now);
  const auto& conditions = array_at(patch, {"status", "conditions"});
  ASSERT_EQ(conditions.size(), 2u) << "the others stay";
  EXPECT_EQ(string_at(conditions[1], {"type"}), "DeactivationTarget");
  EXPECT_EQ(string_at(conditions[1], {"reason"}), "EvictedOnManagerCluster");
  EXPECT_EQ(string_at(conditions[1], {"message"}), "Evicted on manager: preempted");
  set(copy, "DeactivationTarget");
  EXPECT_TRUE(deactivation(seen_copy(copy), "again", now).is_null());
}

}  // namespace
}  // namespace berth::multikueue::copy_test
