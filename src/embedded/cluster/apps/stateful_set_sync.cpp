#include "embedded/cluster/apps/stateful_set_sync.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "embedded/cluster/apps/objects.h"

namespace berth::cluster {
namespace {

std::string_view revision_label(const JobPod& pod) {
  return string_at(*pod.object, {"metadata", "labels", kRevisionHashLabel});
}

// The volumes of the pod's claims replace those of the template that have the same names.
void add_claims(const Json& set, const std::string& pod_name, Json& pod_spec) {
  const JsonArray& claims = array_at(set, {"spec", "volumeClaimTemplates"});
  if (claims.empty()) return;
  JsonArray volumes;
  std::set<std::string_view> names;
  for (const Json& claim : claims) {
    const std::string_view name = string_at(claim, {"metadata", "name"});
    names.insert(name);
    volumes.push_back(JsonObject{
        {"name", name}, {"persistentVolumeClaim", JsonObject{{"claimName", std::string(name) + "-" + pod_name}}}});
  }
  for (const Json& volume : array_at(pod_spec, {"volumes"})) {
    if (!names.contains(string_at(volume, {"name"}))) volumes.push_back(volume);
  }
  ensure_path(pod_spec, {"volumes"}) = std::move(volumes);
}

class StatefulSetPlanner {
 public:
  explicit StatefulSetPlanner(const StatefulSetView& view)
      : view_(view),
        ordinals_(ordinals_of(view.set)),
        min_ready_(int_at(view.set, {"spec", "minReadySeconds"})),
        one_by_one_(string_at(view.set, {"spec", "podManagementPolicy"}) != "Parallel"),
        rolling_(string_at(view.set, {"spec", "updateStrategy", "type"}) == "RollingUpdate"),
        partition_(int_at(view.set, {"spec", "updateStrategy", "rollingUpdate", "partition"})) {}

  StatefulSetStep run() {
    revisions_ = revisions_of(view_.set, view_.revisions);
    const bool deleting = find_path(view_.set, {"metadata", "deletionTimestamp"}) != nullptr;
    if (revisions_.create || revisions_.update) {
      // The garbage collector deletes the revisions of such a set, also new ones.
      if (deleting) return {};
      if (revisions_.create && !view_.may_create) return {};
      step_.create_revision = std::move(revisions_.create);
      step_.update_revision = std::move(revisions_.update);
      return std::move(step_);
    }
    for (const JobPod& pod : view_.pods) {
      if (const auto ordinal = pod_ordinal(view_.set, *pod.object)) pods_.emplace(*ordinal, &pod);
    }
    step_.status = status();
    if (deleting) return std::move(step_);
    claim();
    if (fill() && scale_down()) roll();
    if (!step_.changes_pods()) forget_revisions();
    return std::move(step_);
  }

 private:
  // --- Status.

  bool serves(const JobPod& pod) const { return pod.phase == "Running" && pod.ready_since; }

  bool settled(const JobPod& pod) {  // the next pod may follow
    return serves(pod) && !pod.deleting && pod_available(pod, min_ready_, view_.now, step_.wake);
  }

  Json status() {
    std::int64_t ready = 0, available = 0, current = 0, updated = 0;
    for (const auto& [ordinal, pod] : pods_) {
      ready += serves(*pod) ? 1 : 0;
      available += serves(*pod) && pod_available(*pod, min_ready_, view_.now, step_.wake) ? 1 : 0;
      if (pod->deleting) continue;
      current += revision_label(*pod) == revisions_.current ? 1 : 0;
      updated += revision_label(*pod) == revisions_.updated ? 1 : 0;
    }
    const auto all = static_cast<std::int64_t>(pods_.size());
    const std::int64_t wanted = ordinals_.end - ordinals_.first;
    std::string current_name = revisions_.current;
    if (rolling_ && updated == wanted && ready == wanted && all == wanted) {
      current = updated;
      current_name = revisions_.updated;
    }
    JsonObject out{{"replicas", all}, {"availableReplicas", available}};
    const auto put = [&](std::string_view key, std::int64_t count) {
      if (count > 0) out[key] = count;
    };
    put("observedGeneration", int_at(view_.set, {"metadata", "generation"}));
    put("readyReplicas", ready);
    put("currentReplicas", current);
    put("updatedReplicas", updated);
    out["currentRevision"] = current_name;
    out["updateRevision"] = revisions_.updated;
    out["collisionCount"] = int_at(view_.set, {"status", "collisionCount"});
    if (const Json* conditions = find_path(view_.set, {"status", "conditions"})) out["conditions"] = *conditions;
    return out;
  }

