// A kind that only its description makes known, on an API server with webhooks.
#include <gmock/gmock.h>

#include "controller/kinds_fixture.h"

namespace berth::controller::custom_kind_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(CustomKind, IsCreatedSuspendedAdmittedEvictedRestoredAndFinished) {
  const Json original = make(kSweeps, "Sweep", "default", sweep("a", 2));
  EXPECT_TRUE(bool_at(original, {"spec", "hold"}));
  pass();
  EXPECT_FALSE(held("a"));
  Json a = seen(kSweeps, "a");
  EXPECT_EQ(string_at(a, {"spec", "tuner", "pod", "spec", "nodeSelector", "tier"}), "a");
  ASSERT_THAT(workloads(), SizeIs(1));
  const std::string workload(string_at(workloads()[0], {"metadata", "name"}));
  EXPECT_EQ(array_at(workloads()[0], {"spec", "podSets"}).size(), 2u);
  status("a", "{phase: Up, running: 3}");
  EXPECT_EQ(condition(workloads()[0], "PodsReady"), "True Started");

  EXPECT_TRUE(patch(api::kWorkloads, "default", workload, R"({"spec":{"active":false}})").ok());
  pass();
  EXPECT_EQ(canonical_json(seen(kSweeps, "a").at("spec")), canonical_json(original.at("spec")));
  EXPECT_THAT(controller->engine().held_quotas(), SizeIs(1)) << "its pods still run";
  status("a", "{phase: Held, running: 0}");
  EXPECT_THAT(controller->engine().held_quotas(), IsEmpty());

  EXPECT_TRUE(patch(api::kWorkloads, "default", workload, R"({"spec":{"active":true}})").ok());
  pass(120);
  EXPECT_FALSE(held("a"));
  status("a", "{phase: Broken, why: no trial converged, running: 0}");
  EXPECT_EQ(condition(workloads()[0], "Finished"), "True Failed");
}

// What Berth would write is a field that the kind does not have: the server drops it.
TEST_F(CustomKind, IsLeftAloneWhileTheDescriptionDoesNotFit) {
  const auto install_with = [this](const std::string& hold) {
    const std::string open = R"("x-kubernetes-preserve-unknown-fields":true)";
    const auto done = patch(apiserver::kCrds, "", "sweeps.sweeps.example.org",
                            R"({"spec":{"versions":[{"name":"v1","served":true,"storage":true,
        "subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","properties":{
        "status":{"type":"object",)" +
                                open + R"(},"spec":{"type":"object","properties":{)" + hold +
                                R"("tuner":{"type":"object",)" + open + R"(},"trials":{"type":"array","items":{
        "type":"object",)" + open +
                                "}}}}}}}}]}}");
    EXPECT_TRUE(done.ok()) << to_string(done.body);
  };
  install_with("");
  pass(400);
  make(kSweeps, "Sweep", "default", sweep("a", 1));
  pass(60);
  EXPECT_THAT(workloads(), IsEmpty());
  install_with(R"("hold":{"type":"boolean"},)");
  pass(400);
  EXPECT_THAT(workloads(), SizeIs(1));
  EXPECT_EQ(condition(workloads()[0], "Admitted"), "True Admitted");
}

TEST_F(CustomKind, MayBeAdmittedInPart) {
  make(kSweeps, "Sweep", "default", sweep("a", 9, ", least: 2"));
  pass();
  EXPECT_FALSE(held("a"));
  const Json a = seen(kSweeps, "a");
  EXPECT_EQ(int_at(array_at(a, {"spec", "trials"})[0], {"copies"}), 3) << "of four CPUs, the tuner takes one";
  const std::string workload(string_at(workloads()[0], {"metadata", "name"}));
  EXPECT_TRUE(patch(api::kWorkloads, "default", workload, R"({"spec":{"active":false}})").ok());
  pass();
  const Json restored = seen(kSweeps, "a");
  EXPECT_EQ(int_at(array_at(restored, {"spec", "trials"})[0], {"copies"}), 9);
}

TEST_F(CustomKind, ItsValidationsHold) {
  std::string trials;
  for (const char* id : {"a", "b", "c", "d"}) trials += std::string("{id: ") + id + ", " + pod() + "}, ";
  const auto refused =
      create(kSweeps, "Sweep", "default",
             "{metadata: {name: a, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {trials: [" + trials + "]}}");
  EXPECT_EQ(refused.code, 403);
  EXPECT_EQ(
      string_at(refused.body, {"message"}),
      "admission webhook \"vsweep.kb.io\" denied the request: spec.trials: Invalid value: has 4 trials, at most 3 are "
      "allowed");
}

TEST_F(CustomKind, AStatusThatItsExpressionsCannotReadIsReportedOnTheObjectAlone) {
  make(kSweeps, "Sweep", "default", sweep("a", 1));
  make(kSweeps, "Sweep", "default", sweep("b", 1));
  pass();
  status("a", "{running: many}");
  EXPECT_THAT(events("a"), Contains(HasSubstr("UnreadableStatus: the expression")));
  status("b", "{phase: Done}");
  EXPECT_THAT(controller->engine().held_quotas(), SizeIs(1));
}

}  // namespace
}  // namespace berth::controller::custom_kind_test
