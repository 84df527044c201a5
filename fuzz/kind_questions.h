// Everything that Berth asks of a job of a described kind, for the fuzz targets of kinds.
#pragma once

#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "base/json.h"
#include "jobs/kinds/described_job.h"
#include "jobs/kinds/kind_rules.h"

namespace berth::jobs::kinds::fuzzing {

// The runtime of a TrainJob is the member `runtime` of the object.
inline void ask(const JobKindPtr& kind, const Json& object) {
  const Json* runtime = find(object, "runtime");
  const JsonPtr found = runtime != nullptr ? std::make_shared<const Json>(*runtime) : nullptr;
  const api::kueue::ObjectGetter get = [&](const auto&, auto, auto) { return found; };
  const api::kueue::AdmissionPolicy policy;
  const auto rules = rules_of(kind, true).rules;
  Json job = object;
  (void)rules.check(job, nullptr, "", {get, policy});
  rules.mutate(job, {get, policy});
  (void)rules.check(job, &object, "", {get, policy});

  const DescribedJob adapter(kind, get);
  const auto pod_sets = adapter.pod_sets(job);
  if (pod_sets.empty() && adapter.check_pod_sets(job)) std::abort();
  (void)adapter.check_status(job);
  (void)adapter.finished(job);
  (void)adapter.pods_ready(job);
  (void)adapter.reclaimable(job);
  (void)adapter.priority_class(job);
  std::vector<PodSetInfo> infos;
  for (const auto& one : pod_sets) {
    PodSetInfo info;
    info.name = one.name;
    info.count = one.count;
    info.labels = {{"kueue.x-k8s.io/podset", one.name}};
    info.scheduling_gates = {"kueue.x-k8s.io/topology"};
    infos.push_back(std::move(info));
  }
  const auto started = adapter.started(job, infos);
  if (!started) return;
  if (adapter.suspended(*started)) std::abort();
  if (!adapter.next_stop(*started, pod_sets)) std::abort();
}

}  // namespace berth::jobs::kinds::fuzzing
