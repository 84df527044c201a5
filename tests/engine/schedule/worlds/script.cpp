#include "engine/schedule/worlds/script.h"

#include <set>

#include "engine/schedule/hall.h"
#include "engine/schedule/worlds/dice.h"

namespace berth::engine::worlds {

using api::kueue::FungibilityPolicy;
using api::kueue::FungibilityPreference;
using api::kueue::ReclaimWithinCohort;
using api::kueue::WithinClusterQueue;

namespace {

constexpr int kMostNodesPerFlavor = 3;
const std::vector<std::string> kParents{"root", "left", "right"};

std::string numbered(const std::string& prefix, int number) { return prefix + std::to_string(number); }

class Author {
 public:
  explicit Author(std::uint64_t seed) : dice_(seed) {}
  Script write();

 private:
  void rules();
  void set_the_scene();
  void happen();
  void say(std::string text, std::string object, std::function<void(Life&)> act);

  // Objects. Each is drawn in full and then given to the action.
  void flavor(int f);
  void node(int f, int i);
  void cohort(int c);
  void queue(int q);
  void job();
  void pod();
  std::vector<QueueSpec::Limit> quota(bool limited, std::string& text);
  std::optional<api::kueue::TopologyRequest> request(std::string& text);
  bool placed(int f) const { return places_ == 2 || (places_ == 1 && f == 0); }
  std::string some_job() { return numbered("w", dice_.pick(std::max(jobs_, 1))); }

