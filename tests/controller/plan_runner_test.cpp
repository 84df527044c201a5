#include "controller/plan_runner.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "api/resources.h"
#include "api/status.h"

namespace berth::controller {
namespace {

const api::RestResponse kGone = api::not_found(api::kPods, "a");
const api::RestResponse kThere = api::already_exists(api::kPods, "a");
const api::RestResponse kConflict = api::conflict(api::kPods, "a", "it has changed");

// Requests that are answered when the test says so.
class PlanRunnerTest : public testing::Test {
 protected:
  PlannedRequest request(const std::string& name) {
    return {.send = [this, name](Writes::Done answered) { open_.emplace_back(name, std::move(answered)); }};
  }
  // Answers the oldest request that is open.
  std::string answer(const api::RestResponse& with = {}) {
    auto [name, answered] = std::move(open_.front());
    open_.erase(open_.begin());
    answered(with);
    return name;
  }
  PlanRunner::Finish finish() {
    return [this](Outcome outcome) { ends_.push_back(outcome); };
  }

  std::vector<std::pair<std::string, Writes::Done>> open_;
  std::vector<Outcome> ends_;
  std::vector<std::string> done_;
  PlanRunner runner_;
};

using Ends = std::vector<Outcome>;

TEST_F(PlanRunnerTest, InOrderARequestIsSentWhenTheOneBeforeIsAnswered) {
  runner_.in_order({request("a"), PlannedRequest::without([this] { done_.emplace_back("note"); }), request("b")},
                   finish());
  EXPECT_EQ(open_.size(), 1u);
  EXPECT_TRUE(done_.empty());
  EXPECT_EQ(answer(), "a");
  EXPECT_EQ(done_, std::vector<std::string>{"note"});
  EXPECT_TRUE(ends_.empty());
  EXPECT_EQ(answer(), "b");
  EXPECT_EQ(ends_, Ends{Outcome::kGoOn});
}

TEST_F(PlanRunnerTest, AFailureEndsAPlanInOrder) {
  runner_.in_order({request("a"), request("b")}, finish());
  answer(kConflict);
  EXPECT_TRUE(open_.empty());
  EXPECT_EQ(ends_, Ends{Outcome::kFailed});
}

TEST_F(PlanRunnerTest, ARequestSaysWhatAlreadyExistsAndNotFoundMean) {
  const auto play = [this](Outcome there, Outcome gone, const api::RestResponse& with) {
    PlannedRequest first = request("a");
    first.there = there;
    first.gone = gone;
    first.done = [](const api::RestResponse&) { FAIL() << "it did not succeed"; };
    runner_.in_order({first, request("b")}, finish());
    answer(with);
    const bool goes_on = !open_.empty();
    if (goes_on) answer();
    return std::pair(goes_on, std::exchange(ends_, {}));
  };
  using Played = std::pair<bool, Ends>;
  EXPECT_EQ(play(Outcome::kGoOn, Outcome::kFailed, kThere), Played(true, {Outcome::kGoOn}));
  EXPECT_EQ(play(Outcome::kGoOn, Outcome::kFailed, kGone), Played(false, {Outcome::kFailed}));
  EXPECT_EQ(play(Outcome::kEnough, Outcome::kFailed, kThere), Played(false, {Outcome::kEnough}));
  EXPECT_EQ(play(Outcome::kFailed, Outcome::kGoOn, kGone), Played(true, {Outcome::kGoOn}));
  EXPECT_EQ(play(Outcome::kFailed, Outcome::kGoOn, kThere), Played(false, {Outcome::kFailed}));
  EXPECT_EQ(play(Outcome::kGoOn, Outcome::kGoOn, kConflict), Played(false, {Outcome::kFailed}));
}

TEST_F(PlanRunnerTest, ARefusalIsJudgedByItsRequest) {
  PlannedRequest first = request("a");
  first.refused = [](const api::RestResponse& answer) {
    return answer.code == 409 ? Outcome::kEnough : Outcome::kFailed;
  };
  runner_.in_order({first, request("b")}, finish());
  answer(kConflict);
  EXPECT_TRUE(open_.empty());
  EXPECT_EQ(ends_, Ends{Outcome::kEnough});
}

TEST_F(PlanRunnerTest, SideBySideSoManyAtATimeAreOpenAndAFailureEndsNone) {
  runner_.side_by_side({request("a"), request("b"), request("c"), request("d")}, 2, finish());
  EXPECT_EQ(open_.size(), 2u);
  answer(kConflict);
  EXPECT_EQ(open_.size(), 2u);
  EXPECT_EQ(answer(), "b");
  EXPECT_EQ(answer(), "c");
  EXPECT_TRUE(ends_.empty());
  EXPECT_EQ(answer(), "d");
  EXPECT_EQ(ends_, Ends{Outcome::kFailed});
}

TEST_F(PlanRunnerTest, ALongPlanWithoutRequestsDoesNotNest) {
  PlanRunner::Plan plan;
  int taken = 0;
  for (int i = 0; i < 1'000'000; ++i) plan.push_back(PlannedRequest::without([&taken] { ++taken; }));
  runner_.in_order(std::move(plan), finish());
  EXPECT_EQ(taken, 1'000'000);
  EXPECT_EQ(ends_, Ends{Outcome::kGoOn});
}

TEST_F(PlanRunnerTest, AnEmptyPlanIsDoneAtOnceAndAFailingOneIsTriedAgain) {
  runner_.in_order({}, finish());
  runner_.side_by_side({}, 4, finish());
  runner_.in_order({PlannedRequest::failing(), request("never")}, finish());
  EXPECT_EQ(ends_, (Ends{Outcome::kGoOn, Outcome::kGoOn, Outcome::kFailed}));
  EXPECT_TRUE(open_.empty());
}

}  // namespace
}  // namespace berth::controller
