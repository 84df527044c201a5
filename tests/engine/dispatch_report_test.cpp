// Reports of MultiKueue's dispatch reach the status in one write, and only for the version that they are about.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/support/scenario.h"

namespace berth::engine::dispatch_report_test {
namespace {

using api::kueue::CheckState;
using test::ClusterQueueBuilder;
using test::Scenario;
using test::WorkloadBuilder;
using testing::ElementsAre;
using testing::IsEmpty;
using Names = std::vector<std::string>;

struct Dispatched : Scenario {
  Dispatched() {
    give(test::flavor("f"));
    give(test::check("mk"));
    give(ClusterQueueBuilder("cq").cpu({{"f", "4"}}).check("mk"));
    give(test::local_queue("q", "cq"));
    give(WorkloadBuilder("a").pods(4, "1"));
    run();
    take_events();
  }
  const api::kueue::WorkloadStatus& status() const { return workload("a").status; }
  DispatchReported says(CheckState state, std::string message, std::string cluster, Names nominated) const {
    DispatchReported out;
    out.name = "a";
    out.resource_version = workload("a").meta.resource_version;
    out.check.name = "mk";
    out.check.state = state;
    out.check.message = std::move(message);
    out.cluster_name = std::move(cluster);
    out.nominated_cluster_names = std::move(nominated);
    return out;
  }
  void choose_west() {
    report_dispatch(says(CheckState::kPending, "", "", {"east", "west"}));
    run();
    report_dispatch(says(CheckState::kReady, "on west", "west", {}));
    run();
  }
};

TEST(DispatchReports, NominationAndChoiceAreOneWriteEach) {
  Dispatched s;
  const int writes = s.writes();
  s.report_dispatch(s.says(CheckState::kPending, "", "", {"east", "west"}));
  s.run();
  EXPECT_THAT(s.status().nominated_cluster_names, ElementsAre("east", "west"));
  EXPECT_THAT(s.take_events(), IsEmpty());
  s.report_dispatch(s.says(CheckState::kReady, "on west", "west", {}));
  s.run();
  EXPECT_EQ(s.writes(), writes + 2);
  EXPECT_EQ(s.state("a"), "Admitted");
  EXPECT_EQ(s.status().cluster_name, "west");
  EXPECT_THAT(s.status().nominated_cluster_names, IsEmpty());
  EXPECT_THAT(
      s.take_events(),
      ElementsAre("Workload/a Normal MultiKueue: on west",
                  "Workload/a Normal Admitted: Admitted by ClusterQueue cq, wait time since reservation was 0s"));
}

TEST(DispatchReports, AboutAnotherVersionAreDropped) {
  Dispatched s;
  const auto old = s.says(CheckState::kReady, "on west", "west", {});
  s.report_dispatch(s.says(CheckState::kPending, "", "", {"west"}));
  s.run();
  s.report_dispatch(old);
  s.run();
  EXPECT_EQ(s.state("a"), "Reserved");
  EXPECT_EQ(s.status().cluster_name, "");
}

TEST(DispatchReports, TheClusterStaysUntilTheQuotaIsGivenBack) {
  Dispatched s;
  s.jobs_stop_at_once = false;
  s.choose_west();
  s.report_dispatch(s.says(CheckState::kRetry, "lost", "west", {}));
  s.run();
  EXPECT_EQ(s.state("a"), "Evicting");
  EXPECT_EQ(s.status().cluster_name, "west");
  s.report_stopped("a");
  s.run();
  EXPECT_EQ(s.status().cluster_name, "");
  s.pass(5);
  EXPECT_EQ(s.state("a"), "Reserved") << "and it is queued again, for another round";
  EXPECT_EQ(s.status().admission_checks.at(0).state, CheckState::kPending);
  EXPECT_THAT(s.status().nominated_cluster_names, IsEmpty());
}

TEST(DispatchReports, SurviveARestartAndACopy) {
  Dispatched s;
  s.choose_west();
  s.make_anew();
  s.run();
  EXPECT_EQ(s.status().cluster_name, "west");
  s.restart();
  s.run();
  EXPECT_EQ(s.state("a"), "Admitted");
  EXPECT_EQ(s.status().cluster_name, "west");
}

}  // namespace
}  // namespace berth::engine::dispatch_report_test
