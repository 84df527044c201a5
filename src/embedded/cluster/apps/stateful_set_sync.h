// Computes what a StatefulSet needs next. Pure: a StatefulSet, its pods and its revisions in, one step out.
// https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "embedded/cluster/apps/set_revisions.h"
#include "embedded/cluster/shared/job_spec.h"

namespace berth::cluster {

struct StatefulSetView {
  const Json& set;
  const std::vector<JobPod>& pods;               // the pods that the StatefulSet controls, in any order
  const std::vector<StoredRevision>& revisions;  // those that it controls, in any order
  Time now;
  bool may_create = true;  // false: creating something failed and its backoff is not over
  bool failed = false;     // the last creation failed
};

struct StatefulSetStep {
  std::optional<Json> create_revision;  // alone: the rest is decided when it exists
  std::optional<Json> update_revision;  // alone
  std::vector<StoredRevision> remove_revisions;

  struct Removal {
    JobPod pod;
    bool failed = false;  // it had failed or ended, and is made anew
  };
  std::vector<Json> create;     // pods
  std::vector<Removal> remove;  // pods
  std::vector<JobPod> release;  // give up these pods: the selector does not select them any more
  std::vector<JobPod> relabel;  // pods that lost labels which tell them apart
  Json status;                  // what the status should be; null while the revisions are not settled
  std::optional<Time> wake;     // call again at this time if nothing happens before
  bool changes_pods() const { return !create.empty() || !remove.empty() || !release.empty() || !relabel.empty(); }
};

StatefulSetStep next_step(const StatefulSetView& view);

// The labels that tell the pods of a StatefulSet apart.
inline constexpr std::string_view kPodNameLabel = "statefulset.kubernetes.io/pod-name";
inline constexpr std::string_view kPodIndexLabel = "apps.kubernetes.io/pod-index";

// The number at the end of the pod's name; none when the name is not "<set>-<number>".
std::optional<std::int64_t> pod_ordinal(const Json& set, const Json& pod);
std::string ordinal_pod_name(const Json& set, std::int64_t ordinal);
// The numbers of the pods: from `first`, up to but not including `end`.
struct Ordinals {
  std::int64_t first = 0, end = 0;
};
Ordinals ordinals_of(const Json& set);

}  // namespace berth::cluster
