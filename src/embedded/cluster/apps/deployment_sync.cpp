#include "embedded/cluster/apps/deployment_sync.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "api/meta.h"
#include "embedded/cluster/apps/deployment_status.h"
#include "embedded/cluster/apps/objects.h"

namespace berth::cluster {
namespace {

constexpr std::string_view kRevision = "deployment.kubernetes.io/revision";
constexpr std::string_view kDesired = "deployment.kubernetes.io/desired-replicas";
constexpr std::string_view kMost = "deployment.kubernetes.io/max-replicas";
// Annotations of a Deployment that its ReplicaSets do not get.
constexpr std::string_view kNotCopied[] = {kRevision, kDesired, kMost, "deployment.kubernetes.io/revision-history",
                                           "kubectl.kubernetes.io/last-applied-configuration"};

std::int64_t revision_of(const Json& object) {
  const std::string_view text = string_at(object, {"metadata", "annotations", kRevision});
  std::int64_t revision = 0;
  std::from_chars(text.data(), text.data() + text.size(), revision);
  return revision;
}

// The template without the label that tells the ReplicaSets of a Deployment apart.
Json bare_template(const Json& object) {
  const Json* found = find_path(object, {"spec", "template"});
  if (found == nullptr) return JsonObject();
  Json out = *found;
  if (find_path(out, {"metadata", "labels"}) != nullptr)
    ensure_path(out, {"metadata", "labels"}).as_object().erase(kTemplateHashLabel);
  return out;
}

class DeploymentPlanner {
 public:
  explicit DeploymentPlanner(const DeploymentView& view)
      : view_(view),
        wanted_(int_at(view.deployment, {"spec", "replicas"}, 1)),
        bounds_(rolling_bounds(view.deployment)) {
    for (const DeployedSet& set : view.sets) sets_.push_back(&set);
    // Oldest first.
    std::sort(sets_.begin(), sets_.end(), [](const DeployedSet* a, const DeployedSet* b) {
      return std::tie(a->created, a->name) < std::tie(b->created, b->name);
    });
    const Json own = bare_template(view.deployment);
    for (const DeployedSet* set : sets_) {
      if (newest_ == nullptr && json_equal(bare_template(*set->object), own)) {
        newest_ = set;
      } else {
        old_.push_back(set);
      }
    }
    for (const DeployedSet* set : old_) revision_ = std::max(revision_, set->revision);
    ++revision_;
    if (newest_ != nullptr) revision_ = std::max(revision_, newest_->revision);
  }

  DeploymentStep run() {
    if (find_path(view_.deployment, {"metadata", "deletionTimestamp"}) == nullptr) {
      if (bool_at(view_.deployment, {"spec", "paused"})) {
        scale_paused();
      } else if (string_at(view_.deployment, {"spec", "strategy", "type"}) == "Recreate") {
        recreate();
      } else {
        roll();
      }
      if (!bool_at(view_.deployment, {"spec", "paused"})) note_revision();
    }
    step_.status = deployment_status(view_, newest_, step_.wake);
    if (!changes_sets() && deployment_complete(view_.deployment, step_.status)) clean_up();
    return std::move(step_);
  }

 private:
  bool changes_sets() const { return step_.create || !step_.update.empty(); }

  std::int64_t total() const {
    std::int64_t sum = 0;
    for (const DeployedSet* set : sets_) sum += set->wanted;
    return sum;
  }
  std::int64_t available() const {
    std::int64_t sum = 0;
    for (const DeployedSet* set : sets_) sum += set->available;
    return sum;
  }

  // --- Writes.

  void annotate(Json& set) const {
    for (const auto& [key, value] : object_at(view_.deployment, {"metadata", "annotations"})) {
      if (std::find(std::begin(kNotCopied), std::end(kNotCopied), berth::view(key)) == std::end(kNotCopied))
        ensure_path(set, {"metadata", "annotations", berth::view(key)}) = value;
    }
    ensure_path(set, {"metadata", "annotations", kRevision}) = std::to_string(revision_);
  }
  void note_replicas(Json& set) const {
    ensure_path(set, {"metadata", "annotations", kDesired}) = std::to_string(wanted_);
    ensure_path(set, {"metadata", "annotations", kMost}) = std::to_string(wanted_ + bounds_.surge);
  }

