#include "embedded/cluster/job_pod_changes.h"

#include <algorithm>
#include <set>
#include <utility>

namespace berth::cluster {
namespace {

constexpr Duration kFirstBackoff = std::chrono::seconds(10);
constexpr Duration kMaxBackoff = std::chrono::minutes(10);

Duration backoff_after(std::int64_t failures) {
  Duration out = kFirstBackoff;
  for (std::int64_t i = 1; i < failures && out < kMaxBackoff; ++i) out *= 2;
  return std::min(out, kMaxBackoff);
}

class PodPlanner {
 public:
  PodPlanner(const JobView& view, const JobSpec& spec, const JobStatus& status, const JobSurvey& survey, bool ending)
      : view_(view), spec_(spec), status_(status), survey_(survey), ending_(ending) {}

  PodChanges run() {
    release_pods();
    if (ending_) {
      for (const auto* pod : survey_.active) out_.remove.push_back(*pod);
    } else if (!spec_.deleting) {
      manage();
    }
    if (out_.remove.size() > kMaxPodChanges) {
      out_.remove.erase(out_.remove.begin() + static_cast<std::ptrdiff_t>(kMaxPodChanges), out_.remove.end());
    }
    return std::move(out_);
  }

 private:
  void release_pods() {
    for (const auto* pod : survey_.pods) {
      if (!pod->tracked) continue;
      // A second succeeded pod of a completed index, or a pod with an index beyond the completions, is not counted.
      const bool counts_for_nothing = pod->succeeded() && spec_.indexed;
      const bool ignored =
          pod->failed(spec_) && survey_.verdict_of(*pod) == FailureAction::kIgnore && !survey_.held.contains(pod);
      if (status_.records(*pod) || counts_for_nothing || ignored || ending_ || spec_.deleting)
        out_.release.push_back(*pod);
    }
  }

  // Deletes pods that the job does not need any more, without counting them.
  void remove_uncounted(std::vector<const JobPod*> pods) {
    if (pods.size() > kMaxPodChanges) pods.resize(kMaxPodChanges);
    for (const auto* pod : pods) {
      if (pod->tracked) out_.release.push_back(*pod);
      out_.remove.push_back(*pod);
    }
  }

  std::int64_t wanted() const {
    if (!spec_.completions) {
      return survey_.succeeded > 0 ? static_cast<std::int64_t>(survey_.active.size()) : spec_.parallelism;
    }
    std::int64_t left = *spec_.completions - survey_.succeeded;
    if (spec_.backoff_limit_per_index) left -= status_.failed_indexes.count();
    return std::clamp<std::int64_t>(left, 0, spec_.parallelism);
  }

  void manage() {
    if (spec_.suspended) return remove_uncounted(survey_.active);
    const std::int64_t want = wanted();
    auto superfluous = superfluous_pods(static_cast<std::int64_t>(survey_.active.size()) - want);
    if (!superfluous.empty()) return remove_uncounted(std::move(superfluous));
    const std::int64_t missing =
        want - static_cast<std::int64_t>(survey_.active.size()) - (spec_.only_replace_failed ? survey_.terminating : 0);
    if (missing <= 0 || !view_.may_create) return;
    if (!spec_.backoff_limit_per_index && survey_.backoff.failures > 0) {
      const Time next = survey_.backoff.last_failure + backoff_after(survey_.backoff.failures);
      if (next > view_.now) return wake_at(next);
    }
    create(std::min<std::int64_t>(missing, static_cast<std::int64_t>(kMaxPodChanges)));
  }

  // Duplicate pods of an index and pods of unwanted indexes, then more pods until `too_many` are found.
  std::vector<const JobPod*> superfluous_pods(std::int64_t too_many) const {
    std::vector<const JobPod*> ordered = survey_.active;
    std::sort(ordered.begin(), ordered.end(), [](const JobPod* a, const JobPod* b) { return removed_before(*a, *b); });
    std::vector<const JobPod*> out, rest;
    std::set<std::int64_t> kept;
    for (auto at = ordered.rbegin(); at != ordered.rend(); ++at) {
      const JobPod* pod = *at;
      const bool misplaced =
          spec_.indexed && (!spec_.counts_index_of(*pod) || status_.completed_indexes.contains(*pod->index) ||
                            status_.failed_indexes.contains(*pod->index) || !kept.insert(*pod->index).second);
      (misplaced ? out : rest).push_back(pod);
    }
    while (static_cast<std::int64_t>(out.size()) < too_many && !rest.empty()) {
      out.push_back(rest.back());
      rest.pop_back();
    }
    return out;
  }

  void create(std::int64_t count) {
    if (!spec_.indexed) {
      for (std::int64_t i = 0; i < count; ++i) out_.create.push_back(make_pod(view_.job, spec_, {}));
      return;
    }
    std::set<std::int64_t> taken;
    for (const auto* pod : survey_.pods) {
      if (spec_.counts_index_of(*pod) && (pod->active() || (spec_.only_replace_failed && pod->terminating()))) {
        taken.insert(*pod->index);
      }
    }
    for (std::int64_t index = 0; index < spec_.index_limit() && count > 0; ++index) {
      if (taken.contains(index) || status_.completed_indexes.contains(index) ||
          status_.failed_indexes.contains(index)) {
        continue;
      }
      NewPod pod{index};
      if (!may_retry(index, pod)) continue;
      out_.create.push_back(make_pod(view_.job, spec_, pod));
      --count;
    }
  }

  bool may_retry(std::int64_t index, NewPod& pod) {
    const auto at = survey_.last_failed.find(index);
    if (at == survey_.last_failed.end()) return true;
    const JobPod& last = *at->second;
    const bool ignored = survey_.verdict_of(last) == FailureAction::kIgnore;
    pod.failures = last.index_failures + (ignored ? 0 : 1);
    pod.ignored_failures = last.index_ignored_failures + (ignored ? 1 : 0);
    const Time next = last.finished + backoff_after(pod.failures + pod.ignored_failures);
    if (next <= view_.now) return true;
    wake_at(next);
    return false;
  }

  void wake_at(Time when) {
    if (!out_.wake || when < *out_.wake) out_.wake = when;
  }

  const JobView& view_;
  const JobSpec& spec_;
  const JobStatus& status_;
  const JobSurvey& survey_;
  const bool ending_;
  PodChanges out_;
};

}  // namespace

PodChanges pod_changes(const JobView& view, const JobSpec& spec, const JobStatus& status, const JobSurvey& survey,
                       bool ending) {
  return PodPlanner(view, spec, status, survey, ending).run();
}

}  // namespace berth::cluster
