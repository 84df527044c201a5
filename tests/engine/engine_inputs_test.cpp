// An engine that is made from the inputs of another one goes on where that one is.
#include <gtest/gtest.h>

#include "engine/support/build.h"

namespace berth::engine::engine_inputs_test {
namespace {

using api::kueue::Workload;

class EngineInputs : public testing::Test {
 protected:
  EngineInputs() {
    feed(NamespaceSeen{"ns", {{"team", "a"}}});
    feed(ResourceFlavorSeen{std::make_shared<const api::kueue::ResourceFlavor>(test::flavor("f"))});
    feed(ClusterQueueSeen{
        std::make_shared<const api::kueue::ClusterQueue>(test::ClusterQueueBuilder("cq").cpu({{"f", "2"}}).build())});
    feed(LocalQueueSeen{std::make_shared<const api::kueue::LocalQueue>(test::local_queue("q", "cq"))});
    feed(Synced{});
  }

  void feed(const Event& event) { engine_.handle(now_, event); }
  void see(Workload workload, const std::string& version) {
    workload.meta.resource_version = version;
    last_ = std::make_shared<const Workload>(std::move(workload));
    feed(WorkloadSeen{last_});
  }
  // One round; its write, if there is one, has no answer yet.
  std::optional<WriteWorkloadStatus> round() {
    now_ += std::chrono::seconds(1);
    std::optional<WriteWorkloadStatus> write;
    for (const auto& effect : engine_.schedule(now_)) {
      if (const auto* found = std::get_if<WriteWorkloadStatus>(&effect)) write = *found;
    }
    return write;
  }
  void settle(const WriteWorkloadStatus& write, const std::string& version) {
    Workload written = *write.base;
    written.status = write.status;
    feed(WriteSettled{write.write, WriteSettled::Outcome::kDone, version, ""});
    see(std::move(written), version);
  }
  void make_anew() {
    const auto inputs = engine_.inputs();
    engine_ = Engine(Options());
    for (const auto& event : inputs) feed(event);
  }

  Engine engine_{Options()};
  Time now_ = test::kEpoch;
  Ptr<Workload> last_;  // as seen
};

TEST_F(EngineInputs, AWriteInFlightIsNotSettled) {
  EXPECT_TRUE(engine_.settled());
  see(test::WorkloadBuilder("w").build(), "100");
  EXPECT_TRUE(engine_.settled());
  const auto write = round();
  ASSERT_TRUE(write.has_value());
  EXPECT_FALSE(engine_.settled());
  settle(*write, "101");
  EXPECT_TRUE(engine_.settled());
}

// The server may have stored the status although no answer came.
TEST_F(EngineInputs, AnUnknownOutcomeIsNotSettled) {
  see(test::WorkloadBuilder("w").build(), "100");
  const auto write = round();
  feed(WriteSettled{write->write, WriteSettled::Outcome::kFailed, "", "unknown"});
  EXPECT_FALSE(engine_.settled());
}

TEST_F(EngineInputs, QuotaIsHeldByTheSameWorkloads) {
  for (const char* name : {"a", "b", "c"}) {
    see(test::WorkloadBuilder(name).build(), "100");
    if (const auto write = round(); write && write->status.admission) settle(*write, "101");
  }
  make_anew();
  engine_.schedule(now_);
  const auto status = engine_.cluster_queue_status("cq").value();
  EXPECT_EQ(status.reserving, 2);
  EXPECT_EQ(status.pending, 1);
  EXPECT_TRUE(engine_.check_invariants().empty());
}

// The report was made before the workload's last change, but after the eviction.
TEST_F(EngineInputs, AJobsReportSinceTheEvictionStillCounts) {
  see(test::WorkloadBuilder("w").build(), "100");
  settle(round().value(), "101");
  Workload off = *last_;
  off.active = false;
  off.meta.generation = 2;
  see(off, "102");
  settle(round().value(), "110");
  ASSERT_TRUE(api::is_true(last_->status.conditions, api::kueue::kEvicted));
  Workload labelled = *last_;
  labelled.meta.labels["more"] = "x";
  see(labelled, "120");
  round();
  make_anew();
  round();
  api::kueue::JobReport report;
  report.stopped = true;
  report.workload_version = "115";
  feed(JobReported{"ns", "w", report});
  const auto write = round();
  ASSERT_TRUE(write.has_value());
  EXPECT_FALSE(write->status.admission.has_value());
}

}  // namespace
}  // namespace berth::engine::engine_inputs_test
