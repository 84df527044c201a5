// The copy of a manager's workload on a worker cluster: how it is made, and what is seen of it. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/kueue/types.h"
#include "api/meta.h"
#include "base/json.h"
#include "multikueue/dispatch.h"
#include "multikueue/names.h"

namespace berth::multikueue {

// The workload to create on a worker: same name and namespace, labels, annotations and spec; no owner, no finalizer.
Json copy_of(const api::kueue::Workload& original, const Sender& sender);

// A number for what the copy must have in common with the original: the spec without priority, spec.active and
// preemption gates. Equal specs have equal numbers, whichever server has set its defaults.
std::uint64_t fingerprint(const api::kueue::Workload& workload);

// What a worker shows under the name of a workload. It is written by others: only what is needed is kept, and a text
// that cannot be read makes a copy that differs from every original.
struct SeenCopy {
  api::ObjectMeta meta{};  // name, ns, uid, resource_version, deletion and finalizers only
  std::string origin{}, original_uid{}, manager{};
  std::uint64_t fingerprint = 0;              // 0: the spec cannot be read
  std::string owner_version{}, owner_kind{};  // of the job that controls it there; "": none does
  bool active = true;
  api::Conditions conditions{};
};
SeenCopy seen_copy(const Json& workload);
// About how much memory it takes.
std::size_t bytes_of(const SeenCopy& copy);

// The state of `copy` for `original`. Of a workload that is gone only the name counts: `original` is null then, and a
// copy of this origin is kPending whatever it says.
CopyState state_of(const SeenCopy& copy, const api::kueue::Workload* original, std::string_view origin);

// When it was admitted, by the worker's clock; Time{} when it is not.
Time admitted_since(const SeenCopy& copy);

// The status patch (a merge patch) that asks the worker to stop the copy; null when it was asked already.
Json deactivation(const SeenCopy& copy, std::string_view why, Time now);

// Reason and message of the end of a copy, cut to what a condition may have. Where the worker gives a reason that no
// condition may have, it is "Succeeded" if the job did so as far as is known, or else "Failed".
struct End {
  std::string reason, message;
};
End end_of(const SeenCopy& copy, bool job_succeeded);

}  // namespace berth::multikueue
