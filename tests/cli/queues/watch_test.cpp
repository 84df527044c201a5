// berth watch follows a job to its end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/yaml.h"
#include "cli/queues/run_command.h"
#include "cli/queues/watch_facts.h"

namespace berth::cli::queues::watch_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Json yaml(const std::string& text) { return parse_yaml(text).value().front(); }

const std::string kOwned =
    "metadata: {name: w, namespace: default, uid: wu, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: train, "
    "uid: u, controller: true}]}, spec: {queueName: main, podSets: [{name: main, count: 2, template: {spec: "
    "{containers: "
    "[]}}}]}";
const std::string kPending =
    "{" + kOwned +
    ", status: {conditions: [{type: QuotaReserved, status: 'False', reason: Pending, message: no cpu}]}}";
const std::string kAdmission =
    "admission: {clusterQueue: cq, podSetAssignments: [{name: main, count: 2, flavors: {cpu: default}}]}";
const std::string kAdmitted =
    "{" + kOwned + ", status: {" + kAdmission +
    ", conditions: [{type: QuotaReserved, status: 'True'}, {type: Admitted, status: 'True'}]}}";
std::string finished(const std::string& reason) {
  return "{" + kOwned + ", status: {" + kAdmission +
         ", conditions: [{type: QuotaReserved, status: 'True'}, {type: Admitted, status: 'True'}, "
         "{type: Finished, status: 'True', reason: " +
         reason + ", message: all pods are done}]}}";
}

// What the server says at each look, one after the other; the last look is repeated.
struct Look {
  std::string workload;   // "": the job has none
  std::string uid = "u";  // of the job; "": it is gone
  int code = 200;         // of every answer
  std::string more = {};  // by which the job, which is elastic, waits to grow; "": it is not elastic
};

class PlayedServer final : public Server {
 public:
  explicit PlayedServer(std::vector<Look> looks) : looks_(std::move(looks)) {}
  api::RestResponse get(const std::string& path) override {
    if (path == "/apis") return json("{groups: [{name: batch, preferredVersion: {groupVersion: batch/v1}}]}");
    if (path == "/apis/batch/v1")
      return json("{resources: [{name: jobs, singularName: job, kind: Job, namespaced: true}]}");
    if (path.find("/pendingworkloads") != std::string::npos)
      return json("{items: [{metadata: {name: w, namespace: default}, positionInLocalQueue: 2}]}");
    return {404, Json(), {}};
  }
  api::RestResponse call(api::RestRequest request) override {
    const std::string& what = request.resource.resource;
    if (look().code != 200) return {look().code, Json(), {}};
    if (what == "jobs")
      return look().uid.empty() ? api::RestResponse{404, Json(), {}}
                                : json(
                                      "{metadata: {name: train, namespace: default, labels: "
                                      "{kueue.x-k8s.io/queue-name: main}, annotations: {kueue.x-k8s.io/elastic-job: '" +
                                      std::string(look().more.empty() ? "" : "true") + "'}, uid: " + look().uid + "}}");
    if (what == "workloads" && request.verb == api::Verb::kGet)
      return look().workload.empty() ? api::RestResponse{404, Json(), {}} : json(look().workload);
    if (what == "workloads")
      return json("{items: [" + look().workload + (look().more.empty() ? "" : ", " + look().more) + "]}");
    if (what == "pods")
      return json(
          "{items: [{metadata: {name: a, uid: p, ownerReferences: [{uid: u, kind: Job, controller: true}]}, "
          "status: {phase: Running}}]}");
    return json("{items: []}");
  }
  Time now() const override { return Time() + std::chrono::seconds(at_); }
  void sleep(Duration) override { ++at_; }
  std::string default_namespace() const override { return "default"; }
  std::string explain(const api::RestResponse&, const api::GroupVersionResource&) const override { return "refused"; }

 private:
  static api::RestResponse json(const std::string& text) { return {200, yaml(text), {}}; }
  const Look& look() const { return looks_[std::min(at_, looks_.size() - 1)]; }
  std::vector<Look> looks_;
  std::size_t at_ = 0;
};

testing_support::Ran watched(std::vector<Look> looks, std::vector<std::string> words = {"watch", "job/train"}) {
  return testing_support::run_command(std::move(words), [&](const AccessFlags&) -> Result<std::unique_ptr<Server>> {
    return std::make_unique<PlayedServer>(looks);
  });
}

TEST(Watch, ReportsEachChangeOnceAndEndsWithTheJob) {
  const auto ran = watched({{kPending}, {kPending}, {kAdmitted}, {kAdmitted}, {finished("Succeeded")}});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.said,
            "00:00:00  Queue      workload w in LocalQueue main\n"
            "00:00:00  Position   3 in the LocalQueue\n"
            "00:00:00  Wait       no cpu\n"
            "00:00:02  Admission  admitted: ClusterQueue cq; main: 2 pods with cpu=default\n"
            "00:00:02  Pods       1 of 2 pods run\n"
            "00:00:04  End        Succeeded: all pods are done\n");
}

