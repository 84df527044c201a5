// The API server refuses the updates that start and stop a job: the job says so, the update is tried again with pauses,
// the quota stays where Kueue leaves it, and other jobs go on.
#include <gmock/gmock.h>

#include "api/status.h"
#include "controller/guarded_job.h"
#include "controller/kinds_fixture.h"
#include "controller/refused_updates.h"

namespace berth::controller::refused_updates_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class RefusedBySchema : public CustomKind {
 protected:
  // Rules of the definition forbid values of the field that suspends a Sweep.
  void rule(const std::string& cel) {
    const std::string rules =
        cel.empty() ? "" : R"("x-kubernetes-validations":[{"rule":")" + cel + R"(","message":"house rule"}],)";
    const auto done = patch(apiserver::kCrds, "", "sweeps.sweeps.example.org",
                            R"({"spec":{"versions":[{"name":"v1","served":true,"storage":true,
        "subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object",)" +
                                rules +
                                R"("x-kubernetes-preserve-unknown-fields":true,
        "properties":{"spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true,
        "properties":{"hold":{"type":"boolean"}}}}}}}]}})");
    EXPECT_TRUE(done.ok()) << to_string(done.body);
    pass(60);
  }
  Json workload_of(std::string_view job) {
    for (Json& one : workloads()) {
      if (string_at(array_at(one, {"metadata", "ownerReferences"})[0], {"name"}) == job) return one;
    }
    return nullptr;
  }
  std::string message(std::string_view job, std::string_view type) {
    const Json workload = workload_of(job);
    for (const auto& one : array_at(workload, {"status", "conditions"}))
      if (string_at(one, {"type"}) == type) return std::string(string_at(one, {"message"}));
    return {};
  }
  std::uint64_t patches() { return controller->request_counts().at("patch sweeps"); }
};

TEST_F(RefusedBySchema, AStartIsReportedAndTriedAgain) {
  rule("self.metadata.name != 'a' || !has(self.spec.hold) || self.spec.hold");
  make(kSweeps, "Sweep", "default", sweep("a", 1));
  make(kSweeps, "Sweep", "default", sweep("b", 1));
  pass(10);
  EXPECT_FALSE(held("b")) << "others go on";
  EXPECT_TRUE(held("a"));
  EXPECT_THAT(events("a"), Contains(AllOf(HasSubstr("FailedToStart: "), HasSubstr("house rule"))));
  EXPECT_THAT(events("a"), Not(Contains(HasSubstr("Started"))));
  const Json workload = workload_of("a");
  EXPECT_THAT(events(string_at(workload, {"metadata", "name"})), Contains(HasSubstr("FailedToStart: ")));
  EXPECT_EQ(condition(workload, "Admitted"), "True Admitted");
  EXPECT_EQ(condition(workload, "PodsReady"), "False WaitForStart");
  EXPECT_THAT(message("a", "PodsReady"), HasSubstr("house rule"));
  EXPECT_THAT(controller->engine().held_quotas(), SizeIs(2)) << "as in Kueue, it holds its quota";

  const auto before = patches();
  const std::string version(string_at(workload_of("a"), {"metadata", "resourceVersion"}));
  pass(600);
  EXPECT_LE(patches() - before, 25u) << "every 30 seconds";
  EXPECT_GE(patches() - before, 15u);
  EXPECT_EQ(string_at(workload_of("a"), {"metadata", "resourceVersion"}), version) << "nothing new to say";

  rule("");
  EXPECT_FALSE(held("a"));
  EXPECT_THAT(events("a"), Contains(HasSubstr("Started: Admitted by clusterQueue cq")));
  EXPECT_THAT(message("a", "PodsReady"), Not(HasSubstr("house rule")));
}

// The time for pods to become ready runs on, as in Kueue: 30 minutes when nothing else is configured.
TEST_F(RefusedBySchema, AStartThatNeverSucceedsGivesTheQuotaBack) {
  rule("self.metadata.name != 'a' || !has(self.spec.hold) || self.spec.hold");
  make(kSweeps, "Sweep", "default", sweep("a", 3));
  make(kSweeps, "Sweep", "default", sweep("b", 1));
  pass(1700);
  EXPECT_TRUE(held("b")) << "a holds all quota";
  pass(200);
  EXPECT_THAT(message("a", "Evicted"), HasSubstr("PodsReady timeout"));
  EXPECT_FALSE(held("b"));
}

