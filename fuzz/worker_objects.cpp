// Any JSON as what a worker cluster shows: a copy of a workload, a Job, and a job of another kind. Reading ends; what
// is copied of a status is copied once, and is readable again.
#include "base/assert.h"
#include "base/json.h"
#include "base/merge_patch.h"
#include "multikueue/copy.h"
#include "multikueue/remote_job.h"

namespace {

using namespace berth;

multikueue::RemoteKind other_kind() {
  multikueue::RemoteKind kind;
  kind.resource = {"jobset.x-k8s.io", "v1alpha2", "jobsets"};
  kind.kind = "JobSet";
  kind.suspend = {"spec", "suspend"};
  kind.managed_by = {"spec", "managedBy"};
  kind.synced = {{"spec", "text"}};
  kind.read_status = multikueue::bounded_status;
  kind.active = [](const Json&) { return false; };
  kind.ended = [](const Json&) { return false; };
  return kind;
}

void read_job(const multikueue::RemoteKind& kind, const Json& object) {
  const multikueue::SeenJob seen = multikueue::seen_job(kind, object);
  BERTH_INVARIANT(multikueue::bytes_of(seen) > 0);
  BERTH_INVARIANT((seen.status == nullptr) == !seen.why_not.empty());
  const Json local = JsonObject{{"spec", JsonObject{{"suspend", false}}}};
  const Json sync = multikueue::sync_patch(local, seen);
  if (!sync.is_null()) {
    const auto synced = multikueue::seen_job(kind, apply_merge_patch(object, sync));
    BERTH_INVARIANT(multikueue::sync_patch(local, synced).is_null());
  }
  const Json patch = multikueue::status_patch(local, seen);
  if (patch.is_null()) return;
  const Json copied = apply_merge_patch(local, patch);
  BERTH_INVARIANT(json_equal(*find(copied, "status"), *seen.status));
  // An end before the start is moved to the start, once.
  Json settled = copied;
  for (int i = 0; i < 2; ++i) {
    const Json more = multikueue::status_patch(settled, seen);
    if (!more.is_null()) settled = apply_merge_patch(settled, more);
  }
  BERTH_INVARIANT(multikueue::status_patch(settled, seen).is_null());
  const auto again = kind.read_status(copied);
  BERTH_INVARIANT(again && json_equal(*again, *seen.status));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto object = parse_json({reinterpret_cast<const char*>(data), size});
  if (!object || !object->is_object()) return 0;
  const multikueue::SeenCopy copy = multikueue::seen_copy(*object);
  BERTH_INVARIANT(multikueue::bytes_of(copy) > 0);
  BERTH_INVARIANT(multikueue::state_of(copy, nullptr, "here") ==
                  (copy.origin == "here" ? multikueue::CopyState::kPending : multikueue::CopyState::kForeign));
  multikueue::deactivation(copy, "because", Time{});
  const bool ended = api::find_condition(copy.conditions, api::kueue::kFinished) != nullptr;
  for (const bool succeeded : {false, true})
    BERTH_INVARIANT(ended == !multikueue::end_of(copy, succeeded).reason.empty());
  read_job(multikueue::batch_jobs(), *object);
  static const multikueue::RemoteKind other = other_kind();
  read_job(other, *object);
  return 0;
}
