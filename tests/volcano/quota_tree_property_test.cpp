// Random trees of queues: what admission accepts compiles to a legal quota tree with the numbers of the formulas;
// after writes without admission checks, the incremental tree equals a tree built from the start.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "engine/schedule/scheduler.h"
#include "support/sanitized.h"
#include "volcano/drawing.h"
#include "volcano/quota_tree.h"
#include "volcano/support.h"

namespace berth::volcano::quota_tree_property_test {
namespace {

using api::volcano::Queue;
using api::volcano::QueueState;
using testing::Drawing;
using testing::pointer;

constexpr int kTrees = 10'000 / testing_support::kFewer;
constexpr int kChanges = 24;  // per tree
const std::vector<std::string> kNames{"a", "b", "c", "d", "e", "f", "g", "h"};
const std::vector<std::string> kResources{"cpu", "gpu"};

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  int upto(int most) { return static_cast<int>(engine_() % static_cast<unsigned>(most + 1)); }
  bool one_in(int n) { return upto(n - 1) == 0; }
  const std::string& one_of(const std::vector<std::string>& all) {
    return all[static_cast<std::size_t>(upto(static_cast<int>(all.size()) - 1))];
  }

 private:
  std::minstd_rand engine_;
};

// Follows the rules for fields: guarantee <= deserved <= capability. Each may be missing, except deserved when there
// is a guarantee.
Queue random_queue(Dice& dice, const std::string& name, const std::string& parent, int most) {
  Queue q = testing::queue(name, {.parent = parent});
  for (const std::string& resource : kResources) {
    const int capability = dice.upto(most), deserved = dice.upto(capability), guarantee = dice.upto(deserved);
    if (!dice.one_in(3) && capability > 0) q.capability[resource] = Quantity::of(capability);
    if (dice.one_in(3)) continue;
    q.deserved[resource] = Quantity::of(deserved);
    if (dice.one_in(2)) q.guarantee[resource] = Quantity::of(guarantee);
  }
  return q;
}

// The quota tree in the engine.
class Ground {
 public:
  Ground() { apply(tree.start()); }

  void apply(const QuotaTree::Events& events) {
    for (const auto& event : events) {
      if (const auto* e = std::get_if<engine::ClusterQueueSeen>(&event)) {
        scheduler.set_cluster_queue(*e->object, e->object->stop_policy == api::kueue::StopPolicy::kNone);
        cluster_queues[e->object->meta.name] = text(*e->object);
        expect_legal(e->object->meta.name, e->object->resource_groups);
      } else if (const auto* gone = std::get_if<engine::ClusterQueueGone>(&event)) {
        scheduler.remove_cluster_queue(gone->name);
        EXPECT_EQ(cluster_queues.erase(gone->name), 1u);
      } else if (const auto* cohort = std::get_if<engine::CohortSeen>(&event)) {
        scheduler.set_cohort(*cohort->object);
        cohorts[cohort->object->meta.name] = cohort->object->parent_name + text(cohort->object->resource_groups);
        if (cohort->object->meta.name != "volcano.root")
          expect_legal(cohort->object->meta.name, cohort->object->resource_groups);
      } else if (const auto* cohort_gone = std::get_if<engine::CohortGone>(&event)) {
        scheduler.remove_cohort(cohort_gone->name);
        EXPECT_EQ(cohorts.erase(cohort_gone->name), 1u);
      }
    }
  }
  void hold(const std::string& queue, const std::map<std::string, std::int64_t>& amounts) {
    auto [it, is_new] = workloads.try_emplace(queue);
    if (is_new) it->second = scheduler.enter("uid-" + queue, "");
    engine::Holding holding;
    holding.cluster_queue = node_name(queue);
    for (const auto& [resource, amount] : amounts) holding.amounts.push_back({"volcano", resource, Amount::of(amount)});
    scheduler.hold(it->second, holding);
  }
  void release(const std::string& queue) {
    if (const auto it = workloads.find(queue); it != workloads.end()) scheduler.release(it->second);
  }
  engine::FlavorResourceId id(const std::string& resource) const {
    const auto& names = scheduler.names();
    const auto r = names.find_resource(resource);
    return r.valid() ? names.find_pair(names.find_flavor("volcano"), r) : engine::FlavorResourceId();
  }

  QuotaTree tree;
  engine::Scheduler scheduler;
  std::map<std::string, std::string> cluster_queues, cohorts;
  std::map<std::string, engine::WorkloadId> workloads;
  bool legal = true;  // whether every number of the tree must be legal