TEST(Watch, FollowsTheWorkloadByWhichAnElasticJobWaitsToGrow) {
  const std::string growth =
      "{metadata: {name: w2, namespace: default, annotations: {kueue.x-k8s.io/workload-slice-replacement-for: "
      "default/w}, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: train, uid: u, controller: true}]}, spec: "
      "{podSets: [{name: main, count: 4}]}, status: {conditions: [{type: QuotaReserved, status: 'False', reason: "
      "Pending, message: 2 cpu are missing}]}}";
  const Look waits{kAdmitted, "u", 200, growth};
  const auto ran = watched({{kAdmitted}, waits, waits, waits, waits, {kAdmitted}, {finished("Succeeded")}});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.said,
            "00:00:00  Queue      workload w in LocalQueue main\n"
            "00:00:00  Admission  admitted: ClusterQueue cq; main: 2 pods with cpu=default\n"
            "00:00:00  Pods       1 of 2 pods run\n"
            "00:00:03  Growth     to 4 pods: 2 cpu are missing\n"
            "00:00:06  End        Succeeded: all pods are done\n");
}

TEST(Watch, OfTheWorkloadsOfAJobTheOneWithQuotaIsFollowedFirst) {
  const auto name = [](const JsonArray& workloads) {
    return std::string(string_at(main_workload(workloads), {"metadata", "name"}));
  };
  const auto named = [](const std::string& text, const std::string& as) {
    Json out = yaml(text);
    ensure_path(out, {"metadata", "name"}) = as;
    return out;
  };
  const Json replaced = named(finished("WorkloadSliceReplaced"), "replaced");
  const Json ended = named(finished("Succeeded"), "ended"), waits = named(kPending, "waits");
  const Json runs = named(kAdmitted, "runs");
  EXPECT_EQ(name({runs, waits, ended, replaced}), "runs");
  EXPECT_EQ(name({ended, waits, replaced}), "waits");
  EXPECT_EQ(name({ended, replaced}), "ended");
  EXPECT_TRUE(main_workload(JsonArray()).is_null());
}

TEST(Watch, SaysByItsExitCodeHowTheJobEnded) {
  EXPECT_EQ(watched({{finished("Failed")}}).code, 1);
  const auto deleted = watched({{kPending}, {"", ""}});
  EXPECT_EQ(deleted.code, 3);
  EXPECT_THAT(deleted.said, HasSubstr("End        job/train was deleted"));
  EXPECT_EQ(watched({{kPending}, {kPending, "another"}}).code, 3) << "another job has its name now";
  const auto late = watched({{kPending}}, {"watch", "job", "train", "--timeout", "3s"});
  EXPECT_EQ(late.code, 4);
  EXPECT_THAT(late.said, HasSubstr("job/train has not ended after 3s"));
}

TEST(Watch, AsksAgainWhileTheServerIsTroubled) {
  const auto ran = watched({{kPending}, {"", "u", 503}, {"", "u", 503}, {finished("Succeeded")}});
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.said, HasSubstr("refused; trying again"));
  EXPECT_THAT(ran.said, HasSubstr("the server answers again"));
}

TEST(Watch, ARefusalEndsIt) {
  const auto ran = watched({{kPending}, {kPending, "u", 403}});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.said, Not(HasSubstr("trying again")));
}

TEST(Watch, AJobThatDoesNotExistOrHasNoWorkloadIsReported) {
  const auto none = watched({{"", ""}});
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.said, HasSubstr("job/train does not exist in namespace default"));
  const auto later = watched({{""}, {""}, {kAdmitted}, {finished("Succeeded")}});
  EXPECT_EQ(later.code, 0);
  EXPECT_THAT(later.said, HasSubstr("Queue      job/train has no workload"));
  EXPECT_EQ(watched({{"", "u", 403}}).code, 1);
}

TEST(Watch, WritesAnObjectPerLine) {
  const auto ran = watched({{finished("Succeeded")}}, {"watch", "workload", "w", "-o", "json"});
  EXPECT_EQ(ran.code, 0);
  const std::string last = ran.said.substr(ran.said.rfind('{'));
  const Json line = parse_json(last).value();
  EXPECT_EQ(string_at(line, {"topic"}), "End");
  EXPECT_EQ(string_at(line, {"workload"}), "w");
  EXPECT_EQ(string_at(line, {"time"}), "1970-01-01T00:00:00Z");
}

TEST(Watch, WrongWordsAreNamed) {
  EXPECT_EQ(watched({}, {"watch", "job"}).code, 2);
  EXPECT_EQ(watched({}, {"watch", "job/a", "--timeout", "soon"}).code, 2);
  EXPECT_EQ(watched({{kPending}}, {"watch", "job/a", "-o", "name"}).code, 2);
}

TEST(WatchFacts, NameEvictionsPlacesAndDeactivation) {
  const WatchFacts evicted =
      facts_of(yaml("{" + kOwned +
                    ", status: {conditions: [{type: Evicted, status: 'True', reason: Preempted, message: for b}]}}"),
               std::nullopt);
  EXPECT_THAT(evicted, testing::Contains(WatchFact{"Eviction", "Preempted: for b"}));
  Json off = yaml(kPending);
  off.at("spec").as_object()["active"] = false;
  EXPECT_THAT(facts_of(off, 1), testing::Contains(WatchFact{"Wait", "it is deactivated: spec.active is false"}));
  EXPECT_EQ(changed(evicted, evicted), WatchFacts());
}

TEST(WatchFacts, CountThePodsThatAreLeftAndNameTheClusterThatHasThem) {
  const auto fact = [](const std::string& more) {
    return pods_fact(yaml("{spec: {podSets: [{name: main, count: 1}]}, status: {admission: {podSetAssignments: "
                          "[{name: main, count: 4}]}" +
                          more + "}}"),
                     {}, {})
        .text;
  };
  EXPECT_EQ(fact(""), "0 of 1 pod runs");
  EXPECT_EQ(fact(", clusterName: west"), "they run on the worker cluster west");
}

}  // namespace
}  // namespace berth::cli::queues::watch_test
