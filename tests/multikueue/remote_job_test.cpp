// The Job on a worker, and its status that comes back as foreign input.
#include "multikueue/remote_job.h"

#include <gtest/gtest.h>

#include "base/merge_patch.h"
#include "base/yaml.h"
#include "multikueue/names.h"

namespace berth::multikueue::remote_job_test {
namespace {

Json yaml(std::string_view text) { return parse_yaml(text).value().front(); }

Json local_job() {
  return yaml(R"(
apiVersion: batch/v1
kind: Job
metadata: {name: j, namespace: team, uid: j1, resourceVersion: "5", labels: {kueue.x-k8s.io/queue-name: q}, ownerReferences: [{kind: X, name: x, uid: x}]}
spec:
  suspend: false
  managedBy: kueue.x-k8s.io/multikueue
  parallelism: 2
  ttlSecondsAfterFinished: 0
  selector: {matchLabels: {batch.kubernetes.io/controller-uid: j1}}
  template:
    metadata: {labels: {controller-uid: j1, job-name: j, batch.kubernetes.io/controller-uid: j1, batch.kubernetes.io/job-name: j, mine: "1"}}
    spec: {restartPolicy: Never, containers: [{name: c, image: i}]}
status: {active: 2}
)");
}

TEST(RemoteJob, IsMadeAnewForTheWorker) {
  const Json job = remote_job(batch_jobs(), local_job(), "w", Sender{"here", "m1"}, true);
  EXPECT_EQ(string_at(job, {"metadata", "labels", kOriginLabel}), "here");
  EXPECT_EQ(string_at(job, {"metadata", "labels", "kueue.x-k8s.io/queue-name"}), "q");
  EXPECT_EQ(string_at(job, {"metadata", "annotations", "kueue.x-k8s.io/prebuilt-workload-name"}), "w");
  EXPECT_TRUE(bool_at(job, {"spec", "suspend"}));
  for (const std::string_view dropped : {"managedBy", "selector", "ttlSecondsAfterFinished"})
    EXPECT_TRUE(find_path(job, {"spec", dropped}) == nullptr) << dropped;
  for (const std::string_view dropped : {"uid", "resourceVersion", "ownerReferences"})
    EXPECT_TRUE(find_path(job, {"metadata", dropped}) == nullptr) << dropped;
  EXPECT_EQ(object_at(job, {"spec", "template", "metadata", "labels"}).size(), 1u);
  EXPECT_TRUE(find(job, "status") == nullptr);
}

TEST(RemoteJob, NamesItsWorkloadByALabelWhereItFits) {
  EXPECT_EQ(string_at(remote_job(batch_jobs(), local_job(), "w", Sender{"here", "m1"}, false),
                      {"metadata", "labels", "kueue.x-k8s.io/prebuilt-workload-name"}),
            "w");
  const std::string longer(64, 'a');
  EXPECT_EQ(string_at(remote_job(batch_jobs(), local_job(), longer, Sender{"here", "m1"}, false),
                      {"metadata", "annotations", "kueue.x-k8s.io/prebuilt-workload-name"}),
            longer);
}

Json with_status(std::string_view status) {
  Json job = remote_job(batch_jobs(), local_job(), "w", Sender{"here", "m1"}, true);
  job.as_object()["status"] = yaml(status);
  ensure_path(job, {"spec", "suspend"}) = false;
  return job;
}

TEST(RemoteStatus, ComesBackWithTheMembersThatAreKnown) {
  const char* const status =
      "{active: 1, ready: 1, terminating: 0, succeeded: 1, failed: 2, startTime: '2026-01-01T00:00:00Z', "
      "completedIndexes: '0,2-3', uncountedTerminatedPods: {succeeded: [p1]}, conditions: [{type: Suspended, status: "
      "'False', reason: JobResumed, message: m, lastTransitionTime: '2026-01-01T00:00:00Z', lastProbeTime: "
      "'2026-01-01T00:00:00Z'}]}";
  EXPECT_TRUE(json_equal(readable_status(with_status(status)).value(), yaml(status)));
  EXPECT_TRUE(json_equal(readable_status(with_status("{active: 1, evil: {a: b}}")).value(), yaml("{active: 1}")));
}

TEST(RemoteStatus, IsRefusedWhenNoJobControllerWroteIt) {
  for (const auto& [status, member] : std::vector<std::pair<std::string, std::string>>{
           {"[]", "status: expected an object"},
           {"{active: -1}", "status.active"},
           {"{active: '1'}", "status.active"},
           {"{failed: 2147483648}", "status.failed"},
           {"{startTime: soon}", "status.startTime"},
           {"{completedIndexes: '1;2'}", "status.completedIndexes"},
           {"{conditions: {}}", "status.conditions"},
           {"{conditions: [{type: Complete, status: Yes}]}", "status.conditions"},
           {"{conditions: [{status: 'True'}]}", "status.conditions"},
           {"{conditions: [" + std::string("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}") + "]}",
            "status.conditions"},
           {"{conditions: [{type: A, status: 'True', lastTransitionTime: now}]}", "status.conditions"},
           {"{uncountedTerminatedPods: {failed: [1]}}", "status.uncountedTerminatedPods"},
       }) {
    const auto read = readable_status(with_status(status));
    ASSERT_FALSE(read) << status.substr(0, 60);
    EXPECT_NE(read.error().message.find(member), std::string::npos) << read.error().message;
    const SeenJob seen = seen_job(batch_jobs(), with_status(status));
    EXPECT_TRUE(seen.status == nullptr);
    EXPECT_FALSE(seen.ended);
    EXPECT_TRUE(status_patch(local_job(), seen).is_null());
  }
}

TEST(RemoteStatus, HasBounds) {
  const auto with_text = [](std::string_view member, std::size_t size) {
    Json job = with_status("{conditions: [{type: A, status: 'True'}]}");
    Json& status = job.as_object()["status"];
    (member == "message" ? status.at_pointer("/conditions/0").as_object() : status.as_object())[member] =
        std::string(size, '1');
    return readable_status(job).has_value();
  };
  EXPECT_TRUE(with_text("failedIndexes", 1u << 20)) << "left out";
  EXPECT_FALSE(with_text("failedIndexes", (1u << 20) + 1));
  EXPECT_TRUE(with_text("message", 32768));
  EXPECT_FALSE(with_text("message", 32769));
}

TEST(RemoteStatus, HasABoundAltogether) {
  Json job = with_status("{succeeded: 3}");
  JsonObject& status = job.as_object()["status"].as_object();
  status["completedIndexes"] = std::string(200u << 10, '1');
  EXPECT_TRUE(json_equal(readable_status(job).value(), *find(job, "status"))) << "it fits";
  status["failedIndexes"] = std::string(200u << 10, '1');
  Json read = readable_status(job).value();
  EXPECT_TRUE(find(read, "completedIndexes") == nullptr);
  EXPECT_EQ(string_at(read, {"failedIndexes"}).size(), 200u << 10);
  EXPECT_EQ(int_at(read, {"succeeded"}), 3);

  JsonArray uids, conditions;
  for (int i = 0; i < 10'000; ++i) uids.push_back(Json(std::string(100, 'u')));
  status["uncountedTerminatedPods"] = JsonObject{{"failed", uids}};
  for (int i = 0; i < 16; ++i)
    conditions.push_back(JsonObject{{"type", i == 0 ? "Complete" : "T" + std::to_string(i)},
                                    {"status", "True"},
                                    {"message", std::string(32768, 'm')}});
  status["conditions"] = conditions;
  read = readable_status(job).value();
  EXPECT_LE(to_string(read).size(), 256u << 10);
  EXPECT_EQ(array_at(read, {"conditions"}).size(), 16u);
  EXPECT_EQ(string_at(array_at(read, {"conditions"})[0], {"message"}), std::string(1024, 'm'));
  EXPECT_TRUE(has_ended(JsonObject{{"status", read}}));

  status["startTime"] = "2026-01-01T00:00:00." + std::string(300u << 10, '0') + "Z";
  const SeenJob seen = seen_job(batch_jobs(), job);
  EXPECT_TRUE(seen.status == nullptr) << "nothing is left that could be left out";
}

TEST(RemoteStatus, IsCopiedWhileBothRunOrBothRest) {
  const Json running = with_status("{active: 2, ready: 1, startTime: '2026-01-01T00:00:00Z'}");
  Json local = local_job();
  const Json patch = status_patch(local, seen_job(batch_jobs(), running));
  EXPECT_TRUE(json_equal(*find(apply_merge_patch(local, patch), "status"), *find(running, "status")));
  EXPECT_TRUE(status_patch(apply_merge_patch(local, patch), seen_job(batch_jobs(), running)).is_null())
      << "it is there already";

  ensure_path(local, {"spec", "suspend"}) = true;
  EXPECT_TRUE(status_patch(local, seen_job(batch_jobs(), running)).is_null()) << "the run there is not one of here";
  const Json ended = with_status("{succeeded: 2, conditions: [{type: Complete, status: 'True'}]}");
  EXPECT_FALSE(status_patch(local, seen_job(batch_jobs(), ended)).is_null());
  Json resting = with_status("{}");
  ensure_path(resting, {"spec", "suspend"}) = true;
  const Json none = status_patch(local, seen_job(batch_jobs(), resting));
  EXPECT_TRUE(find_path(apply_merge_patch(local, none), {"status", "active"}) == nullptr);
}

TEST(RemoteStatus, OfAnotherRunKeepsTheStartOfTheRunThatIsShown) {
  Json local = local_job();
  ensure_path(local, {"status", "startTime"}) = "2026-01-01T00:30:00Z";
  const Json ended = with_status(
      "{succeeded: 2, startTime: '2026-01-01T00:10:00Z', completionTime: '2026-01-01T00:20:00Z', conditions: [{type: "
      "Complete, status: 'True'}]}");
  Json after = apply_merge_patch(local, status_patch(local, seen_job(batch_jobs(), ended)));
  EXPECT_EQ(string_at(after, {"status", "startTime"}), "2026-01-01T00:30:00Z");
  EXPECT_EQ(string_at(after, {"status", "completionTime"}), "2026-01-01T00:30:00Z") << "no end before the start";
  ensure_path(local, {"spec", "suspend"}) = true;
  after = apply_merge_patch(local, status_patch(local, seen_job(batch_jobs(), ended)));
  EXPECT_EQ(string_at(after, {"status", "startTime"}), "2026-01-01T00:10:00Z");
}

TEST(RemoteStatus, OfAJobThatIsGivenUpHasNoPods) {
  const Json patch = no_pods_patch(batch_jobs(), local_job());
  EXPECT_EQ(int_at(apply_merge_patch(local_job(), patch), {"status", "active"}, 7), 0);
  EXPECT_TRUE(no_pods_patch(batch_jobs(), apply_merge_patch(local_job(), patch)).is_null());
}

TEST(RemoteJob, ReportsWhichWorkloadItBelongsTo) {
  Json job = with_status("{active: 1}");
  const SeenJob seen = seen_job(batch_jobs(), job);
  EXPECT_EQ(seen.workload, "w");
  EXPECT_EQ(seen.origin, "here");
  EXPECT_TRUE(seen.active);
  EXPECT_FALSE(seen.suspended);
}

}  // namespace
}  // namespace berth::multikueue::remote_job_test