 private:
  static std::string text(const std::vector<api::kueue::ResourceGroup>& groups) {
    std::string out;
    for (const auto& group : groups)
      for (const auto& flavor : group.flavors)
        for (const auto& r : flavor.resources) {
          out += " " + flavor.name + "/" + r.name + "=" + r.nominal.to_string() + "+" +
                 (r.borrowing_limit ? r.borrowing_limit->to_string() : "*") + "-" +
                 (r.lending_limit ? r.lending_limit->to_string() : "*");
        }
    return out;
  }
  static std::string text(const api::kueue::ClusterQueue& q) {
    return q.cohort_name + text(q.resource_groups) + (q.stop_policy == api::kueue::StopPolicy::kNone ? "" : " held") +
           (q.terms.reclaimable ? "" : " kept") + " p" + std::to_string(q.terms.priority);
  }
  void expect_legal(const std::string& name, const std::vector<api::kueue::ResourceGroup>& groups) const {
    if (!legal) return;
    for (const auto& group : groups)
      for (const auto& flavor : group.flavors)
        for (const auto& r : flavor.resources) {
          EXPECT_GE(r.nominal.sign(), 0) << name << text(groups);
          EXPECT_TRUE(!r.borrowing_limit || r.borrowing_limit->sign() >= 0) << name << text(groups);
          EXPECT_TRUE(!r.lending_limit || r.lending_limit->sign() >= 0) << name << text(groups);
        }
  }
};

class AdmittedTree {
 public:
  explicit AdmittedTree(unsigned seed) : dice_(seed) {
    options_.count_reservations = seed % 3 != 0;
    if (dice_.one_in(2)) {
      Queue root = testing::queue("root");
      root.capability["cpu"] = Quantity::of(dice_.upto(40));
      put(root);
    }
  }

  void change() {
    const std::string& name = dice_.one_of(kNames);
    const bool exists = drawing_.queues.contains(name);
    if (exists && dice_.one_in(6)) return remove(name);
    if (exists && dice_.one_in(3)) return use(name);
    const std::string parent = dice_.one_in(3) ? "" : dice_.one_of(kNames);
    Queue now = random_queue(dice_, name, parent, parent.empty() ? 24 : 10);
    if (exists && dice_.one_in(2)) now.parent = drawing_.queues.at(name).parent;  // only the amounts change
    const bool admitted =
        exists ? admission().update(now, drawing_.queues.at(name)).empty() : admission().create(now).empty();
    if (admitted) put(now);
    admitted_ += admitted ? 1 : 0;
  }

  void check() const {
    const engine::Ledger& ledger = ground_.scheduler.ledger();
    for (const auto& [name, q] : drawing_.queues) {
      if (name == "root") continue;
      const bool leaf = drawing_.children(name).empty();
      const auto node = leaf ? ledger.find_cluster_queue(node_name(name)) : ledger.find_cohort(node_name(name));
      ASSERT_TRUE(node.valid()) << name;
      for (const std::string& r : kResources) check(name, r, node, leaf);
    }
  }
  void check_all() const {
    check();
    EXPECT_EQ(ground_.scheduler.check(), std::vector<std::string>());
  }
  int admitted() const { return admitted_; }
  bool deep() const {
    for (const auto& [name, q] : drawing_.queues)
      if (ground_.tree.forest().way_up(*ground_.tree.forest().find(name)).level >= 3) return true;
    return false;
  }