  // --- Pods.

  // Gives up pods that the selector does not select, and puts back labels that others removed.
  void claim() {
    const auto selector = selector_of(view_.set);
    for (auto at = pods_.begin(); at != pods_.end();) {
      const JobPod& pod = *at->second;
      if (!pod.deleting && !selects(selector, *pod.object)) {
        step_.release.push_back(pod);
        taken_.insert(at->first);
        at = pods_.erase(at);
        continue;
      }
      const auto label = [&](std::string_view key) { return string_at(*pod.object, {"metadata", "labels", key}); };
      if (!pod.deleting && (label(kPodNameLabel) != pod.name || label(kPodIndexLabel) != std::to_string(at->first)))
        step_.relabel.push_back(pod);
      ++at;
    }
  }

  Json new_pod(std::int64_t ordinal) const {
    const bool earlier = rolling_ && ordinal < ordinals_.first + partition_;
    const std::string name = ordinal_pod_name(view_.set, ordinal);
    Json pod = pod_from_template(view_.set, "StatefulSet",
                                 earlier ? revisions_.current_template : revisions_.updated_template);
    ensure_path(pod, {"metadata", "name"}) = name;
    ensure_path(pod, {"metadata", "labels", kPodNameLabel}) = name;
    ensure_path(pod, {"metadata", "labels", kPodIndexLabel}) = std::to_string(ordinal);
    ensure_path(pod, {"metadata", "labels", kRevisionHashLabel}) = earlier ? revisions_.current : revisions_.updated;
    ensure_path(pod, {"spec", "hostname"}) = name;
    if (const auto service = string_at(view_.set, {"spec", "serviceName"}); !service.empty())
      ensure_path(pod, {"spec", "subdomain"}) = service;
    add_claims(view_.set, name, ensure_path(pod, {"spec"}));
    return pod;
  }

  // Makes the pods that are missing, and makes failed and ended ones anew. Returns false when a pod has to be waited
  // for.
  bool fill() {
    for (std::int64_t ordinal = ordinals_.first; ordinal < ordinals_.end; ++ordinal) {
      // After a failure one pod tries whether creations succeed again.
      if (step_.create.size() >= (view_.failed ? 1 : kMaxPodsPerStep)) return false;
      const auto at = pods_.find(ordinal);
      if (at == pods_.end()) {
        if (view_.may_create && !taken_.contains(ordinal)) step_.create.push_back(new_pod(ordinal));
        if (one_by_one_) return false;
        continue;
      }
      const JobPod& pod = *at->second;
      if (pod.ended() && !pod.deleting) {
        step_.remove.push_back({pod, true});
        return false;
      }
      if (one_by_one_ && !settled(pod)) return false;
    }
    return true;
  }

