// What a new workload copies from its job.
#include <gtest/gtest.h>

#include "jobs/compose.h"
#include "jobs/reconcile_support.h"

namespace berth::jobs::make_workload_test {
namespace {

using namespace reconcile_support;

// ShortWorkloadNames: a name of a job may be as long as the value of a label.
TEST(MakeWorkload, MayHaveAShortName) {
  JobFacts on = facts();
  on.gates.short_names = true;
  Json long_one = job("{}");
  ensure_path(long_one, {"metadata", "name"}) = std::string(63, 'a');
  EXPECT_EQ(string_at(made(long_one, on), {"metadata", "name"}).size(), 63u);
  EXPECT_GT(string_at(made(long_one, facts()), {"metadata", "name"}).size(), 63u);
  for (const bool is_short : {false, true})
    EXPECT_TRUE(is_workload_name_of(batch_job(), long_one, workload_name_of(batch_job(), long_one, is_short)));
}

// KEP-4803. The job may change its mind while it waits for quota.
TEST(MakeWorkload, HasTheTimesForPodsToBeReadyOfItsJob) {
  JobFacts on = facts();
  on.gates.ready_times = true;
  const auto wants = [](std::string_view seconds) {
    return job("{metadata: {annotations: {kueue.x-k8s.io/wait-for-pods-ready: '{\"timeoutSeconds\": " +
               std::string(seconds) + "}'}}}");
  };
  const auto times = [](const Json& object) {
    return string_at(object, {"metadata", "annotations", "kueue.x-k8s.io/wait-for-pods-ready"});
  };
  const Json made_of = made(wants("5"), on);
  EXPECT_EQ(times(made_of), R"({"timeoutSeconds": 5})");
  EXPECT_EQ(times(made(wants("5"), facts())), "") << "the gate is off";
  Workload w = api::kueue::decode_workload(made_of).value();
  EXPECT_TRUE(drift_of(wants("5"), w, on).patch.as_object().empty());
  EXPECT_EQ(times(drift_of(wants("6"), w, on).patch), R"({"timeoutSeconds": 6})");
  EXPECT_TRUE(
      find_path(drift_of(job("{}"), w, on).patch, {"metadata", "annotations", "kueue.x-k8s.io/wait-for-pods-ready"})
          ->is_null());
  w.status.conditions.emplace_back().type = "QuotaReserved";
  w.status.conditions.back().status = true;
  EXPECT_TRUE(drift_of(wants("6"), w, on).patch.as_object().empty()) << "it holds quota";
}

TEST(MakeWorkload, CopiesTheLabelsItIsAskedTo) {
  JobFacts with_labels = facts();
  with_labels.label_keys_to_copy = {"team", "absent", "kueue.x-k8s.io/queue-name"};
  const Json copied = made(job("{metadata: {labels: {team: a, other: b}}}"), with_labels);
  EXPECT_EQ(*find_path(copied, {"metadata", "labels"}),
            yaml("{kueue.x-k8s.io/job-uid: job-1, kueue.x-k8s.io/queue-name: q, team: a}"));
  EXPECT_EQ(*find_path(made(job("{metadata: {labels: {team: a}}}"), facts()), {"metadata", "labels"}),
            yaml("{kueue.x-k8s.io/job-uid: job-1}"));
  JobFacts with_annotations = facts();
  with_annotations.annotation_keys_to_copy = {"example.com/budget", "absent"};
  const Json annotated = made(job("{metadata: {annotations: {example.com/budget: '7', other: b}}}"), with_annotations);
  EXPECT_EQ(*find_path(annotated, {"metadata", "annotations"}), yaml("{example.com/budget: '7'}"));
}

}  // namespace
}  // namespace berth::jobs::make_workload_test