 private:
  Admission admission() const {
    return Admission(ground_.tree.forest(), options_, [this](std::string_view queue) {
      const auto it = drawing_.used.find(std::string(queue));
      return it == drawing_.used.end() ? std::size_t{0} : std::size_t{1};
    });
  }
  void put(const Queue& queue) {
    drawing_.queues[queue.meta.name] = queue;
    ground_.apply(ground_.tree.set(pointer(queue)));
  }
  void remove(const std::string& name) {
    if (!admission().remove(name)) return;
    drawing_.queues.erase(name);
    drawing_.used.erase(name);
    ground_.release(name);
    ground_.apply(ground_.tree.remove(name));
  }
  // Workloads run in the queue and use at most what is available.
  void use(const std::string& name) {
    if (!drawing_.children(name).empty()) return;
    ground_.release(name);
    drawing_.used.erase(name);
    if (dice_.one_in(3)) return;
    std::map<std::string, std::int64_t> amounts;
    for (const std::string& r : kResources) {
      const std::int64_t room = std::min<std::int64_t>(50, std::max<std::int64_t>(0, drawing_.headroom(name, r)));
      amounts[r] = room == 0 ? 0 : dice_.upto(static_cast<int>(room));
    }
    drawing_.used[name] = amounts;
    ground_.hold(name, amounts);
  }
  void check(const std::string& name, const std::string& r, engine::QuotaNodeId node, bool leaf) const {
    const engine::Ledger& ledger = ground_.scheduler.ledger();
    const auto id = ground_.id(r);
    if (!id.valid()) return;  // no queue has named or used it yet
    const std::int64_t kept_below = drawing_.guarantees_below(name, r);
    const auto same = [&](std::string_view what, Amount have, std::int64_t want) {
      const bool infinite = want > Drawing::kInfinite / 2;
      EXPECT_TRUE(infinite ? have.is_unlimited() : have == Amount::of(want))
          << what << " of " << r << " in " << name << (leaf ? "" : " (a parent)") << " is " << have.count() << ", not "
          << want;
    };
    // What the children of a parent keep by their guarantees is not part of the parent's numbers.
    same("the guarantee", ledger.local_quota(node, id) + Amount::of(kept_below), drawing_.guarantee(name, r));
    same("what is deserved", ledger.subtree_quota(node, id) + Amount::of(kept_below), drawing_.deserved(name, r));
    const std::int64_t ceiling = drawing_.ceiling(name, r);
    same("the ceiling", ledger.potential_available(node, id) + Amount::of(kept_below), ceiling);
    const std::int64_t headroom = drawing_.headroom(name, r);
    if (leaf) same("what is available", ledger.available(node, id), std::max<std::int64_t>(0, headroom));
  }

  Dice dice_;
  AdmissionOptions options_;
  Drawing drawing_;
  Ground ground_;
  int admitted_ = 0;
};

TEST(VolcanoTreeProperty, WhatIsLetInCompilesToALegalTreeWithTheNumbersOfTheFormulas) {
  int admitted = 0, deep = 0;
  for (unsigned seed = 0; seed < kTrees && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    AdmittedTree tree(seed);
    for (int i = 0; i < kChanges && !::testing::Test::HasFailure(); ++i) {
      tree.change();
      tree.check();
    }
    tree.check_all();
    admitted += tree.admitted();
    deep += tree.deep() ? 1 : 0;
  }
  EXPECT_GT(admitted, 4 * kTrees);  // the trees are not empty
  EXPECT_GT(deep, kTrees / 20);     // and not flat
}

// Whatever is written, in any order: the tree equals the tree after a restart, and a queue whose parents lead to root
// and are open admits, whatever is wrong elsewhere.
TEST(VolcanoTreeProperty, WhatComesInAroundAdmissionStaysWhereItIs) {
  for (unsigned seed = 0; seed < kTrees / 10 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Dice dice(seed);
    Ground ground;
    ground.legal = false;
    std::map<std::string, Queue> queues;
    for (int i = 0; i < kChanges; ++i) {
      const std::string& name = dice.one_of(kNames);
      if (dice.one_in(4)) {
        queues.erase(name);
        ground.apply(ground.tree.remove(name));
        continue;
      }
      Queue q = random_queue(dice, name, dice.one_in(4) ? "" : dice.one_of(kNames), 20);
      if (dice.one_in(4)) q.status.state = QueueState::kClosed;
      q.priority = dice.upto(2);
      q.reclaimable = !dice.one_in(3);
      queues[name] = q;
      ground.apply(ground.tree.set(pointer(q)));
      if (dice.one_in(3)) ground.hold(name, {{"cpu", dice.upto(5)}});
    }
    Ground again;
    again.legal = false;
    for (const auto& [name, q] : queues) again.apply(again.tree.set(pointer(q)));
    EXPECT_EQ(ground.cluster_queues, again.cluster_queues);
    EXPECT_EQ(ground.cohorts, again.cohorts);
    EXPECT_EQ(ground.scheduler.check(), std::vector<std::string>());
    for (const auto& [name, q] : queues) {
      std::set<std::string> way;
      std::string at = name;
      while (queues.contains(at) && way.insert(at).second && queues.at(at).status.state == QueueState::kOpen)
        at = std::string(parent_of(queues.at(at)));
      const bool childless =
          std::ranges::none_of(queues, [&](const auto& other) { return other.second.parent == name; });
      const bool admits = ground.cluster_queues.at(node_name(name)).find(" held") == std::string::npos;
      EXPECT_EQ(admits, at == "root" && childless) << name;
      EXPECT_EQ(ground.tree.obstacle(name).empty(), admits) << ground.tree.obstacle(name);
    }
  }
}

}  // namespace
}  // namespace berth::volcano::quota_tree_property_test
