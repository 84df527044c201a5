// One row of the table of states at a time (docs/multikueue.md).
#include "multikueue/dispatch.h"

#include <gtest/gtest.h>

#include <array>

namespace berth::multikueue {
namespace {

using api::kueue::CheckState;
using Kind = Step::Kind;
using namespace std::chrono_literals;

const Time kNow = Time{} + 1000h;

Cluster cluster(std::string name, CopyState copy = CopyState::kNone, bool job = false) {
  return {.name = std::move(name), .connected = true, .copy = copy, .admitted_since = kNow - 1min, .job = job};
}
Cluster lost(std::string name, Duration ago) { return {.name = std::move(name), .lost_since = kNow - ago}; }

Local waiting(std::vector<std::string> nominated = {}) {
  return {
      .quota_reserved = true, .other_checks_ready = true, .dispatch_since = kNow, .nominated = std::move(nominated)};
}
Local running_on(std::string name) {
  Local local = waiting();
  local.check = CheckState::kReady;
  local.cluster_name = std::move(name);
  return local;
}

// "CreateCopy east", "Nominate east west", "Retry <message>", "Requeue 60s".
std::vector<std::string> steps(const Local& local, const std::vector<Cluster>& clusters,
                               const Settings& settings = {}) {
  static constexpr std::array kNames = {"Nominate",   "Choose",     "Check",     "CreateCopy",
                                        "DeleteCopy", "Deactivate", "CreateJob", "SyncStatus",
                                        "UpdateJob",  "Finish",     "Release",   "Requeue"};
  std::vector<std::string> out;
  for (const Step& step : next_steps(settings, local, clusters, kNow)) {
    std::string text = kNames[static_cast<std::size_t>(step.kind)];
    if (step.kind == Kind::kSetCheck) text = (step.check == CheckState::kRetry ? "Retry " : "Rejected ") + step.message;
    if (step.kind == Kind::kRequeue) text += " " + format_duration(step.at - kNow);
    if (!step.cluster.empty()) text += " " + step.cluster;
    for (const std::string& name : step.names) text += " " + name;
    out.push_back(text);
  }
  return out;
}
using Steps = std::vector<std::string>;

TEST(Dispatch, AllAtOnceNominatesWhatIsConnected) {
  EXPECT_EQ(steps(waiting(), {cluster("east"), lost("north", 1min), cluster("west")}), (Steps{"Nominate east west"}));
  EXPECT_EQ(steps(waiting({"east", "west"}), {cluster("east"), cluster("west")}),
            (Steps{"CreateCopy east", "CreateCopy west"}));
  // One that went away stays nominated, one that left the configuration does not.
  EXPECT_EQ(steps(waiting({"east", "west"}), {lost("east", 1min), cluster("west", CopyState::kPending)}), Steps{});
  Cluster gone = cluster("east", CopyState::kPending);
  gone.configured = false;
  EXPECT_EQ(steps(waiting({"east", "west"}), {gone, cluster("west")}), (Steps{"Nominate west"}));
  EXPECT_EQ(steps(waiting({"west"}), {gone, cluster("west")}), (Steps{"DeleteCopy east", "CreateCopy west"}));
}

TEST(Dispatch, WaitsForOtherChecksAndForTheEndOfAnEviction) {
  Local local = waiting();
  local.other_checks_ready = false;
  EXPECT_EQ(steps(local, {cluster("east")}), Steps{});
  local = waiting();
  local.evicted = true;
  EXPECT_EQ(steps(local, {cluster("east")}), Steps{});
}

TEST(Dispatch, IncrementalNominatesAStepPerRound) {
  const Settings settings{.dispatcher = Dispatcher::kIncremental, .step_size = 1};
  const std::vector<Cluster> clusters = {cluster("b"), lost("a", 1min), cluster("c")};
  Local local = waiting();
  local.dispatch_since = kNow - 1min;
  EXPECT_EQ(steps(local, clusters, settings), (Steps{"Nominate b"}));
  local.nominated = {"b"};
  EXPECT_EQ(steps(local, clusters, settings), (Steps{"CreateCopy b", "Requeue 4m0s"}));
  local.dispatch_since = kNow - 5min;
  EXPECT_EQ(steps(local, clusters, settings), (Steps{"Nominate b a"}));
  local.dispatch_since = kNow - 1000h;
  EXPECT_EQ(steps(local, clusters, settings), (Steps{"Nominate b a c"}));
  local.nominated = {"b", "a", "c"};
  EXPECT_EQ(steps(local, clusters, settings), (Steps{"CreateCopy b", "CreateCopy c"}));
}

TEST(Dispatch, AnotherClientMayNominate) {
  const Settings external{.dispatcher = Dispatcher::kExternal};
  EXPECT_EQ(steps(waiting(), {cluster("east"), cluster("west")}, external), Steps{}) << "it has not begun";
  EXPECT_EQ(steps(waiting({"west", "gone"}), {cluster("east"), cluster("west")}, external), (Steps{"CreateCopy west"}));
  EXPECT_EQ(steps(waiting({"east"}), {cluster("east"), cluster("west", CopyState::kPending)}, external),
            (Steps{"CreateCopy east", "DeleteCopy west"}))
      << "it changed its mind";
  EXPECT_EQ(steps(waiting({"east"}), {cluster("east", CopyState::kAdmitted), cluster("west")}, external),
            (Steps{"Choose east"}));
}

TEST(Dispatch, TheWinnerHasTheJobOrWasFirstOrHasTheFirstName) {
  const Local local = waiting({"west", "east"});
  Cluster east = cluster("east", CopyState::kAdmitted), west = cluster("west", CopyState::kAdmitted);
  EXPECT_EQ(steps(local, {west, east}), (Steps{"Choose east"}));
  west.admitted_since -= 1s;
  EXPECT_EQ(steps(local, {west, east}), (Steps{"Choose west"}));
  east.job = true;
  EXPECT_EQ(steps(local, {west, east}), (Steps{"Choose east"}));
  east.foreign_job = true;
  EXPECT_EQ(steps(local, {west, east}), (Steps{"Choose west"}));
}

TEST(Dispatch, CopiesThatAreOfNoUseAreDeletedAndForeignOnesLeft) {
  const Local local = waiting({"east"});
  for (const CopyState state : {CopyState::kDiffers, CopyState::kDeactivated, CopyState::kGivenUp})
    EXPECT_EQ(steps(local, {cluster("east", state)}), (Steps{"DeleteCopy east"}));
  for (const CopyState state : {CopyState::kPending, CopyState::kReserved, CopyState::kEvicted, CopyState::kForeign})
    EXPECT_EQ(steps(local, {cluster("east", state)}), Steps{});
  EXPECT_EQ(steps(local, {cluster("east", CopyState::kNone, true)}), (Steps{"DeleteCopy east"}));
  Cluster taken = cluster("east");
  taken.foreign_job = true;
  EXPECT_EQ(steps(local, {taken}), Steps{});
}

TEST(Dispatch, TheChosenClusterGetsTheJobWhenNoOtherHasOne) {
  EXPECT_EQ(steps(running_on("west"), {cluster("east", CopyState::kPending), cluster("west", CopyState::kAdmitted)}),
            (Steps{"DeleteCopy east", "CreateJob west"}));
  EXPECT_EQ(
      steps(running_on("west"), {cluster("east", CopyState::kAdmitted, true), cluster("west", CopyState::kAdmitted)}),
      (Steps{"DeleteCopy east"}));
  EXPECT_EQ(steps(running_on("west"), {cluster("west", CopyState::kAdmitted, true)}), (Steps{"SyncStatus west"}));
}

TEST(Dispatch, AReturningClusterLosesToTheRunningOneEvenIfItWasFirst) {
  Cluster east = cluster("east", CopyState::kAdmitted, true);
  east.admitted_since -= 1h;
  EXPECT_EQ(steps(running_on("west"), {east, cluster("west", CopyState::kAdmitted, true)}),
            (Steps{"DeleteCopy east", "SyncStatus west"}));
}

TEST(Dispatch, ALostClusterIsGivenUpAfterTheTimeout) {
  EXPECT_EQ(steps(running_on("west"), {lost("west", 14min)}), (Steps{"Requeue 1m0s"}));
  EXPECT_EQ(steps(running_on("west"), {lost("west", 15min)}),
            (Steps{"Retry Admitting remote lost, Previously: \"Ready\""}));
  EXPECT_EQ(steps(running_on("west"), {lost("west", 0min)}, {.lost_timeout = 0min}),
            (Steps{"Retry Admitting remote lost, Previously: \"Ready\""}));
}

TEST(Dispatch, AChoiceThatIsNoLongerTrueIsRetried) {
  const auto answer = [](Cluster west) {
    const Steps found = steps(running_on("west"), {std::move(west)});
    return found.empty() ? "" : found.back();
  };
  EXPECT_EQ(answer(cluster("west")), "Retry Admitting remote no longer exists, Previously: \"Ready\"");
  EXPECT_EQ(answer(cluster("west", CopyState::kEvicted, true)),
            "Retry Workload evicted on worker cluster: \"west\", resetting for re-admission, Previously: \"Ready\"");
  EXPECT_EQ(answer(cluster("west", CopyState::kGivenUp)),
            "Retry Remote workload on worker cluster \"west\" is out of sync with its user job, resetting for "
            "re-dispatch, Previously: \"Ready\"");
  Cluster removed = cluster("west", CopyState::kAdmitted, true);
  removed.configured = false;
  EXPECT_EQ(steps(running_on("west"), {removed}),
            (Steps{"DeleteCopy west", "Retry The cluster \"west\" is no longer configured, Previously: \"Ready\""}));
  EXPECT_EQ(steps(running_on(""), {}),
            (Steps{"Retry Admission check is Ready but no admitting cluster is recorded, Previously: \"Ready\""}));
}

TEST(Dispatch, AnEndWinsOnWhicheverClusterItCame) {
  const Steps finish{"SyncStatus east", "Finish east"};
  const std::vector<Cluster> clusters = {cluster("east", CopyState::kFinished, true),
                                         cluster("west", CopyState::kAdmitted, true)};
  EXPECT_EQ(steps(running_on("west"), clusters), finish);
  EXPECT_EQ(steps(waiting({"west"}), clusters), finish);
  EXPECT_EQ(steps(Local{}, clusters), finish);  // no quota
  Local finished;
  finished.finished = true;
  EXPECT_EQ(steps(finished, clusters), (Steps{"DeleteCopy east", "DeleteCopy west"}));
  Local deleted;
  deleted.deleted = true;
  EXPECT_EQ(steps(deleted, {clusters[0], cluster("west", CopyState::kForeign), lost("north", 1h)}),
            (Steps{"DeleteCopy east"}));
}

TEST(Dispatch, AClusterThatWasOnlyAskedCannotEndAJobThatRunsElsewhere) {
  const Cluster west = cluster("west", CopyState::kAdmitted, true);
  const Cluster without_job = cluster("east", CopyState::kFinished);
  Cluster never_admitted = cluster("east", CopyState::kFinished, true);
  never_admitted.admitted_since = Time{};
  for (const Cluster& east : {without_job, never_admitted}) {
    EXPECT_EQ(steps(running_on("west"), {east, west}), (Steps{"DeleteCopy east", "SyncStatus west"}));
    EXPECT_EQ(steps(running_on("west"), {east, lost("west", 1min)}).back(), "Finish east");
    EXPECT_EQ(steps(running_on("west"), {east, cluster("west", CopyState::kEvicted, true)}).back(), "Finish east");
    EXPECT_EQ(steps(waiting({"east", "west"}), {east, west}).back(), "Finish east");
  }
}

TEST(Dispatch, AnEvictionStopsTheCopyAndThenReleasesTheQuota) {
  Local local = running_on("west");
  local.evicted = local.job_active = true;
  Cluster west = cluster("west", CopyState::kAdmitted, true);
  EXPECT_EQ(steps(local, {west}), (Steps{"Deactivate west", "SyncStatus west"}));
  west.copy = CopyState::kDeactivated;
  west.job_active = true;
  EXPECT_EQ(steps(local, {west}), (Steps{"SyncStatus west"}));
  EXPECT_EQ(steps(local, {cluster("west")}), (Steps{"Release"}));
  EXPECT_EQ(steps(local, {lost("west", 14min)}), (Steps{"Requeue 1m0s"}));
  EXPECT_EQ(steps(local, {lost("west", 15min)}), (Steps{"Release"}));
  local.quota_reserved = false;
  EXPECT_EQ(steps(local, {west}), (Steps{"DeleteCopy west"}));
}

TEST(Dispatch, AnEvictionDeletesACopyOfAnotherSpec) {
  Local local = running_on("west");
  local.evicted = true;
  local.job_active = true;
  EXPECT_EQ(steps(local, {cluster("west", CopyState::kDiffers, true)}), (Steps{"DeleteCopy west"}));
  EXPECT_EQ(steps(local, {cluster("west")}), (Steps{"Release"}));
}

TEST(Dispatch, AnEndWaitsForTheLastStatusOfTheJob) {
  Cluster west = cluster("west", CopyState::kFinished, true);
  west.job_ended = false;
  EXPECT_EQ(steps(running_on("west"), {west}), (Steps{"SyncStatus west"}));
  west.job_ended = true;
  EXPECT_EQ(steps(running_on("west"), {west}), (Steps{"SyncStatus west", "Finish west"}));
}

TEST(Dispatch, AClusterWithoutTheKindGetsNoCopy) {
  Cluster east = cluster("east");
  east.no_kind = true;
  EXPECT_EQ(steps(waiting(), {east, cluster("west")}), (Steps{"Nominate west"}));
  EXPECT_EQ(steps(waiting({"east", "west"}), {east, cluster("west")}), (Steps{"CreateCopy west"}));
  // It was served before.
  east.copy = CopyState::kAdmitted;
  EXPECT_EQ(steps(waiting({"east", "west"}), {east, cluster("west")}), (Steps{"DeleteCopy east", "CreateCopy west"}));
  // It was served when it was chosen: somebody may undo that.
  east.lost_since = kNow - 14min;
  EXPECT_EQ(steps(running_on("east"), {east, cluster("west")}), (Steps{"Requeue 1m0s"}));
  Local evicted = running_on("east");
  evicted.evicted = evicted.job_active = true;
  EXPECT_EQ(steps(evicted, {east, cluster("west")}), (Steps{"Requeue 1m0s"}));
  east.lost_since = kNow - 15min;
  EXPECT_EQ(steps(running_on("east"), {east, cluster("west")}),
            (Steps{"Retry Worker cluster \"east\" does not serve the kind of the job, Previously: \"Ready\""}));
  EXPECT_EQ(steps(evicted, {east, cluster("west")}), (Steps{"Release"}));
}

TEST(Dispatch, AClusterThatLacksRightsGetsNoNewJobAndKeepsThoseThatItHas) {
  Cluster east = cluster("east");
  east.closed = true;
  EXPECT_EQ(steps(waiting(), {east, cluster("west")}), (Steps{"Nominate west"}));
  EXPECT_EQ(steps(waiting({"east", "west"}), {east, cluster("west")}), (Steps{"CreateCopy west"}));
  east.copy = CopyState::kAdmitted;
  EXPECT_EQ(steps(waiting({"east", "west"}), {east, cluster("west")}), (Steps{"DeleteCopy east", "CreateCopy west"}));
  EXPECT_EQ(steps(running_on("east"), {east, cluster("west")}),
            (Steps{"Retry Worker cluster \"east\" does not let the manager create the job, Previously: \"Ready\""}));
  east.job = true;
  EXPECT_EQ(steps(running_on("east"), {east, cluster("west")}), (Steps{"SyncStatus east"}));
  EXPECT_EQ(steps(waiting({"east", "west"}), {east, cluster("west")}), (Steps{"Choose east"}));
}

TEST(Dispatch, WhatChangedIsWrittenToTheJobOnTheWorker) {
  Cluster west = cluster("west", CopyState::kAdmitted, true);
  west.job_outdated = true;
  EXPECT_EQ(steps(running_on("west"), {west}), (Steps{"UpdateJob west", "SyncStatus west"}));
}

TEST(Dispatch, AJobThatCanNotBeDispatchedIsRejected) {
  Local local = waiting();
  local.refusal = "No multikueue adapter found";
  EXPECT_EQ(steps(local, {cluster("east")}), (Steps{"Rejected No multikueue adapter found, Previously: \"Pending\""}));
  local.check = CheckState::kRejected;
  EXPECT_EQ(steps(local, {cluster("east")}), Steps{});
}

}  // namespace
}  // namespace berth::multikueue