  // Deletes pods whose number is out of range, from the highest. Returns false when a pod has to be waited for.
  bool scale_down() {
    std::vector<const JobPod*> condemned;
    for (const auto& [ordinal, pod] : pods_) {
      if (ordinal < ordinals_.first || ordinal >= ordinals_.end) condemned.push_back(pod);
    }
    // The lowest pod that does not serve may go also when pods are deleted one by one; others wait for it.
    const JobPod* first_unhealthy = nullptr;
    for (const JobPod* pod : condemned) {
      if (first_unhealthy == nullptr && (!serves(*pod) || pod->deleting)) first_unhealthy = pod;
    }
    for (auto at = condemned.rbegin(); at != condemned.rend(); ++at) {
      const JobPod& pod = **at;
      if (pod.deleting) {
        if (one_by_one_) return false;
        continue;
      }
      if (one_by_one_ && !settled(pod) && &pod != first_unhealthy) return false;
      step_.remove.push_back({pod, false});
      if (one_by_one_ || step_.remove.size() >= kMaxPodsPerStep) return false;
    }
    return condemned.empty();
  }

  // Replaces one pod of an earlier revision, from the highest.
  void roll() {
    if (!rolling_ || step_.changes_pods()) return;
    for (auto at = pods_.rbegin(); at != pods_.rend() && at->first >= ordinals_.first + partition_; ++at) {
      const JobPod& pod = *at->second;
      if (!pod.deleting && revision_label(pod) != revisions_.updated) {
        step_.remove.push_back({pod, false});
        return;
      }
      if (!settled(pod)) return;
    }
  }

  // Keeps only so many revisions that no pod has.
  void forget_revisions() {
    const auto limit = optional_int_at(view_.set, {"spec", "revisionHistoryLimit"});
    if (!limit || *limit < 0) return;
    std::set<std::string_view> live = {revisions_.current, revisions_.updated};
    for (const JobPod& pod : view_.pods) live.insert(revision_label(pod));
    std::vector<const StoredRevision*> old;
    for (const StoredRevision& each : view_.revisions) {
      if (!live.contains(each.name)) old.push_back(&each);
    }
    std::sort(old.begin(), old.end(), [](const StoredRevision* a, const StoredRevision* b) {
      return std::tie(a->number, a->name) < std::tie(b->number, b->name);
    });
    for (std::size_t i = 0; i + static_cast<std::size_t>(*limit) < old.size(); ++i)
      step_.remove_revisions.push_back(*old[i]);
  }

  // The largest number of pods that one step creates or deletes.
  static constexpr std::size_t kMaxPodsPerStep = 500;

  const StatefulSetView& view_;
  const Ordinals ordinals_;
  const std::int64_t min_ready_;
  const bool one_by_one_, rolling_;
  const std::int64_t partition_;
  SetRevisions revisions_;
  std::map<std::int64_t, const JobPod*> pods_;  // by number
  std::set<std::int64_t> taken_;                // numbers whose names pods have that are given up
  StatefulSetStep step_;
};

}  // namespace

std::string ordinal_pod_name(const Json& set, std::int64_t ordinal) {
  return std::string(string_at(set, {"metadata", "name"})) + "-" + std::to_string(ordinal);
}

std::optional<std::int64_t> pod_ordinal(const Json& set, const Json& pod) {
  const std::string_view own = string_at(set, {"metadata", "name"});
  std::string_view name = string_at(pod, {"metadata", "name"});
  if (name.size() < own.size() + 2 || !name.starts_with(own) || name[own.size()] != '-') return std::nullopt;
  name.remove_prefix(own.size() + 1);
  std::int64_t ordinal = 0;
  const auto read = std::from_chars(name.data(), name.data() + name.size(), ordinal);
  if (read.ec != std::errc() || ordinal < 0 || std::to_string(ordinal) != name) return std::nullopt;
  return ordinal;
}

Ordinals ordinals_of(const Json& set) {
  const std::int64_t first = std::max<std::int64_t>(0, int_at(set, {"spec", "ordinals", "start"}));
  return {first, first + std::max<std::int64_t>(0, int_at(set, {"spec", "replicas"}, 1))};
}

StatefulSetStep next_step(const StatefulSetView& view) { return StatefulSetPlanner(view).run(); }

}  // namespace berth::cluster
