// Replacement on random topologies: other pods keep their places, failed nodes are avoided, required domains and
// slices stay whole, no node is overcommitted; and without slices, replacement succeeds exactly when there is enough
// capacity.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "engine/topology/cluster.h"

namespace berth::engine::replacement_property_test {
namespace {

using Counts = std::map<std::string, std::int32_t>;

class Failures {
 public:
  explicit Failures(std::uint32_t seed) : random_(seed) {}

  void run(int cases) {
    for (int i = 0; i < cases && !::testing::Test::HasFailure(); ++i) one();
  }
  int replaced = 0, refused = 0;

 private:
  int draw(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool chance(int percent) { return draw(1, 100) <= percent; }

  void add_racks() {
    cluster_ = std::make_unique<Cluster>();
    free_.clear();
    labels_.clear();
    cluster_->topology("t", {"block", "rack", "kubernetes.io/hostname"});
    cluster_->flavor("f", "t");
    const int nodes = draw(4, 12);
    for (int i = 0; i < nodes; ++i) {
      const std::string name = "n" + std::to_string(i), block = "b" + std::to_string(draw(0, 1));
      labels_[name] = {{"block", block}, {"rack", block + "r" + std::to_string(draw(0, 1))}};
      free_[name] = draw(1, 5);
      cluster_->node(name, labels_[name], {{"cpu", std::to_string(free_[name])}});
      if (!chance(25)) continue;
      cluster_->pod("p" + name, name, {{"cpu", "1"}});
      --free_[name];
    }
  }

  Gang some_gang() {
    Gang gang{.count = draw(1, 8)};
    const int how = draw(0, 5);
    slice_ = 1;
    level_ = "";
    if (how < 2) level_ = how == 0 ? "rack" : "block";
    if (how < 2) gang.required(level_);
    if (how == 2) gang.preferred("rack");
    if (how == 3) gang.unconstrained();
    if (how >= 4) {
      slice_ = draw(2, 4);
      gang.count = slice_ * draw(1, 3);
      if (how == 4 && chance(50)) gang.count -= draw(1, slice_ - 1);  // the last slice is smaller
      gang.preferred("rack").slices("rack", slice_);
      if (how == 5 && slice_ == 4) gang.topology->slice_required_topology.clear(), gang.topology->slice_size.reset();
      if (how == 5 && slice_ == 4) gang.layers({{"rack", 4}, {"kubernetes.io/hostname", 2}});
    }
    return gang;
  }

  void one() {
    add_racks();
    const Gang gang = some_gang();
    Placement placement = cluster_->place({gang});
    if (!placement.ok) return;
    const auto before = cluster_->places.assignment(placement.pod_sets[0]);
    cluster_->places.take(WorkloadId(std::size_t{0}), "ns/w0", std::move(placement.pod_sets));
    Counts stays;
    for (const auto& domain : before->domains) {
      stays[domain.values[0]] = domain.count;
      free_[domain.values[0]] -= domain.count;
    }
    std::vector<std::string> failed;
    for (int i = draw(1, 3); i > 0 && !stays.empty(); --i) {
      const auto it = std::next(stays.begin(), draw(0, static_cast<int>(stays.size()) - 1));
      failed.push_back(it->first);
      stays.erase(it);
      free_.erase(failed.back());
      fail(failed.back());
    }
    const Placement found = cluster_->places.replace(cluster_->requests({gang}), std::vector{before}, failed);
    ASSERT_EQ(cluster_->broken(), "");
    judge(gang, stays, found);
    if (!found.ok) return;
    cluster_->places.take(WorkloadId(std::size_t{0}), "ns/w0", found.pod_sets);
    ASSERT_EQ(cluster_->broken(), "");
  }

  void fail(const std::string& name) {
    const int how = draw(0, 2);
    if (how == 0) {
      cluster_->places.remove_node(name);
    } else if (how == 1) {
      api::Node node = Cluster::a_node(name, labels_[name], {{"cpu", "5"}});
      node.ready = false;
      cluster_->places.set_node(node);
    }
  }

  void judge(const Gang& gang, const Counts& stays, const Placement& found) {
    std::int32_t missing = gang.count, capacity = 0;
    for (const auto& [node, count] : stays) missing -= count;
    for (const auto& [node, count] : free_) {
      const bool inside =
          level_.empty() || stays.empty() || labels_[node][level_] == labels_[stays.begin()->first][level_];
      if (inside) capacity += count;
    }
    if (slice_ == 1 && !(stays.empty() && !level_.empty())) {
      ASSERT_EQ(found.ok, capacity >= missing) << found.failure.text;
    }
    if (!found.ok) {
      ++refused;
      ASSERT_NE(found.failure.text, "");
      return;
    }
    ++replaced;
    std::int32_t sum = 0;
    std::map<std::string, std::int32_t> racks, domains;
    const auto assignment = cluster_->places.assignment(found.pod_sets[0]);
    Counts now;
    for (const auto& domain : assignment->domains) {
      const std::string& node = domain.values[0];
      ASSERT_TRUE(free_.contains(node)) << node << " failed";
      const std::int32_t kept = stays.contains(node) ? stays.at(node) : 0;
      ASSERT_GE(domain.count, kept);
      ASSERT_LE(domain.count - kept, free_[node]);
      sum += domain.count;
      racks[labels_[node]["rack"]] += domain.count;
      if (!level_.empty()) domains[labels_[node][level_]] += domain.count;
      now[node] = domain.count;
      ASSERT_TRUE(gang.topology->slice_constraints.size() < 2 || domain.count % 2 == 0);
    }
    for (const auto& [node, count] : stays) ASSERT_TRUE(now.contains(node));
    ASSERT_EQ(sum, gang.count);
    const std::string last = labels_[assignment->domains.back().values[0]]["rack"];
    for (const auto& [rack, count] : racks) ASSERT_EQ(count % slice_, rack == last ? gang.count % slice_ : 0);
    ASSERT_LE(domains.size(), 1u);
  }

  std::mt19937 random_;
  std::unique_ptr<Cluster> cluster_;
  Counts free_;
  std::map<std::string, api::StringMap> labels_;
  std::string level_;  // the required level
  std::int32_t slice_ = 1;
};

TEST(TopologyReplacement, RandomFailures) {
  Failures failures(5);
  failures.run(5000);
  EXPECT_GT(failures.replaced, 1000);
  EXPECT_GT(failures.refused, 500);
}

}  // namespace
}  // namespace berth::engine::replacement_property_test
