// Workloads that no job owns: the client that made them runs their pods, and ends their evictions.
#include "controller/ownerless_workloads.h"

#include "controller/job_workloads_fixture.h"

namespace berth::controller::ownerless_workloads_test {
namespace {

using job_workloads_fixture::JobWorkloads;

class OwnerlessWorkloads : public JobWorkloads {
 protected:
  explicit OwnerlessWorkloads(ControllerOptions options = {}) : JobWorkloads(false, std::move(options)) {}

  void evicted(const std::string& name, const std::string& more = "") {
    workload(name, "1", more);
    pass();
    ASSERT_EQ(condition(seen(name), "Admitted"), "True Admitted");
    ASSERT_TRUE(patch(api::kWorkloads, "default", name, R"({"spec":{"active":false}})").ok());
    pass();
    ASSERT_EQ(condition(seen(name), "Evicted"), "True Deactivated");
  }
  // As a controller of others does when its pods have stopped.
  void ends_the_eviction(const std::string& name) {
    Json now = seen(name);
    now.at("status").as_object().erase("admission");
    for (Json& one : now.at("status").at("conditions").as_array()) {
      if (string_at(one, {"type"}) != "QuotaReserved" && string_at(one, {"type"}) != "Admitted") continue;
      one.as_object()["status"] = "False";
      one.as_object()["reason"] = "Pending";
    }
    ASSERT_TRUE(update(api::kWorkloads, "default", now, "status").ok());
    pass();
  }
  bool holds(const std::string& name) { return condition(seen(name), "QuotaReserved").starts_with("True"); }
  std::vector<std::string> warnings(const std::string& name) {
    auto all = events("Workload", name);
    std::erase_if(all, [](const std::string& one) { return !one.starts_with("Warning"); });
    return all;
  }
};

TEST_F(OwnerlessWorkloads, KeepTheirQuotaUntilTheirPodsHaveStopped) {
  evicted("w");
  pass(120);
  EXPECT_TRUE(holds("w"));
  EXPECT_EQ(holders(), 1u);
  ends_the_eviction("w");
  EXPECT_EQ(holders(), 0u);
  pass(600);
  EXPECT_TRUE(warnings("w").empty());
}

TEST_F(OwnerlessWorkloads, GiveTheirQuotaBackWhenNobodyEndsTheirEviction) {
  evicted("w");
  pass(220);
  EXPECT_TRUE(warnings("w").empty());
  pass(30);
  ASSERT_EQ(warnings("w").size(), 1u);
  EXPECT_EQ(
      warnings("w").front(),
      "Warning EvictionTimeoutNear: The workload is evicted, and nobody ended that. In 60s it gives its quota back "
      "(ownerlessWorkloads.evictionTimeout). Stop its pods before, then set the condition QuotaReserved to False "
      "and remove status.admission");
  EXPECT_TRUE(holds("w"));
  pass(60);
  EXPECT_FALSE(holds("w"));
  EXPECT_EQ(holders(), 0u);
}

TEST_F(OwnerlessWorkloads, AreWaitedForFromTheirEvictionOnAlsoByTheNextLeader) {
  evicted("w");
  pass(200);
  controller.reset();
  pass(90);
  controller.emplace(*server, executor, ControllerOptions());
  controller->start();
  controller->lead();
  pass(10);
  EXPECT_FALSE(holds("w"));
}

// Any client may write the label job-uid.
TEST_F(OwnerlessWorkloads, WithTheLabelOfAJobAreNoOrphans) {
  evicted("w", ", labels: {kueue.x-k8s.io/job-uid: somebody}");
  pass(120);
  EXPECT_TRUE(holds("w"));
  EXPECT_EQ(condition(seen("w"), "Finished"), "");
  pass(240);
  EXPECT_FALSE(holds("w"));
  EXPECT_EQ(condition(seen("w"), "Finished"), "");
}

class WithoutLimit : public OwnerlessWorkloads {
 protected:
  WithoutLimit() : OwnerlessWorkloads(options()) {}
  static ControllerOptions options() {
    ControllerOptions out;
    out.ownerless_workloads.eviction_timeout = Duration(0);
    return out;
  }
};

TEST_F(WithoutLimit, TheyWaitAsInKueue) {
  evicted("w");
  pass(36'000);
  EXPECT_TRUE(holds("w"));
  EXPECT_TRUE(warnings("w").empty());
}

}  // namespace
}  // namespace berth::controller::ownerless_workloads_test