  void create(std::int64_t replicas) {
    if (!view_.may_create) return;
    Json pod_template = bare_template(view_.deployment);
    const std::string hash = template_hash(pod_template, int_at(view_.deployment, {"status", "collisionCount"}));
    ensure_path(pod_template, {"metadata", "labels", kTemplateHashLabel}) = hash;
    const Json* own = find_path(view_.deployment, {"spec", "selector"});
    Json selector = own == nullptr ? Json(JsonObject()) : *own;
    ensure_path(selector, {"matchLabels", kTemplateHashLabel}) = hash;
    const std::string name = std::string(string_at(view_.deployment, {"metadata", "name"})) + "-" + hash;
    JsonObject meta{{"name", name},
                    {"namespace", string_at(view_.deployment, {"metadata", "namespace"})},
                    {"labels", *find_path(pod_template, {"metadata", "labels"})},
                    {"ownerReferences", JsonArray{controller_reference(view_.deployment, "Deployment")}}};
    JsonObject spec{{"replicas", replicas}, {"selector", std::move(selector)}, {"template", std::move(pod_template)}};
    if (const auto seconds = int_at(view_.deployment, {"spec", "minReadySeconds"}); seconds > 0)
      spec["minReadySeconds"] = seconds;
    Json set = JsonObject{
        {"apiVersion", "apps/v1"}, {"kind", "ReplicaSet"}, {"metadata", std::move(meta)}, {"spec", std::move(spec)}};
    annotate(set);
    note_replicas(set);
    step_.create = std::move(set);
    if (replicas > 0) step_.scaled.push_back({name, 0, replicas});
  }

  // Writes the ReplicaSet when something about it should change.
  bool write(const DeployedSet& set, std::int64_t replicas) {
    if (set.deleting) return false;
    Json next = *set.object;
    if (&set == newest_) {
      annotate(next);
      note_replicas(next);
      const auto seconds = int_at(view_.deployment, {"spec", "minReadySeconds"});
      if (seconds != int_at(next, {"spec", "minReadySeconds"}))
        ensure_path(next, {"spec", "minReadySeconds"}) = seconds;
    }
    if (replicas != set.wanted) {
      note_replicas(next);
      ensure_path(next, {"spec", "replicas"}) = replicas;
      step_.scaled.push_back({set.name, set.wanted, replicas});
    }
    if (json_equal(next, *set.object)) return false;
    step_.update.push_back(std::move(next));
    return true;
  }

  void note_revision() {
    if (newest_ == nullptr || changes_sets()) return;
    const std::string revision = std::to_string(newest_->revision);
    if (string_at(view_.deployment, {"metadata", "annotations", kRevision}) == revision) return;
    Json next = view_.deployment;
    ensure_path(next, {"metadata", "annotations", kRevision}) = revision;
    step_.deployment = std::move(next);
  }

  // --- Strategies.

  void recreate() {
    bool waits = false;
    for (const DeployedSet* set : old_) {
      write(*set, 0);
      waits = waits || !set->gone();
    }
    if (waits || changes_sets()) return;
    if (newest_ == nullptr) return create(wanted_);
    write(*newest_, wanted_);
  }

  void roll() {
    if (newest_ == nullptr) return create(std::clamp<std::int64_t>(wanted_ + bounds_.surge - total(), 0, wanted_));
    std::int64_t next = wanted_;
    if (newest_->wanted < wanted_)
      next = std::min(wanted_, newest_->wanted + std::max<std::int64_t>(0, wanted_ + bounds_.surge - total()));
    if (write(*newest_, next)) return;
    shrink_old();
  }

