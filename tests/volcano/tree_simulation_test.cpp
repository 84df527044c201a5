// Random trees with random load and restarts: no queue exceeds its capability, no group waits for quota that its
// queue is guaranteed or deserves, and no group waits that could be admitted.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "support/sanitized.h"
#include "volcano/drawing.h"
#include "volcano/world.h"

namespace berth::volcano::tree_simulation_test {
namespace {

using api::volcano::DequeueStrategy;
using api::volcano::PodGroupPhase;
using api::volcano::Queue;

constexpr unsigned kSeeds = 500 / testing_support::kFewer;
// With these seeds, a restart once admitted a group that had not been admitted before.
const std::vector<unsigned> kKnownSeeds{503, 1804, 2285};
constexpr int kSteps = 40;
const std::vector<std::string> kResources{"cpu", "gpu"};

bool waits(const api::volcano::PodGroup& group) {
  return group.status.phase == PodGroupPhase::kPending || group.status.phase == PodGroupPhase::kNone;
}

class Simulation : public testing::World {
 public:
  explicit Simulation(unsigned seed) : dice_(seed) { build(); }

  void step() {
    switch (upto(9)) {
      case 0:
        return end_one();
      case 1:
      case 2:
        return grow_one();
      case 3:
        return close_or_open_one();
      case 4:
        return restart();
      default:
        return submit_one();
    }
  }
  void settle_and_check() {
    run();
    for (const auto& [name, queue] : drawing_.queues) {
      for (const std::string& r : kResources) {
        EXPECT_LE(allocated_amount(name, r), drawing_.capability(name, r)) << r << " of " << name;
        check_parent(name, r);
      }
    }
    for (const auto& [name, entry] : groups) {
      if (!waits(entry.first)) continue;
      const std::string& leaf = entry.first.queue;
      if (closed_.contains(leaf) || !is_next(name)) continue;
      EXPECT_FALSE(within(entry.first, [&](const std::string& r) { return drawing_.guarantee(leaf, r); }))
          << name << " waits for what is guaranteed to " << leaf;
      EXPECT_FALSE(within(entry.first, [&](const std::string& r) { return drawing_.deserved(leaf, r); }))
          << name << " waits for what " << leaf << " deserves";
    }
  }
  int let_in() const {
    return static_cast<int>(std::ranges::count_if(groups, [](const auto& g) { return !waits(g.second.first); }));
  }

 private:
  int upto(int most) { return static_cast<int>(dice_() % static_cast<unsigned>(most + 1)); }

  void put(const Queue& queue) {
    drawing_.queues[queue.meta.name] = queue;
    have(queue);
  }
  // Two departments with two leaves each, and a leaf beside them. Capabilities exceed the deserved amounts, in the
  // departments only slightly.
  void build() {
    for (const char* top : {"x", "y"}) {
      Queue department = testing::queue(top);
      std::vector<Queue> leaves;
      for (const char* suffix : {"1", "2"}) {
        Queue leaf = testing::queue(std::string(top) + suffix, {.parent = top});
        for (const std::string& r : kResources) {
          const int guarantee = upto(4), deserved = guarantee + upto(6);
          leaf.guarantee[r] = Quantity::of(guarantee);
          leaf.deserved[r] = Quantity::of(deserved);
          if (upto(1) == 0) leaf.capability[r] = Quantity::of(deserved + upto(4));
          department.guarantee[r] = department.guarantee[r] + Quantity::of(guarantee);
          department.deserved[r] = department.deserved[r] + Quantity::of(deserved);
        }
        leaf.priority = upto(1);
        leaf.dequeue_strategy = upto(2) == 0 ? DequeueStrategy::kFifo : DequeueStrategy::kTraverse;
        leaves.push_back(leaf);
      }
      for (const std::string& r : kResources) department.capability[r] = department.deserved[r] + Quantity::of(upto(6));
      put(department);
      for (const Queue& leaf : leaves) put(leaf);
    }
    put(testing::queue("best-effort"));
    Queue root = testing::queue("root");
    for (const std::string& r : kResources)
      root.capability[r] =
          drawing_.queues.at("x").deserved.at(r) + drawing_.queues.at("y").deserved.at(r) + Quantity::of(upto(4));
    put(root);
  }