  Dice dice_;
  Script script_;
  int batch_ = 0;
  int flavors_ = 1, places_ = 0;  // places: no flavor has a topology, the first one has, all have
  int queues_ = 2, jobs_ = 0, pods_ = 0;
  bool memory_ = false, extra_ = false;
  std::set<std::string> changed_;  // objects of this batch
};

void Author::say(std::string text, std::string object, std::function<void(Life&)> act) {
  if (script_.any_order && !changed_.insert(std::move(object)).second) return;  // its order would matter
  script_.actions.push_back({batch_, std::move(text), std::move(act)});
}

void Author::rules() {
  SchedulerOptions& options = script_.rules.options;
  std::string& text = script_.rules_text;
  const auto maybe = [&](bool& option, bool value, int percent, const char* name) {
    if (!dice_.chance(percent)) return;
    option = value;
    text += std::string(" ") + name;
  };
  maybe(options.fair_sharing.enabled, true, 40, "fair-sharing");
  if (options.fair_sharing.enabled) {
    maybe(options.fair_sharing.preempt_within_nominal, false, 15, "no-preemption-within-nominal");
    maybe(options.fair_sharing.prioritize_non_borrowing, false, 15, "no-priority-of-non-borrowing");
    maybe(options.fair_sharing.initial_share, false, 20, "final-share-only");
    if (options.fair_sharing.initial_share) maybe(options.fair_sharing.final_share, false, 15, "initial-share-only");
  }
  maybe(options.partial_admission, false, 10, "no-partial-admission");
  maybe(options.flavor_fungibility, false, 10, "no-fungibility");
  maybe(options.priority_sorting_within_cohort, false, 10, "no-priority-in-cohort");
  maybe(options.equivalence_hashing, false, 10, "no-classes");
  maybe(options.prioritize_preemptors, true, 15, "preemptors-first");
  maybe(options.recompute_on_overlap, false, 15, "no-recomputation");
  maybe(script_.rules.victims_stop_together, false, 30, "victims-stop-one-by-one");
  maybe(options.topology.balanced_placement, true, 10, "balanced");
}

// --- Objects.

void Author::flavor(int f) {
  api::kueue::ResourceFlavor object;
  object.meta.name = numbered("f", f);
  object.node_labels = {{"pool", object.meta.name}};
  if (placed(f)) object.topology_name = "t";
  say("flavor " + object.meta.name + (placed(f) ? " with topology" : ""), object.meta.name,
      [object](Life& life) { life.set_flavor(object); });
}

void Author::node(int f, int i) {
  api::Node object;
  object.name = numbered(numbered("f", f) + "-n", i);
  object.labels = {{"pool", numbered("f", f)}, {"rack", numbered("r", i / 2)}, {kHost, object.name}};
  const std::string cpu = numbered("", dice_.between(1, 4));
  object.ready = dice_.chance(75);
  object.allocatable = {{"cpu", quantity(cpu)}, {"memory", quantity("9")}, {"pods", quantity("9")}};
  say("node " + object.name + " cpu " + cpu + (*object.ready ? "" : " not ready"), object.name,
      [object](Life& life) { life.set_node(object); });
}

std::string limits(const QueueSpec::Limit& limit) {
  std::string text = limit.resource + " " + limit.nominal;
  if (!limit.borrowing.empty()) text += " borrows " + limit.borrowing;
  if (!limit.lending.empty()) text += " lends " + limit.lending;
  return text + "; ";
}

std::vector<QueueSpec::Limit> Author::quota(bool limited, std::string& text) {
  std::vector<QueueSpec::Limit> out;
  for (const char* resource : {"cpu", "memory"}) {
    if (resource == std::string("memory") && !memory_) continue;
    QueueSpec::Limit limit{resource, numbered("", dice_.pick(7)), "", ""};
    if (limited && dice_.chance(25)) limit.borrowing = numbered("", dice_.pick(4));
    if (limited && dice_.chance(25)) limit.lending = numbered("", dice_.pick(4));
    text += limits(limit);
    out.push_back(limit);
  }
  return out;
}

void Author::cohort(int c) {
  api::kueue::Cohort object;
  object.meta.name = kParents[static_cast<std::size_t>(c)];
  if (c > 0) object.parent_name = "root";
  const std::string weight = numbered("", dice_.pick(3));
  object.fair_weight = quantity(weight);
  std::string text = "cohort " + object.meta.name + " weight " + weight + " ";
  if (dice_.chance(40)) {
    for (int f = 0; f < flavors_; ++f) {
      text += numbered("f", f) + ": ";
      QueueSpec::add_flavor(object.resource_groups, numbered("f", f), quota(c > 0 && dice_.chance(30), text));
    }
  }
  say(text, object.meta.name, [object](Life& life) { life.set_cohort(object); });
}

void Author::queue(int q) {
  QueueSpec spec(numbered("q", q));
  std::string text = "queue " + spec.object.meta.name;
  if (dice_.chance(85)) {
    spec.in(kParents[static_cast<std::size_t>(dice_.pick(3))]);
    text += " in " + spec.object.cohort_name;
  }
  const std::string weight = numbered("", dice_.pick(3));
  spec.weighs(weight);
  text += " weight " + weight + " ";
  const int first = dice_.chance(20) ? dice_.pick(flavors_) : 0;
  for (int i = 0; i < flavors_; ++i) {
    const int f = (first + i) % flavors_;
    text += numbered("f", f) + ": ";
    spec.flavor(numbered("f", f), quota(true, text));
  }
  if (extra_) {
    for (int f = 0; f < 2; ++f) {
      QueueSpec::Limit limit{"gpu", numbered("", dice_.pick(4)), "", ""};
      text += numbered("g", f) + ": " + limits(limit);
      spec.flavor(numbered("g", f), {limit});
    }
  }
  auto& object = spec.object;
  const auto maybe = [&](int percent, const char* name) {
    const bool so = dice_.chance(percent);
    if (so) text += std::string(name) + " ";
    return so;
  };
  if (maybe(30, "strict")) spec.strict();
  if (maybe(45, "within-lower")) spec.within(WithinClusterQueue::kLowerPriority);
  if (maybe(20, "within-lower-or-newer")) spec.within(WithinClusterQueue::kLowerOrNewerEqualPriority);
  if (maybe(40, "reclaim-any")) spec.reclaim(ReclaimWithinCohort::kAny);
  if (maybe(25, "reclaim-lower")) spec.reclaim(ReclaimWithinCohort::kLowerPriority);
  if (maybe(20, "borrow-preempting")) spec.borrow_preempting(dice_.chance(50) ? std::optional(1) : std::nullopt);
  if (maybe(40, "borrow-try-next")) object.when_can_borrow = FungibilityPolicy::kTryNextFlavor;
  if (maybe(40, "preempt-may-stop")) object.when_can_preempt = FungibilityPolicy::kMayStopSearch;
  if (maybe(20, "preemption-over-borrowing")) object.preference = FungibilityPreference::kPreemptionOverBorrowing;
  const bool active = !maybe(8, "held");
  say(text, object.meta.name, [object, active](Life& life) { life.set_queue(object, active); });
}

std::optional<api::kueue::TopologyRequest> Author::request(std::string& text) {
  const int kind = places_ == 0 ? 9 : dice_.pick(7);
  if (kind > 4) return std::nullopt;
  text += std::array{" in one rack", " on one host", " rack preferred", " anywhere",
                     " in slices"}[static_cast<std::size_t>(kind)];
  auto out = kind == 0 || kind == 4 ? required("rack")
             : kind == 1            ? required(kHost)
             : kind == 2            ? preferred("rack")
                                    : unconstrained();
  if (kind == 4) {
    out.slice_required_topology = kHost;
    out.slice_size = 2;
  }
  return out;
}

void Author::job() {
  const std::string name = numbered("w", jobs_++);
  Pending pending;
  pending.cluster_queue = numbered("q", dice_.pick(queues_));
  pending.priority = dice_.pick(3) + (batch_ > 0 ? dice_.pick(3) : 0);  // later ones are worth a preemption
  pending.queued_at = at_second(dice_.chance(80) ? jobs_ : dice_.between(1, jobs_));
  std::string text = "job " + name + " in " + pending.cluster_queue + " priority " + numbered("", pending.priority) +
                     " queued at " + std::to_string(pending.queued_at.time_since_epoch() / std::chrono::seconds(1));
  const int pod_sets = dice_.chance(20) ? 2 : 1;
  for (int p = 0; p < pod_sets; ++p) {
    PodSetRequest pod_set;
    pod_set.name = numbered("set", p);
    pod_set.count = dice_.between(1, 3);
    const int cpu = dice_.between(dice_.chance(5) ? 0 : 1, dice_.chance(60) ? 1 : 3);
    text += ": " + std::to_string(pod_set.count) + " x cpu " + std::to_string(cpu);
    pod_set.topology = request(text);
    if (pod_set.topology && pod_set.topology->slice_size) pod_set.count = 2;
    pod_set.per_pod["cpu"] = quantity(numbered("", cpu));
    if (memory_ && dice_.chance(80)) {
      const std::string memory = numbered("", dice_.pick(3));
      pod_set.per_pod["memory"] = quantity(memory);
      text += " memory " + memory;
    }
    if (extra_ && dice_.chance(50)) {
      const std::string gpu = numbered("", dice_.pick(3));
      pod_set.per_pod["gpu"] = quantity(gpu);
      text += " gpu " + gpu;
    }
    if (pod_set.count > 1 && dice_.chance(15)) {
      pod_set.min_count = 1;
      text += " at least 1";
    }
    pending.pod_sets.push_back(std::move(pod_set));
  }
  say(text, name, [name, pending](Life& life) { life.submit(name, pending); });
}

void Author::pod() {
  api::kueue::PodPlacement object;
  object.uid = object.name = numbered("pod", pods_++);
  object.ns = "ns";
  const std::string flavor = numbered("f", dice_.pick(flavors_));
  object.node = numbered(flavor + "-n", dice_.pick(kMostNodesPerFlavor));
  object.bound = true;
  object.requests = {{"cpu", quantity("1")}};
  say("pod " + object.name + " on " + object.node, object.uid, [object](Life& life) { life.set_pod(object); });
}

// --- The story.

void Author::set_the_scene() {
  flavors_ = dice_.between(1, 3);
  places_ = dice_.chance(50) ? 0 : dice_.between(1, 2);
  memory_ = dice_.chance(30);
  extra_ = dice_.chance(12);
  queues_ = dice_.between(2, 4);
  if (places_ > 0) {
    api::kueue::Topology topology;
    topology.meta.name = "t";
    topology.levels = {"rack", kHost};
    say("topology t", "t", [topology](Life& life) { life.set_topology(topology); });
  }
  for (int f = 0; f < flavors_; ++f) flavor(f);
  if (extra_) {
    for (int f = 0; f < 2; ++f) {
      api::kueue::ResourceFlavor object;
      object.meta.name = numbered("g", f);
      say("flavor " + object.meta.name, object.meta.name, [object](Life& life) { life.set_flavor(object); });
    }
  }
  for (int f = 0; f < flavors_; ++f) {
    const int nodes = placed(f) ? dice_.between(1, kMostNodesPerFlavor) : 0;
    for (int i = 0; i < nodes; ++i) node(f, i);
  }
  for (int c = 0; c < static_cast<int>(kParents.size()); ++c) {
    if (dice_.chance(70)) cohort(c);
  }
  for (int q = 0; q < queues_; ++q) queue(q);
  for (int n = dice_.between(4, 10); n > 0; --n) job();
}

void Author::happen() {
  switch (dice_.pick(20)) {
    case 0:
    case 1:
    case 2:
    case 3: {
      const std::string name = some_job();
      return say("end of " + name, name, [name](Life& life) { life.end(name); });
    }
    case 5:
      return queue(dice_.pick(queues_));
    case 6: {
      const std::string name = numbered("q", dice_.pick(queues_));
      const bool active = dice_.chance(60);
      return say((active ? "resume " : "hold ") + name, name,
                 [name, active](Life& life) { life.set_active(name, active); });
    }
    case 7:
    case 8:
      if (places_ == 0) return job();
      {
        const int f = places_ == 2 ? dice_.pick(flavors_) : 0;
        return node(f, dice_.pick(kMostNodesPerFlavor));
      }
    case 9: {
      const std::string name = some_job();
      const int priority = dice_.pick(3);
      return say("priority of " + name + ": " + std::to_string(priority), name,
                 [name, priority](Life& life) { life.set_priority(name, priority); });
    }
    case 10:
      return cohort(dice_.pick(3));
    case 11: {
      const std::string name = numbered("f", dice_.pick(flavors_));
      if (!dice_.chance(40)) return flavor(name[1] - '0');
      return say("flavor " + name + " is deleted", name, [name](Life& life) { life.remove_flavor(name); });
    }
    case 12:
      if (places_ > 0 && dice_.chance(50)) return pod();
      if (pods_ > 0) {
        const std::string uid = numbered("pod", dice_.pick(pods_));
        return say(uid + " is gone", uid, [uid](Life& life) { life.remove_pod(uid); });
      }
      return job();
    case 13: {
      const std::string name = some_job();
      return say("a pod of " + name + " has succeeded", name, [name](Life& life) { life.reclaim(name, 1); });
    }
    default:
      return job();
  }
}

Script Author::write() {
  rules();
  script_.any_order = dice_.chance(30);
  set_the_scene();
  const int batches = dice_.between(1, 5);
  for (batch_ = 1; batch_ <= batches; ++batch_) {
    changed_.clear();
    for (int n = dice_.between(1, 5); n > 0; --n) happen();
  }
  return std::move(script_);
}

}  // namespace

Script draw(std::uint64_t seed) { return Author(seed).write(); }

}  // namespace berth::engine::worlds
