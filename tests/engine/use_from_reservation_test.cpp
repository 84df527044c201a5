// Admission fair sharing: since when a workload uses its quota.
#include <gtest/gtest.h>

#include "engine/support/two_tenants.h"

namespace berth::engine::use_from_reservation_test {
namespace {

using test::by_usage;
using test::TwoTenants;

// Of "a", after an hour in which 4 cpu were reserved and waited for a check, and an hour later.
struct SlowCheck : TwoTenants {
  explicit SlowCheck(const Options& options, bool on = true) : TwoTenants(options, on) {
    give(test::check("c"));
    give(queue().by_usage(on).check("c"));
    job("a1", "4");
    run();
    EXPECT_EQ(state("a1"), "Reserved");
    pass(3'600);
    waiting = consumed("a");
  }
  void become_ready() {
    report_check("a1", test::says("c", api::kueue::CheckState::kReady));
    run();
    EXPECT_EQ(state("a1"), "Admitted");
    pass(3'600);
  }
  std::string waiting;
};

// The roundings of two samples.
bool is_about(const std::string& consumed, const std::string& units, const std::string& less) {
  return consumed == units || consumed == less;
}

// Kueue 0.20, AdmissionFairSharingAnchorAtQuotaReservation: a slow check is used quota.
TEST(UseFromReservation, UseCountsFromTheReservation) {
  SlowCheck s(by_usage(std::chrono::hours(1), std::chrono::minutes(6)));
  EXPECT_TRUE(is_about(s.waiting, "2", "1999999999n")) << s.waiting;
  s.become_ready();
  EXPECT_TRUE(is_about(s.consumed("a"), "3", "2999999999n")) << s.consumed("a");
}

TEST(UseFromReservation, WithoutItsGateAReservationCountsButUsesNothing) {
  auto options = by_usage(std::chrono::hours(1), std::chrono::minutes(6));
  options.usage_from_reservation = false;
  SlowCheck s(options);
  EXPECT_EQ(s.waiting, "0");
  EXPECT_GT(s.local_queue("a").past_usage->score, Quantity());
  s.become_ready();
  EXPECT_TRUE(is_about(s.consumed("a"), "2", "1999999999n")) << s.consumed("a");
}

// What such a queue tells is what its admitted workloads use.
TEST(UseFromReservation, UseCountsFromTheAdmissionWhereUsageDoesNotDecide) {
  SlowCheck s(by_usage(std::chrono::hours(1), std::chrono::minutes(6)), false);
  EXPECT_EQ(s.waiting, "0");
  s.give(TwoTenants::queue().by_usage().check("c"));
  s.run();
  s.pass(3'600);
  EXPECT_NE(s.consumed("a"), "0") << "the queue admits by usage now";
}

// Who lengthens its own checks does not get more than its share.
TEST(UseFromReservation, ASlowCheckDoesNotMakeATenantLookIdle) {
  TwoTenants s(by_usage(std::chrono::hours(1), std::chrono::minutes(1)));
  s.give(test::check("c"));
  s.give(TwoTenants::queue().by_usage().check("c"));
  s.job("b1", "1");
  s.run();
  s.report_check("b1", test::says("c", api::kueue::CheckState::kReady));
  s.job("a1", "3");
  s.run();
  ASSERT_EQ(s.state("a1"), "Reserved");
  s.pass(3'600);
  s.job("a2", "1");
  s.job("b2", "1");
  s.run();
  s.finish("b1");
  s.run();
  EXPECT_EQ(s.state("b2"), "Reserved") << "b used 1 of cpu for an hour, a 3";
  EXPECT_NE(s.state("a2"), "Reserved");
}

// A reservation that is lost stays in the past, and the next one counts again.
TEST(UseFromReservation, ALostReservationWasUsed) {
  SlowCheck s(by_usage(std::chrono::hours(1), std::chrono::minutes(6)));
  s.change("a1", [](auto& w) { w.active = false; }, true);
  s.run();
  s.pass(3'600);
  EXPECT_TRUE(is_about(s.consumed("a"), "1", "999999999n")) << s.consumed("a");
}

// One goes on, one is restarted on the statuses, and one is made anew, while a reservation waits for its check.
TEST(UseFromReservation, ARestartAndANewEngineGoOn) {
  const auto rules = by_usage(std::chrono::hours(1), std::chrono::minutes(6));
  SlowCheck one(rules), restarted(rules), anew(rules);
  restarted.write_statuses();
  restarted.restart();
  restarted.run();
  anew.make_anew();
  for (SlowCheck* each : {&one, &restarted, &anew}) {
    each->pass(1'800);
    each->become_ready();
  }
  EXPECT_EQ(anew.consumed("a"), one.consumed("a"));
  // Two statuses cut to billionths.
  EXPECT_NEAR(restarted.usage("a", std::chrono::hours(1), 4e9L), one.usage("a", std::chrono::hours(1), 4e9L), 2);
}

}  // namespace
}  // namespace berth::engine::use_from_reservation_test
