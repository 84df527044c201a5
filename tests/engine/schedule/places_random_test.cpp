// Topologies with random events: no parked workload could be admitted, no node is overcommitted, required domains
// hold, and the same events give the same decisions.
#include <gtest/gtest.h>

#include <random>

#include "hall.h"
#include "support/sanitized.h"

namespace berth::engine::places_random_test {
namespace {

using api::kueue::ReclaimWithinCohort;
using api::kueue::WithinClusterQueue;

constexpr int kQueues = 4, kRacks = 3, kNodes = 2, kCpu = 4;
constexpr std::size_t kMaxWorkloads = 16;

class HallLife {
 public:
  explicit HallLife(unsigned seed) : random_(seed), hall_(kRacks, kNodes, std::to_string(kCpu)) {
    hall_.topology_flavor("g");
    hall_.flavor("plain");
    api::kueue::ResourceFlavor all;  // the same nodes as f and g together
    all.meta.name = "all";
    all.topology_name = "t";
    hall_.scheduler.set_flavor(all);
    for (int i = 1; i <= kNodes; ++i) hall_.node(kRacks + 1, i, std::to_string(kCpu), true, "g");
    for (int i = 0; i < kQueues; ++i) configure(i);
  }

  void step() {
    switch (pick(0, 15)) {
      case 0:
        return configure(pick(0, kQueues - 1));
      case 1:
      case 2:
        return flip_node();
      case 3:
        return add_pod();
      case 4:
        return remove_pod();
      case 5:
        return hall_.topology(
            "t", pick(0, 2) > 0 ? std::vector<std::string>{"rack", kHost} : std::vector<std::string>{kHost});
      case 6:
      case 7:
      case 8:
      case 9:
      case 10:
        return submit();
      case 11:
      case 12:
        return finish();
      case 13:
        return stop();
      case 14:
        return write();
      default:
        return second_pass();
    }
  }
  void pass() {
    for (const std::string& each : hall_.schedule()) log += each + "\n";
    for (const Decision& decision : hall_.last) {
      if (const auto* admit = std::get_if<Admit>(&decision)) {
        const std::string& name = hall_.names.at(admit->workload);
        admissions_[name] = hall_.scheduler.admission(*admit);
        for (const auto& each : admissions_[name].pod_set_assignments) {
          log += each.topology_assignment == nullptr ? "  -\n" : "  " + Hall::text(*each.topology_assignment) + "\n";
        }
      } else if (const auto* preempt = std::get_if<Preempt>(&decision)) {
        evicted_.push_back(hall_.names.at(preempt->target));
      }
    }
  }
  std::vector<std::string> check() {
    std::vector<std::string> broken = hall_.scheduler.check();
    std::map<std::string, int> used;
    for (const auto& [name, id] : hall_.ids) {
      for (const StatedPlaces& places : hall_.scheduler.held_places(id)) add_places(name, places, used, broken);
    }
    for (const auto& [node, cpu] : used) {
      if (cpu > kCpu) broken.push_back("node " + node + " is given away twice");
    }
    return broken;
  }
  std::string log;

 private:
  int pick(int low, int high) { return low + static_cast<int>(random_() % static_cast<unsigned>(high - low + 1)); }