  // Scales down the old ReplicaSets, but keeps as many pods available as the strategy demands. Pods that are not
  // available go first.
  void shrink_old() {
    const std::int64_t least = wanted_ - bounds_.unavailable;
    std::int64_t may_go = total() - least - std::max<std::int64_t>(0, newest_->wanted - newest_->available);
    if (may_go <= 0) return;
    std::vector<std::int64_t> next;
    for (const DeployedSet* set : old_) {
      const std::int64_t unhealthy = set->observed ? std::max<std::int64_t>(0, set->wanted - set->available) : 0;
      const std::int64_t goes = std::min({may_go, unhealthy, set->wanted});
      may_go -= goes;
      next.push_back(set->wanted - goes);
    }
    std::int64_t healthy_may_go = std::min(may_go, available() - least);
    for (std::size_t i = 0; i < old_.size(); ++i) {
      const std::int64_t goes = std::clamp<std::int64_t>(healthy_may_go, 0, next[i]);
      healthy_may_go -= goes;
      write(*old_[i], next[i] - goes);
    }
  }

  // A paused Deployment keeps its templates, but not its size: the newest ReplicaSet with pods grows, the oldest ones
  // shrink.
  void scale_paused() {
    std::int64_t more = wanted_ - total();
    if (more == 0 || sets_.empty()) return;
    if (more > 0) {
      const DeployedSet* grows = sets_.back();
      for (const DeployedSet* set : sets_) {
        if (set->wanted > 0) grows = set;
      }
      if (newest_ != nullptr && newest_->wanted > 0) grows = newest_;
      write(*grows, grows->wanted + more);
      return;
    }
    for (const DeployedSet* set : sets_) {
      const std::int64_t goes = std::min(-more, set->wanted);
      if (goes > 0) write(*set, set->wanted - goes);
      more += goes;
    }
  }

  // Deletes the oldest of the ReplicaSets without pods that nobody needs for a rollback.
  void clean_up() {
    const auto limit = optional_int_at(view_.deployment, {"spec", "revisionHistoryLimit"});
    if (!limit || *limit < 0) return;
    std::vector<const DeployedSet*> kept;
    for (const DeployedSet* set : old_) {
      if (!set->deleting) kept.push_back(set);
    }
    std::sort(kept.begin(), kept.end(), [](const DeployedSet* a, const DeployedSet* b) {
      return std::tie(a->revision, a->name) < std::tie(b->revision, b->name);
    });
    const std::size_t too_many = kept.size() - std::min(kept.size(), static_cast<std::size_t>(*limit));
    for (std::size_t i = 0; i < too_many; ++i) {
      if (kept[i]->gone()) step_.remove.push_back(*kept[i]);
    }
  }

  const DeploymentView& view_;
  const std::int64_t wanted_;
  const RollingBounds bounds_;
  std::vector<const DeployedSet*> sets_, old_;  // oldest first
  const DeployedSet* newest_ = nullptr;         // of the present template
  std::int64_t revision_ = 0;                   // that the newest one should have
  DeploymentStep step_;
};

}  // namespace

DeployedSet::DeployedSet(const JsonPtr& set)
    : object(set), name(string_at(*set, {"metadata", "name"})), uid(string_at(*set, {"metadata", "uid"})) {
  created = api::time_at(*set, {"metadata", "creationTimestamp"}).value_or(Time{});
  revision = revision_of(*set);
  wanted = int_at(*set, {"spec", "replicas"}, 1);
  replicas = int_at(*set, {"status", "replicas"});
  ready = int_at(*set, {"status", "readyReplicas"});
  available = int_at(*set, {"status", "availableReplicas"});
  terminating = int_at(*set, {"status", "terminatingReplicas"});
  deleting = find_path(*set, {"metadata", "deletionTimestamp"}) != nullptr;
  observed = int_at(*set, {"status", "observedGeneration"}) >= int_at(*set, {"metadata", "generation"});
}

DeploymentStep next_step(const DeploymentView& view) { return DeploymentPlanner(view).run(); }

}  // namespace berth::cluster
