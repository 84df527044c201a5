// The job of a workload on a worker cluster: how it is made from the manager's, and which parts of its status come
// back. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/meta.h"
#include "base/json.h"
#include "base/result.h"
#include "multikueue/names.h"
#include "multikueue/remote_kind.h"

namespace berth::multikueue {

// The job to create on a worker, suspended and bound to the workload `workload`. `job`: the manager's, as its user
// wrote it (without what an admission adds to its templates). `by_annotation`: the workload is named by an annotation;
// else by a label, if it fits.
Json remote_job(const RemoteKind& kind, const Json& job, std::string_view workload, const Sender& sender,
                bool by_annotation);

// What a worker shows of a job. It is written by others.
struct SeenJob {
  const RemoteKind* kind = nullptr;  // never null in what seen_job() returns
  api::ObjectMeta meta{};            // name, ns, uid, resource_version and deletion only
  std::string origin{}, manager{};
  std::string workload{};  // the name of the workload that the job names; "": none
  bool suspended = false;
  bool active = false;       // it has pods that have not ended
  bool ended = false;        // it has succeeded or failed for good
  JsonPtr status{};          // with what is copied; null: it cannot be used
  std::string why_not{};     // why the status cannot be used
  std::uint64_t synced = 0;  // a number for the values of RemoteKind::synced
};
// `kind` must outlive what is returned.
SeenJob seen_job(const RemoteKind& kind, const Json& job);
// About how much memory it takes.
std::size_t bytes_of(const SeenJob& job);

// The status of a batch/v1 Job with the members that Berth copies. An error names the first member that no Job
// controller would have written so: of another type, out of its range, too long. All of it has at most kMaxStatusBytes
// as JSON: beyond, lists of pods and indexes are left out, then messages are cut.
Result<Json> readable_status(const Json& job);
// Whether a batch/v1 Job is Complete or Failed.
bool has_ended(const Json& job);

// The merge patch of the manager's job that makes its status equal to the one on the worker; null: it is so already, or
// may not be copied yet. While the manager's job is suspended and the other one is not, only an end is copied: the
// pods that run there are those of a run that has not begun here, or that is being stopped.
Json status_patch(const Json& job, const SeenJob& seen);

// The merge patch of the job on the worker that writes what changed on the manager (RemoteKind::synced); null: nothing.
Json sync_patch(const Json& job, const SeenJob& seen);

// The merge patch that says that the manager's job has no pods; null: its status says so. Of a kind other than batch/v1
// Job the whole status goes.
Json no_pods_patch(const RemoteKind& kind, const Json& job);

}  // namespace berth::multikueue