  void configure(int i) {
    QueueSpec spec("q" + std::to_string(i));
    if (pick(0, 2) > 0) spec.in("team");
    std::vector<std::string> delayed;
    const int first = pick(0, 3);
    for (int f = first; f <= std::min(3, first + pick(0, 1)); ++f) {
      const char* name = std::array{"f", "g", "all", "plain"}[static_cast<std::size_t>(f)];
      spec.flavor(name, {{"cpu", std::to_string(pick(2, 14))}});
      if (pick(0, 5) == 0) delayed.push_back(name);
    }
    if (pick(0, 3) == 0) spec.strict();
    spec.within(static_cast<WithinClusterQueue>(pick(0, 2))).reclaim(static_cast<ReclaimWithinCohort>(pick(0, 2)));
    hall_.queue(spec, delayed);
  }
  void flip_node() {
    const int rack = pick(1, kRacks + 1), i = pick(1, kNodes);
    hall_.node(rack, i, std::to_string(kCpu), pick(0, 3) > 0, rack > kRacks ? "g" : "f");
  }
  // A pod of no workload, or a leftover of a workload on one of its nodes.
  void add_pod() {
    const std::string name = "pod" + std::to_string(next_++);
    hall_.pod(name, Hall::node_name(pick(1, kRacks), pick(1, kNodes)), std::to_string(pick(1, 2)));
    pods_.push_back(name);
  }
  void remove_pod() {
    if (pods_.empty()) return;
    const auto at = static_cast<std::size_t>(pick(0, static_cast<int>(pods_.size()) - 1));
    hall_.scheduler.remove_pod(pods_[at]);
    pods_.erase(pods_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  std::optional<api::kueue::TopologyRequest> some_request() {
    switch (pick(0, 5)) {
      case 0:
        return required("rack");
      case 1:
        return required(kHost);
      case 2:
        return preferred("rack");
      case 3:
        return unconstrained();
      case 4: {
        auto request = required("rack");
        request.slice_required_topology = kHost;
        request.slice_size = 2;
        return request;
      }
      default:
        return std::nullopt;
    }
  }
  void submit() {
    if (hall_.ids.size() >= kMaxWorkloads) return;
    JobSpec job{.name = "w" + std::to_string(next_++), .queue = "q" + std::to_string(pick(0, kQueues - 1))};
    job.count = pick(1, 6);
    job.priority = pick(0, 2);
    job.topology = some_request();
    if (pick(0, 4) == 0) job.min_count = pick(1, job.count);
    Pending pending = World::pending(job, next_);
    if (pick(0, 3) == 0) {
      pending.pod_sets.push_back(pending.pod_sets[0]);
      pending.pod_sets[1].name = "more";
      pending.pod_sets[1].count = 1;
      pending.pod_sets[1].min_count.reset();
      if (pending.pod_sets[0].topology && pick(0, 1) == 0) pending.pod_sets[0].group = pending.pod_sets[1].group = "g";
    }
    hall_.submit(job.name, pending);
  }
  std::string anybody() {
    if (hall_.ids.empty()) return "";
    return std::next(hall_.ids.begin(), pick(0, static_cast<int>(hall_.ids.size()) - 1))->first;
  }
  void finish() {
    const std::string name = anybody();
    if (name.empty()) return;
    std::erase(evicted_, name);
    admissions_.erase(name);
    hall_.finish(name);
  }
  void stop() {
    if (evicted_.empty()) return;
    const std::string name = evicted_.front();
    evicted_.erase(evicted_.begin());
    admissions_.erase(name);
    hall_.stopped(name);
  }
  // Holds the admission as the API states it: this changes nothing.
  void write() {
    const std::string name = anybody();
    if (admissions_.contains(name)) write_of(name);
  }
  void second_pass() {
    const std::string name = anybody();
    if (!admissions_.contains(name)) return;
    Admission& admission = admissions_.at(name);
    const auto result =
        hall_.scheduler.second_pass({hall_.id(name), hall_.specs.at(name).pod_sets, &admission, {}}, at_second(next_));
    log += name + " second pass: " + (result.ok() ? "ok" : result.message) + "\n";
    for (const Decision& each : result.preemptions) evicted_.push_back(hall_.names.at(std::get<Preempt>(each).target));
    for (std::size_t i = 0; i < result.assignments.size(); ++i) {
      if (result.assignments[i] != nullptr)
        admission.pod_set_assignments[i].topology_assignment = result.assignments[i];
    }
    if (result.ok()) write_of(name);
  }
  void write_of(const std::string& name) {
    const Admission& admission = admissions_.at(name);
    const Pending& pending = hall_.specs.at(name);
    Holding holding;
    holding.cluster_queue = admission.cluster_queue;
    holding.priority = pending.priority;
    holding.queued_at = holding.reserved_at = pending.queued_at;
    holding.evicted = std::find(evicted_.begin(), evicted_.end(), name) != evicted_.end();
    holding.amounts = holding_amounts(admission, {});
    for (std::size_t i = 0; i < pending.pod_sets.size(); ++i) {
      const auto& assigned = admission.pod_set_assignments[i];
      if (assigned.topology_assignment == nullptr) continue;
      holding.places.push_back({assigned.flavors.at("cpu"), pending.pod_sets[i].per_pod, assigned.topology_assignment});
    }
    hall_.scheduler.hold(hall_.id(name), holding);
  }

  void add_places(const std::string& name, const StatedPlaces& places, std::map<std::string, int>& used,
                  std::vector<std::string>& broken) {
    std::set<std::string> racks;
    for (const auto& domain : places.assignment->domains) {
      used[domain.values.back()] += domain.count;
      racks.insert(domain.values.back().substr(0, 2));
    }
    const auto& request = hall_.specs.at(name).pod_sets[0].topology;
    if (request && request->required && racks.size() > 1) broken.push_back(name + " is in more than one rack");
  }

  using Admission = api::kueue::Admission;
  std::mt19937 random_;
  Hall hall_;
  std::map<std::string, Admission> admissions_;
  std::vector<std::string> evicted_, pods_;
  int next_ = 0;
};

TEST(PlacesProperty, NobodySleepsWhoCouldBeLetInAndNoPlaceIsGivenTwice) {
  constexpr unsigned kLives = 250 / testing_support::kFewer;
  constexpr int kSteps = 80;
  for (unsigned seed = 0; seed < kLives; ++seed) {
    HallLife life(seed);
    for (int i = 0; i < kSteps; ++i) {
      life.step();
      if (i % 3 != 0) life.pass();
      const auto broken = life.check();
      ASSERT_TRUE(broken.empty()) << "seed " << seed << " step " << i << ": " << broken.front() << "\n" << life.log;
    }
  }
}

TEST(PlacesProperty, TheSameLifeGivesTheSameDecisions) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    HallLife one(seed), two(seed);
    for (int i = 0; i < 80; ++i) {
      one.step(), one.pass();
      two.step(), two.pass();
    }
    ASSERT_EQ(one.log, two.log) << "seed " << seed;
    ASSERT_NE(one.log.find("  r"), std::string::npos) << "nobody was placed";
  }
}

}  // namespace
}  // namespace berth::engine::places_random_test
