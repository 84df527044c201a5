#include "controller/dispatched_kinds.h"

#include <utility>

namespace berth::controller {

DispatchedKind dispatched_batch_job(kube::Informer& jobs) {
  return {multikueue::batch_jobs(), &jobs::batch_job(), &jobs};
}

DispatchedKind dispatched_kind(const jobs::kinds::JobKindSpec& kind, const jobs::JobAdapter& adapter,
                               kube::Informer& jobs, bool sync) {
  multikueue::RemoteKind rules;
  rules.resource = kind.resource;
  rules.kind = kind.kind;
  rules.suspend = kind.suspend;
  rules.managed_by = kind.dispatch.managed_by;
  rules.dropped = kind.dispatch.dropped;
  if (sync) rules.synced = kind.dispatch.synced;
  // What the expressions of the kind cannot read would count as a job that has not ended.
  rules.read_status = [&adapter](const Json& job) -> Result<Json> {
    auto status = multikueue::bounded_status(job);
    if (!status) return status;
    if (auto readable = adapter.check_status(job); !readable) return tl::unexpected(readable.error());
    return status;
  };
  rules.active = [&adapter](const Json& job) { return adapter.active(job); };
  rules.ended = [&adapter](const Json& job) { return adapter.finished(job).has_value(); };
  return {std::move(rules), &adapter, &jobs};
}

}  // namespace berth::controller
