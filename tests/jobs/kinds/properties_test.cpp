// What holds for all jobs of all shipped kinds. RC_PARAMS="max_success=10000" tries 10,000 jobs of each.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "jobs/compose.h"
#include "jobs/kinds/hooks/support.h"
#include "jobs/kinds/kind_rules.h"
#include "jobs/kinds/random_jobs.h"
#include "jobs/kinds/read/shipped.h"

namespace berth::jobs::kinds::properties_test {
namespace {

using api::kueue::PodSet;
using support::RandomJobs;

// A part of what an admission may add.
std::vector<PodSetInfo> infos_of(const std::vector<PodSet>& pod_sets, RandomJobs& random) {
  auto infos = support::infos_for(pod_sets);
  for (auto& info : infos) {
    if (random.chance(50)) info.scheduling_gates.clear();
    if (random.chance(30)) info.node_selector.clear();
    if (random.chance(30)) info.tolerations.clear();
  }
  return infos;
}

api::kueue::Workload workload_of(const std::vector<PodSet>& pod_sets) {
  api::kueue::Workload workload;
  workload.pod_sets = pod_sets;
  workload.status.admission = api::kueue::Admission{"cq", {}};
  for (const auto& one : pod_sets) {
    api::kueue::PodSetAssignment assignment;
    assignment.name = one.name;
    assignment.count = one.count;
    workload.status.admission->pod_set_assignments.push_back(std::move(assignment));
  }
  return workload;
}

void start_and_stop(const JobKindPtr& kind, RandomJobs& random) {
  const DescribedJob adapter(kind, support::random_runtime);
  const Json job = random.job(kind->kind);
  RC_LOG() << kind->kind << " " << canonical_json(job) << "\n";
  const auto checked = adapter.check_pod_sets(job);
  RC_LOG() << (checked ? "" : checked.error().message) << "\n";
  RC_ASSERT(checked.has_value());
  const auto pod_sets = adapter.pod_sets(job);
  const auto started = adapter.started(job, infos_of(pod_sets, random));
  RC_ASSERT(started.has_value());
  RC_ASSERT(!adapter.suspended(*started));
  RC_ASSERT(support::names_and_counts(adapter.pod_sets(*started)) == support::names_and_counts(pod_sets));
  // Otherwise it would be stopped again.
  RC_ASSERT(describes(workload_of(pod_sets), adapter.pod_sets(*started), *started, true, false));
  const Json stopped = support::stopped(adapter, *started, pod_sets);
  RC_LOG() << canonical_json(stopped) << "\n";
  RC_ASSERT(canonical_json(stopped) == canonical_json(job));
  RC_ASSERT(!adapter.stopping(stopped));
}

RC_GTEST_PROP(ShippedKinds, AJobThatStartedAndStoppedIsWhatItWas, (std::uint64_t seed)) {
  RandomJobs random(seed);
  for (const auto& kind : shipped_job_kinds()) start_and_stop(kind, random);
}

// Everything that Berth asks of a job has an answer, whatever clients made of it.
RC_GTEST_PROP(ShippedKinds, OddJobsHaveDefinedAnswers, (std::uint64_t seed)) {
  RandomJobs random(seed);
  const api::kueue::ObjectGetter get = support::random_runtime;
  const api::kueue::AdmissionPolicy policy;
  for (const auto& kind : shipped_job_kinds()) {
    const DescribedJob adapter(kind, get);
    Json job = random.broken(kind->kind, random.number(1, 6));
    RC_LOG() << kind->kind << " " << canonical_json(job) << "\n";
    const auto rules = rules_of(kind, true).rules;
    const auto refused = rules.check(job, nullptr, "", {get, policy});
    const Json as_written = job;
    rules.mutate(job, {get, policy});
    (void)rules.check(job, &as_written, "", {get, policy});
    const auto pod_sets = adapter.pod_sets(job);
    RC_ASSERT(pod_sets.size() <= kMaxPodSets || !refused.empty());
    if (pod_sets.empty()) RC_ASSERT(!adapter.check_pod_sets(job).has_value());
    (void)adapter.check_status(job);
    (void)adapter.finished(job);
    (void)adapter.active(job);
    (void)adapter.pods_ready(job);
    (void)adapter.on_hold(job);
    (void)adapter.priority_class(job);
    for (const auto& one : adapter.reclaimable(job)) RC_ASSERT(one.count > 0);
    const auto started = adapter.started(job, infos_of(pod_sets, random));
    if (!started) continue;
    RC_ASSERT(!adapter.suspended(*started));
    if (adapter.active(*started)) continue;  // some kinds wait for the end of the pods
    RC_ASSERT(adapter.suspended(support::stopped(adapter, *started, pod_sets)));
    RC_ASSERT(adapter.suspended(support::stopped(adapter, *started, {})));
  }
}

}  // namespace
}  // namespace berth::jobs::kinds::properties_test