  std::int64_t allocated_amount(const std::string& name, const std::string& r) const {
    return amount_of(amounts(name), r).count();
  }
  Amounts amounts(const std::string& name) const {
    Amounts out;
    for (const auto& [resource, quantity] : allocated_list(name)) out[resource] = to_amount(resource, quantity);
    return out;
  }
  void check_parent(const std::string& name, const std::string& r) const {
    const auto children = drawing_.children(name);
    if (children.empty()) return;
    std::int64_t sum = 0;
    for (const auto& child : children) sum += allocated_amount(child, r);
    EXPECT_EQ(allocated_amount(name, r), sum) << r << " of " << name;
  }
  // In a FIFO queue, only the first waiting group can expect to be admitted.
  bool is_next(const std::string& name) const {
    const auto& group = groups.at(name).first;
    if (drawing_.queues.at(group.queue).dequeue_strategy == DequeueStrategy::kTraverse) return true;
    return std::ranges::none_of(groups, [&](const auto& other) {
      const auto& [rival, context] = other.second;
      return rival.queue == group.queue && waits(rival) &&
             std::pair(-context.priority, rival.meta.creation) <
                 std::pair(-groups.at(name).second.priority, group.meta.creation);
    });
  }
  template <typename Limit>
  bool within(const api::volcano::PodGroup& group, const Limit& limit) const {
    for (const auto& [r, quantity] : *group.min_resources)
      if (allocated_amount(group.queue, r) + to_amount(r, quantity).count() > limit(r)) return false;
    return true;
  }

  std::string some_leaf() {
    static const std::vector<std::string> kLeaves{"x1", "x2", "y1", "y2", "best-effort"};
    return kLeaves[static_cast<std::size_t>(upto(4))];
  }
  std::string some_group() {
    if (groups.empty()) return {};
    auto it = groups.begin();
    std::advance(it, upto(static_cast<int>(groups.size()) - 1));
    return it->first;
  }
  void submit_one() {
    const std::string requests = upto(1) == 0
                                     ? "cpu=" + std::to_string(1 + upto(5))
                                     : "cpu=" + std::to_string(1 + upto(2)) + ",gpu=" + std::to_string(1 + upto(3));
    group("g" + std::to_string(++submitted_), some_leaf(), requests, upto(2));
  }
  void end_one() {
    if (const std::string name = some_group(); !name.empty()) end(name);
  }
  // Adds pods beyond the minimum, as many as the available quota allows.
  void grow_one() {
    const std::string name = some_group();
    if (name.empty() || waits(groups.at(name).first)) return;
    auto& [group, context] = groups.at(name);
    group.status.phase = PodGroupPhase::kRunning;
    drawing_.used.clear();
    for (const auto& [queue, q] : drawing_.queues)
      if (drawing_.children(queue).empty())
        for (const std::string& r : kResources) drawing_.used[queue][r] = allocated_amount(queue, r);
    std::string running = "pods=1";
    for (const auto& [r, minimum] : *group.min_resources) {
      const auto known = context.running.find(r);
      std::int64_t amount = std::max(known == context.running.end() ? 0 : known->second.value(), minimum.value());
      const std::int64_t unit = r == "cpu" ? 1000 : 1;
      amount += std::min<std::int64_t>(upto(4), std::max<std::int64_t>(0, drawing_.headroom(group.queue, r) / unit));
      running += "," + r + "=" + std::to_string(amount);
    }
    grow(name, running);
  }
  void close_or_open_one() {
    const std::string leaf = some_leaf();
    Queue queue = drawing_.queues.at(leaf);
    const bool close = !closed_.contains(leaf);
    queue.status.state = close ? api::volcano::QueueState::kClosing : api::volcano::QueueState::kOpen;
    if (close) {
      closed_.insert(leaf);
    } else {
      closed_.erase(leaf);
    }
    put(queue);
  }
  // Rebuilds everything from queues, phases and pods; this must change nothing.
  void restart() {
    run();
    std::map<std::string, Amounts> before;
    for (const auto& [name, queue] : drawing_.queues) before[name] = amounts(name);
    stored.clear();
    engine = engine::Engine(engine::Options());
    tree.emplace();
    feed(tree->start());
    for (const auto& [name, queue] : drawing_.queues) have(queue);
    for (const auto& [name, entry] : groups) see(name);
    handle(engine::Synced{});
    EXPECT_EQ(run(), std::vector<std::string>());
    for (const auto& [name, queue] : drawing_.queues) EXPECT_EQ(amounts(name), before[name]) << name;
  }

  std::minstd_rand dice_;
  testing::Drawing drawing_;
  std::set<std::string> closed_;
  int submitted_ = 0;
};

TEST(VolcanoTreeSimulation, NobodyIsAboveItsCapabilityNorWaitsForWhatIsHis) {
  int let_in = 0;
  std::vector<unsigned> seeds = kKnownSeeds;
  for (unsigned seed = 0; seed < kSeeds; ++seed) seeds.push_back(seed);
  for (const unsigned seed : seeds) {
    if (::testing::Test::HasFailure()) break;
    SCOPED_TRACE("seed " + std::to_string(seed));
    Simulation simulation(seed);
    for (int i = 0; i < kSteps && !::testing::Test::HasFailure(); ++i) {
      SCOPED_TRACE("step " + std::to_string(i));
      simulation.step();
      simulation.settle_and_check();
    }
    let_in += simulation.let_in();
  }
  EXPECT_GT(let_in, static_cast<int>(kSeeds) * 3);
}

}  // namespace
}  // namespace berth::volcano::tree_simulation_test
