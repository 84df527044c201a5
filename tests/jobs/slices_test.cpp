// Elastic jobs (KEP-77): which slice is changed, made or finished when the job has another size.
#include "jobs/slices.h"

#include <gmock/gmock.h>

#include "api/kueue/names.h"
#include "api/kueue/slices.h"
#include "jobs/follow_workload.h"
#include "jobs/reconcile_support.h"
#include "jobs/ungate.h"
#include "jobs/workload_steps.h"

namespace berth::jobs::slices_test {
namespace {

using namespace reconcile_support;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Json elastic(int parallelism, bool suspended = false, int generation = 3) {
  Json j = job("{metadata: {annotations: {kueue.x-k8s.io/elastic-job: 'true'}}, spec: {completions: 20}}");
  ensure_path(j, {"metadata", "generation"}) = generation;
  ensure_path(j, {"spec", "parallelism"}) = parallelism;
  ensure_path(j, {"spec", "suspend"}) = suspended;
  if (suspended) return j;
  ensure_path(j, {"spec", "template", "metadata", "annotations", "kueue.x-k8s.io/workload"}) = "a";
  ensure_path(j, {"spec", "template", "metadata", "annotations", "kueue.x-k8s.io/workload-slice-name"}) = "a";
  ensure_path(j, {"spec", "template", "metadata", "labels", "kueue.x-k8s.io/podset"}) = "main";
  return j;
}

constexpr std::string_view kReserved = "{type: QuotaReserved, status: 'True', reason: QuotaReserved}";
constexpr std::string_view kAdmitted = "{type: Admitted, status: 'True', reason: Admitted}";
constexpr std::string_view kEvicted = "{type: Evicted, status: 'True', reason: Preempted, message: make room}";

// A slice that was created `age` seconds after the first one; `conditions` is a list in YAML without brackets.
WorkloadPtr slice(const std::string& name, int count, const std::string& conditions = "",
                  const std::string& replaces = "", int age = 0) {
  auto w = *workload("{}", elastic(count, true));
  w.meta.name = name;
  w.meta.uid = "uid-" + name;
  w.meta.creation += std::chrono::seconds(age);
  w.meta.annotations[std::string(api::kueue::kElasticJob)] = "true";
  w.meta.annotations[std::string(api::kueue::kSliceName)] = "a";
  if (!replaces.empty()) w.meta.annotations[std::string(api::kueue::kSliceReplacementFor)] = "ns/" + replaces;
  Json object = api::kueue::encode_workload(w);
  std::string status = "{conditions: [" + conditions + "]";
  if (conditions.find("QuotaReserved") != std::string::npos)
    status += ", admission: {clusterQueue: cq, podSetAssignments: [{name: main, count: " + std::to_string(count) +
              ", flavors: {cpu: gpu}, resourceUsage: {cpu: '" + std::to_string(count) + "'}}]}";
  object.as_object()["status"] = yaml(status + "}");
  return std::make_shared<const Workload>(api::kueue::decode_workload(object).value());
}

const std::string kRuns = std::string(kReserved) + ", " + std::string(kAdmitted);

// Each step but reports of nothing new as text.
std::vector<std::string> reported(const std::vector<Step>& steps) {
  std::vector<std::string> out;
  for (const auto& step : steps) {
    if (const auto* create = std::get_if<CreateWorkload>(&step)) {
      const auto w = api::kueue::decode_workload(create->object).value();
      const auto link = w.meta.annotations.find(api::kueue::kSliceReplacementFor);
      out.push_back("create " + std::to_string(w.pod_sets[0].count) +
                    (link == w.meta.annotations.end() ? "" : " for " + link->second));
    } else if (const auto* update = std::get_if<UpdateWorkload>(&step)) {
      const Json& pod_sets = *find_path(update->patch, {"spec", "podSets"});
      out.push_back("resize " + update->workload->meta.name + " to " +
                    std::to_string(int_at(pod_sets.get_array()[0], {"count"})));
    } else if (const auto* report = std::get_if<ReportJob>(&step)) {
      if (report->report.finished)
        out.push_back("finish " + report->workload->meta.name + " " + report->report.finished->reason);
    } else if (const auto* patch = std::get_if<PatchJob>(&step)) {
      out.push_back(patch->aim == PatchJob::Aim::kStop ? "stop" : "start");
    } else if (std::get_if<DeleteWorkload>(&step) != nullptr) {
      out.push_back("delete");
    } else if (const auto* drop = std::get_if<DropWorkloadFinalizer>(&step)) {
      out.push_back("let go of " + drop->workload->meta.name);
    }
  }
  return out;
}

std::vector<std::string> steps(const Json& j, const std::vector<WorkloadPtr>& slices) {
  return reported(steps_of(j, slices));
}

TEST(Slices, TheFirstOneNamesItself) {
  const auto made = steps_of(elastic(2, true), {});
  const auto w = api::kueue::decode_workload(first<CreateWorkload>(made)->object).value();
  EXPECT_EQ(w.meta.annotations.at(std::string(api::kueue::kSliceName)), w.meta.name);
  EXPECT_EQ(w.meta.annotations.at(std::string(api::kueue::kElasticJob)), "true");
  EXPECT_FALSE(w.meta.annotations.contains(std::string(api::kueue::kSliceReplacementFor)));
  EXPECT_EQ(w.pod_sets[0].count, 2);
}

TEST(Slices, HaveNamesOfTheirOwnForEachGenerationOfTheJob) {
  const auto name = [](int generation, JobFacts with) {
    const auto made = reconcile(batch_job(), ptr(elastic(2, true, generation)), {}, with);
    return std::string(string_at(first<CreateWorkload>(made)->object, {"metadata", "name"}));
  };
  EXPECT_NE(name(1, facts()), name(2, facts()));
  const std::string taken = name(1, facts());
  JobFacts with = facts();
  with.workload = [&](std::string_view, std::string_view asked) {
    return asked == taken ? slice(taken, 2, "{type: Finished, status: 'True', reason: OutOfSync}") : WorkloadPtr();
  };
  EXPECT_NE(name(1, with), taken) << "a finished slice keeps its name";
}

TEST(Slices, OneThatWaitsIsResized) {
  EXPECT_THAT(steps(elastic(4, true), {slice("a", 2)}), ElementsAre("resize a to 4"));
  EXPECT_THAT(steps(elastic(1, true), {slice("a", 2)}), ElementsAre("resize a to 1"));
}

TEST(Slices, ShrinkInPlace) {
  EXPECT_THAT(steps(elastic(1), {slice("a", 2, kRuns)}), ElementsAre("resize a to 1"));
  EXPECT_THAT(steps(elastic(0), {slice("a", 2, kRuns)}), ElementsAre("resize a to 0"));
}

TEST(Slices, GrowByANewOneThatShowsTheAdmission) {
  const auto made = steps_of(elastic(4), {slice("a", 2, kRuns)});
  EXPECT_THAT(reported(made), ElementsAre("create 4 for ns/a"));
  const auto w = api::kueue::decode_workload(first<CreateWorkload>(made)->object).value();
  EXPECT_EQ(w.meta.annotations.at(std::string(api::kueue::kSliceName)), "a");
  const Json& shown = *w.pod_sets[0].template_;
  EXPECT_EQ(string_at(shown, {"metadata", "annotations", "kueue.x-k8s.io/workload"}), "a");
  EXPECT_EQ(string_at(shown, {"metadata", "labels", "kueue.x-k8s.io/cluster-queue-name"}), "cq");
  EXPECT_EQ(find_path(shown, {"spec", "nodeSelector"}), nullptr) << "that is the flavor's";
}

TEST(Slices, ScaledAgainBeforeItIsAdmittedTheNewOneIsResized) {
  const std::vector<WorkloadPtr> both{slice("a", 2, kRuns), slice("b", 4, "", "a", 1)};
  EXPECT_THAT(steps(elastic(4), both), IsEmpty());
  EXPECT_THAT(steps(elastic(6), both), ElementsAre("resize b to 6"));
  EXPECT_THAT(steps(elastic(1), both), ElementsAre("resize b to 1"));
}

TEST(Slices, TheNewOneWithQuotaReplacesTheOldOne) {
  EXPECT_THAT(steps(elastic(4), {slice("a", 2, kRuns), slice("b", 4, kRuns, "a", 1)}),
              ElementsAre("finish a WorkloadSliceReplaced"));
}

TEST(Slices, TheJobRunsOnWhileChecksOfTheNewOneArePending) {
  EXPECT_THAT(steps(elastic(4), {slice("b", 4, std::string(kReserved), "a", 1)}), IsEmpty());
  EXPECT_THAT(steps(elastic(4), {slice("b", 4, "", "a", 1)}), ElementsAre("stop")) << "nothing holds quota";
}

TEST(Slices, ForksAreSettled) {
  EXPECT_THAT(steps(elastic(4), {slice("a", 2, kRuns), slice("b", 4, "", "a", 1), slice("c", 4, "", "x", 2)}),
              ElementsAre("finish c OutOfSync"));
  EXPECT_THAT(steps(elastic(4), {slice("a", 4, kRuns), slice("b", 4, kRuns, "x", 1)}),
              ElementsAre("finish a OutOfSync"))
      << "the newest with quota stays";
  EXPECT_THAT(steps(elastic(4), {slice("a", 2, kRuns), slice("b", 4, "", "a", 1), slice("c", 4, kRuns, "a", 2)}),
              ElementsAre("finish a WorkloadSliceReplaced", "finish b OutOfSync"))
      << "of two successors the one with quota";
}

TEST(Slices, AnEvictedOneStopsTheJobBeforeTheNewOneGoesOn) {
  const std::string evicted = kRuns + ", " + std::string(kEvicted);
  EXPECT_THAT(steps(elastic(4), {slice("a", 2, evicted), slice("b", 4, "", "a", 1)}), ElementsAre("stop"));
  EXPECT_THAT(steps(elastic(4, true), {slice("a", 2, std::string(kEvicted)), slice("b", 4, "", "a", 1)}),
              ElementsAre("finish a WorkloadSliceReplaced"));
  EXPECT_THAT(steps(elastic(4, true), {slice("a", 2, std::string(kEvicted))}), ElementsAre("resize a to 4"))
      << "alone it is queued again with the present size";
}

TEST(Slices, ADeactivatedOneStaysAndSoDoesTheJob) {
  auto inactive = *slice("a", 2, std::string(kEvicted) + ", {type: Admitted, status: 'False', reason: NoReservation}");
  inactive.active = false;
  EXPECT_THAT(steps(elastic(2, true), {std::make_shared<const Workload>(inactive), slice("b", 4, "", "a", 1)}),
              ElementsAre("finish b OutOfSync"));
}

TEST(Slices, AllOfThemFinishWithTheJob) {
  Json done = elastic(4);
  ensure_path(done, {"status", "conditions"}) =
      JsonArray{JsonObject{{"type", "Complete"}, {"status", "True"}, {"message", "done"}}};
  EXPECT_THAT(steps(done, {slice("a", 2, kRuns), slice("b", 4, "", "a", 1)}),
              ElementsAre("finish a Succeeded", "finish b Succeeded"));
}

TEST(Slices, DeletedByHandOnlyTheOneWithQuotaStopsTheJob) {
  const auto deleted = [](WorkloadPtr w) {
    auto copy = *w;
    copy.meta.deletion = copy.meta.creation;
    return std::make_shared<const Workload>(copy);
  };
  EXPECT_THAT(steps(elastic(4), {slice("a", 2, kRuns), deleted(slice("b", 4, "", "a", 1))}),
              ElementsAre("let go of b", "create 4 for ns/a"));
  EXPECT_THAT(
      steps(elastic(4), {deleted(slice("a", 2, "{type: Finished, status: 'True', reason: WorkloadSliceReplaced}")),
                         slice("b", 4, kRuns, "a", 1)}),
      ElementsAre("let go of a"));
  EXPECT_THAT(steps(elastic(2), {deleted(slice("a", 2, kRuns))}), ElementsAre("stop"));
}

TEST(Slices, CountThePodsThatAreDoneForTheirOwnSize) {
  const auto reclaimed = [](int parallelism, int succeeded, const WorkloadPtr& w) {
    Json j = elastic(parallelism);
    ensure_path(j, {"status", "succeeded"}) = succeeded;
    ensure_path(j, {"status", "active"}) = 1;
    const auto now = reclaimable(batch_job(), j, *w);
    return now.empty() ? 0 : now[0].count;
  };
  EXPECT_EQ(reclaimed(10, 15, slice("a", 10, kRuns)), 5) << "of 20, 5 are left";
  EXPECT_EQ(reclaimed(10, 15, slice("a", 20, kRuns)), 15) << "it has not shrunk yet";
  EXPECT_EQ(reclaimed(10, 15, slice("a", 4, kRuns)), 0);
  EXPECT_EQ(reclaimed(10, 30, slice("a", 4, kRuns)), 4) << "more succeeded than were wanted";
}

// Otherwise a job that waits long to grow would be evicted, because its pods were not ready in time.
TEST(Slices, AreReadyWithTheirOwnPodsWhileOthersWait) {
  const auto ready = [](int parallelism, int pods, int succeeded, const std::string& conditions) {
    Json j = elastic(parallelism);
    ensure_path(j, {"status"}) = JsonObject{{"active", parallelism}, {"ready", pods}, {"succeeded", succeeded}};
    for (const auto& step : steps_of(j, {slice("a", 2, conditions)})) {
      if (const auto* report = std::get_if<ReportJob>(&step)) return *report->report.pods_ready;
    }
    return false;
  };
  EXPECT_TRUE(ready(2, 2, 0, kRuns));
  EXPECT_TRUE(ready(8, 2, 0, kRuns)) << "six more wait";
  EXPECT_TRUE(ready(8, 1, 1, kRuns));
  EXPECT_FALSE(ready(8, 1, 0, kRuns));
  EXPECT_FALSE(ready(2, 1, 0, kRuns));
  EXPECT_FALSE(ready(8, 2, 0, std::string(kReserved)));
}

TEST(Slices, FollowThePriorityOfTheirJobBoth) {
  const auto of_class = [](const WorkloadPtr& w) {
    auto copy = *w;
    copy.priority = 5;
    copy.priority_class_ref = {std::string(api::kueue::kGroup), "WorkloadPriorityClass", "former"};
    return std::make_shared<const Workload>(copy);
  };
  const auto changed = [&](const std::string& name) {
    Json j = elastic(4);
    ensure_path(j, {"metadata", "labels", "kueue.x-k8s.io/priority-class"}) = name;
    std::vector<std::string> out;
    for (const auto& step : steps_of(j, {of_class(slice("a", 2, kRuns)), of_class(slice("b", 4, "", "a", 1))})) {
      if (const auto* update = std::get_if<UpdateWorkload>(&step))
        out.push_back(update->workload->meta.name + " " + std::to_string(int_at(update->patch, {"spec", "priority"})));
    }
    return out;
  };
  EXPECT_THAT(changed("high"), ElementsAre("a 100", "b 100"));
  EXPECT_THAT(changed("former"), IsEmpty());
  EXPECT_THAT(changed("unknown"), IsEmpty());
}

JsonPtr pod(const std::string& name, bool gated, std::string_view phase = "Pending") {
  Json p = yaml(
      "{metadata: {namespace: ns, labels: {kueue.x-k8s.io/podset: main}, annotations: "
      "{kueue.x-k8s.io/workload: a, kueue.x-k8s.io/workload-slice-name: a}}}");
  ensure_path(p, {"metadata", "name"}) = name;
  ensure_path(p, {"metadata", "uid"}) = "uid-" + name;
  ensure_path(p, {"status", "phase"}) = phase;
  if (gated) ensure_path(p, {"spec", "schedulingGates"}) = JsonArray{JsonObject{{"name", api::kueue::kElasticGate}}};
  return ptr(std::move(p));
}

std::vector<std::string> opened(const WorkloadPtr& w, const std::vector<JsonPtr>& pods) {
  std::vector<std::string> out;
  for (const auto& each : releases(*w, pods, HostFacts()).pods)
    out.emplace_back(string_at(*each.pod, {"metadata", "name"}));
  return out;
}

TEST(Slices, LetAsManyPodsGoAsQuotaIsGrantedFor) {
  const WorkloadPtr two = slice("a", 2, kRuns);
  EXPECT_THAT(opened(two, {pod("p3", true), pod("p2", true), pod("p1", true)}), ElementsAre("p1", "p2"));
  EXPECT_THAT(opened(two, {pod("p1", true), pod("p2", false), pod("p3", true)}), ElementsAre("p1"));
  EXPECT_THAT(opened(two, {pod("p1", true), pod("p2", false), pod("p3", false)}), IsEmpty());
  EXPECT_THAT(opened(two, {pod("p1", true), pod("p2", false), pod("p3", false, "Succeeded")}), ElementsAre("p1"))
      << "a pod that has ended makes room";
  EXPECT_THAT(opened(slice("a", 2, kRuns + ", " + std::string(kEvicted)), {pod("p1", true)}), IsEmpty());
  EXPECT_THAT(opened(slice("a", 2, std::string(kReserved)), {pod("p1", true)}), IsEmpty()) << "its checks are pending";
  auto shrunk = *two;
  shrunk.pod_sets[0].count = 1;
  EXPECT_THAT(opened(std::make_shared<const Workload>(shrunk), {pod("p1", true), pod("p2", true)}), ElementsAre("p1"));
}

}  // namespace
}  // namespace berth::jobs::slices_test