TEST_F(RefusedBySchema, AStopIsReportedAndKeepsTheQuota) {
  const Json original = make(kSweeps, "Sweep", "default", sweep("a", 1));
  make(kSweeps, "Sweep", "default", sweep("b", 1));
  pass();
  ASSERT_FALSE(held("a"));
  rule("self.metadata.name != 'a' || !self.spec.hold");
  for (const std::string job : {"a", "b"}) {
    const std::string name(string_at(workload_of(job), {"metadata", "name"}));
    EXPECT_TRUE(patch(api::kWorkloads, "default", name, R"({"spec":{"active":false}})").ok());
  }
  pass(60);
  EXPECT_TRUE(held("b"));
  EXPECT_FALSE(held("a"));
  EXPECT_THAT(events("a"), Contains(AllOf(HasSubstr("FailedToStop: "), HasSubstr("house rule"))));
  EXPECT_THAT(events("a"), Not(Contains(HasSubstr("Stopped"))));
  EXPECT_THAT(events(string_at(workload_of("a"), {"metadata", "name"})), Contains(HasSubstr("FailedToStop: ")));
  EXPECT_THAT(controller->engine().held_quotas(), SizeIs(1)) << "it may still run";
  rule("");
  EXPECT_TRUE(held("a"));
  EXPECT_EQ(canonical_json(seen(kSweeps, "a").at("spec")), canonical_json(original.at("spec")));
  EXPECT_THAT(controller->engine().held_quotas(), IsEmpty());
}

// Somebody's webhook refuses starts.
class RefusedByWebhook : public KindsTest {
 protected:
  RefusedByWebhook() : client(*server, executor) {
    controller.emplace(client, executor, all_kinds());
    controller->start();
    controller->lead();
    pass();
  }
  ~RefusedByWebhook() override { controller.reset(); }
  void job(const std::string& name) {
    make(api::kJobs, "Job", "default",
         "{metadata: {name: " + name + ", labels: {kueue.x-k8s.io/queue-name: q}}, spec: {" + std::string(kTemplate) +
             "}}");
  }
  GuardedJob client;
};

TEST_F(RefusedByWebhook, AStartIsReportedAndTriedAgain) {
  job("a");
  job("b");
  pass(600);
  EXPECT_TRUE(suspended(api::kJobs, "a"));
  EXPECT_FALSE(suspended(api::kJobs, "b"));
  EXPECT_THAT(events("a"), Contains(AllOf(HasSubstr("FailedToStart: "), HasSubstr("not today, ticket 1"))));
  EXPECT_LE(client.tickets, 45) << "a new text each time does not make it busy";
  client.guards = false;
  pass(31);
  EXPECT_FALSE(suspended(api::kJobs, "a"));
}

TEST(RefusedUpdates, OnlyWhatWouldBeRefusedAgainCounts) {
  const auto code = [](int number, std::string_view text = "no") {
    return refused_for_good({number, api::make_status(number, "", text), {}});
  };
  for (const int number : {400, 403, 413, 422}) EXPECT_TRUE(code(number)) << number;
  for (const int number : {0, 401, 404, 409, 410, 429, 500, 503}) EXPECT_FALSE(code(number)) << number;
  EXPECT_TRUE(code(500, "Internal error occurred: failed calling webhook \"x\": connection refused"));
}

TEST(RefusedUpdates, AreOfOneJobAndOneAim) {
  RefusedUpdates refusals;
  const auto job = [](const std::string& uid, const std::string& version) {
    return parse_yaml("{metadata: {namespace: n, name: a, uid: " + uid + ", resourceVersion: '" + version + "'}}")
        .value()
        .front();
  };
  const auto answer = [](std::string_view text) {
    return api::RestResponse{422, api::make_status(422, "Invalid", text), {}};
  };
  using Aim = RefusedUpdates::Aim;
  const Time now = Time{} + std::chrono::hours(1);
  EXPECT_THAT(refusals.add(job("u", "1"), Aim::kStart, answer("one"), now)->note, HasSubstr("one"));
  EXPECT_THAT(refusals.add(job("u", "1"), Aim::kStart, answer("two"), now)->note, HasSubstr("one"));
  EXPECT_THAT(refusals.add(job("u", "2"), Aim::kStart, answer("three"), now)->note, HasSubstr("three"));
  EXPECT_THAT(refusals.start_refused(job("u", "9")), HasSubstr("three"));
  EXPECT_EQ(refusals.start_refused(job("another", "2")), "");
  const auto stop_at = [&](Time when, const std::string& version) {
    return refusals.add(job("u", version), Aim::kStop, answer(std::string(9000, 'x')), when);
  };
  EXPECT_FALSE(stop_at(now, "2"));
  EXPECT_FALSE(stop_at(now + std::chrono::seconds(4), "3")) << "the Job controller may still have to suspend the job";
  const auto stop = stop_at(now + RefusedUpdates::kLongestWait, "4");
  ASSERT_TRUE(stop);
  EXPECT_EQ(stop->reason, "FailedToStop");
  EXPECT_EQ(stop->note.size(), 1024u);
  EXPECT_EQ(refusals.start_refused(job("u", "2")), "");
  refusals.forget("n/a");
}

}  // namespace
}  // namespace berth::controller::refused_updates_test
