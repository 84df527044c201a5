// Jobs whose owner is managed: the owner waits for quota, not they.
#include <gtest/gtest.h>

#include "jobs/reconcile.h"
#include "jobs/reconcile_support.h"

namespace berth::jobs::children_test {
namespace {

using namespace reconcile_support;

// Fact: TestChildJobSuspension of Kueue 0.20 (SkipChildJobSuspension).
TEST(Children, AreSuspendedWhileTheirOwnerWaitsUnlessTheGateSaysNot) {
  JobFacts below = facts();
  below.managed = false;
  below.has_ancestor = below.ancestor_waits = true;
  const Json runs = job("{spec: {suspend: false}}");
  const auto stopping = reconcile(batch_job(), ptr(runs), {}, below);
  const auto* stopped = first<PatchJob>(stopping);
  ASSERT_NE(stopped, nullptr);
  const Json marked = apply_merge_patch(runs, stopped->body);
  EXPECT_TRUE(batch_job().suspended(marked));
  below.gates.skip_children = true;
  EXPECT_EQ(first<PatchJob>(reconcile(batch_job(), ptr(runs), {}, below)), nullptr);
  const auto resuming = reconcile(batch_job(), ptr(marked), {}, below);
  const auto* resumed = first<PatchJob>(resuming);
  ASSERT_NE(resumed, nullptr) << "it was suspended before the gate was on";
  EXPECT_FALSE(batch_job().suspended(apply_merge_patch(marked, resumed->body)));
  const Json waits = job("{spec: {suspend: true}}");
  EXPECT_EQ(first<PatchJob>(reconcile(batch_job(), ptr(waits), {}, below)), nullptr) << "its own client suspended it";
}

}  // namespace
}  // namespace berth::jobs::children_test
