// The kinds of jobs that MultiKueue runs on worker clusters.
#pragma once

#include <vector>

#include "jobs/job_adapter.h"
#include "jobs/kinds/job_kind.h"
#include "kube/informer.h"
#include "multikueue/remote_kind.h"

namespace berth::controller {

struct DispatchedKind {
  multikueue::RemoteKind rules;
  const jobs::JobAdapter* adapter = nullptr;
  kube::Informer* jobs = nullptr;  // of the manager
};

// batch/v1 Job. `jobs` must outlive it.
DispatchedKind dispatched_batch_job(kube::Informer& jobs);
// A described kind that has a rule for this. All must outlive it. `sync`: changes on the manager are written to the
// jobs on workers (gate MultiKueueRemoteSpecSync).
DispatchedKind dispatched_kind(const jobs::kinds::JobKindSpec& kind, const jobs::JobAdapter& adapter,
                               kube::Informer& jobs, bool sync);

}  // namespace berth::controller
