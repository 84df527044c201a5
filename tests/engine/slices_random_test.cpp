// Random elastic jobs beside others: after a job has grown by the difference or shrunk in place, quota is used as if it
// had been evicted and admitted anew with its new size, where both fit. BERTH_ELASTIC_WORLDS=100000 plays more worlds.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "engine/support/one_queue.h"
#include "engine/support/slices.h"
#include "support/sanitized.h"

namespace berth::engine::slices_random_test {
namespace {

using test::ClusterQueueBuilder;
using test::FlavorSpec;
using test::Scenario;
using test::Workload;
using test::WorkloadBuilder;

using Sizes = std::vector<int>;  // pods of each pod set of the elastic job

unsigned worlds() {
  const char* wanted = std::getenv("BERTH_ELASTIC_WORLDS");
  return wanted != nullptr ? static_cast<unsigned>(std::strtoul(wanted, nullptr, 10)) : 3'000 / testing_support::kFewer;
}

// What the seed decides, so that two worlds can begin alike.
struct Plan {
  explicit Plan(unsigned seed) : random(seed) {
    options.fair_sharing.enabled = chance(30);
    const int flavors = chance(60) ? 1 : 2 + pick(2);
    for (int f = 0; f < flavors; ++f) flavor_names.push_back("f" + std::to_string(f));
    const int count = 1 + pick(3);
    for (int q = 0; q < count; ++q) queues.push_back(queue(q));
    const int fillers = 2 + pick(7);
    for (int i = 0; i < fillers; ++i)
      others.push_back(WorkloadBuilder("other" + std::to_string(i), "q" + std::to_string(pick(count)))
                           .pods(1 + pick(3), std::to_string(1 + pick(2)))
                           .priority(pick(4) - 3)
                           .created(test::at(i)));
    home = "q" + std::to_string(pick(count));
    const int sets = 1 + pick(2);
    for (int i = 0; i < sets; ++i) cpus.push_back(std::to_string(1 + pick(2)));
    const int changes = 2 + pick(4);
    for (int i = 0; i <= changes; ++i) {
      Sizes size;
      for (int j = 0; j < sets; ++j) size.push_back(i == 0 ? 1 + pick(3) : pick(7));
      sizes.push_back(size);
      ending.push_back(chance(25) ? pick(9) : -1);
      trouble.push_back(chance(25));
    }
  }

  ClusterQueueBuilder queue(int number) {
    ClusterQueueBuilder out("cq" + std::to_string(number));
    std::vector<FlavorSpec> limits;
    for (const auto& name : flavor_names) {
      FlavorSpec limit{name, std::to_string(2 + pick(11))};
      if (chance(20)) limit.borrowing_limit = std::to_string(pick(6));
      if (chance(20)) limit.lending_limit = std::to_string(pick(4));
      limits.push_back(limit);
    }
    out.cpu(limits).cohort("all");
    if (chance(60)) out.preempt_lower();
    if (chance(60)) out.reclaim_any();
    if (chance(20)) out.strict();
    return out;
  }

  bool chance(unsigned percent) { return random() % 100 < percent; }
  int pick(int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }

  std::mt19937 random;
  Options options;
  std::vector<std::string> flavor_names, cpus;  // cpus: of a pod of each pod set
  std::vector<ClusterQueueBuilder> queues;
  std::vector<Workload> others;
  std::string home;
  std::vector<Sizes> sizes;   // the first one is that of its creation
  std::vector<int> ending;    // of the others: which one ends before the change; -1: none
  std::vector<bool> trouble;  // some writes of the change fail
};

class Play {
 public:
  explicit Play(Plan plan) : plan_(std::move(plan)), s_(plan_.options) {
    for (const auto& name : plan_.flavor_names) s_.give(test::flavor(name));
    for (std::size_t q = 0; q < plan_.queues.size(); ++q) {
      s_.give(plan_.queues[q]);
      s_.give(test::local_queue("q" + std::to_string(q), "cq" + std::to_string(q)));
    }
    for (const auto& other : plan_.others) s_.give(other);
    s_.run();
    s_.give(job("a", plan_.sizes[0]));
    s_.run();
    clear();
  }

  // Those that wait would take what an eviction sets free.
  void clear() {
    for (const auto& name : s_.names()) {
      const std::string state = s_.state(name);
      if (state == "Finished" || (state == "Pending" && name != now_)) s_.remove(name);
    }
    s_.run();
  }

  void end_of_another(std::size_t change) {
    const std::string name = "other" + std::to_string(plan_.ending[change]);
    const auto names = s_.names();
    if (plan_.ending[change] >= 0 && std::ranges::find(names, name) != names.end()) s_.remove(name);
    s_.run();
  }

  // As an elastic job changes its size.
  void scale(std::size_t change) {
    const Sizes& to = plan_.sizes[change];
    const Workload& w = s_.workload(now_);
    bool grows = false;
    for (std::size_t i = 0; i < to.size(); ++i) grows = grows || to[i] > w.pod_sets[i].count;
    if (plan_.trouble[change]) fail_some();
    if (grows && s_.state(now_) == "Admitted") {
      Workload next = job(next_name(), to);
      s_.give(test::as_slice(std::move(next), now_));
      former_ = std::exchange(now_, next_name());
    } else {
      resize(to);
    }
    settle();
  }

  // As a job that is not elastic changes its size.
  void start_anew(std::size_t change) {
    if (s_.state(now_) == "Admitted") {
      s_.change(now_, [](Workload& w) { w.active = false; }, true);
      s_.run();
      s_.remove(now_);
      s_.run();
      now_ = next_name();
      s_.give(job(now_, plan_.sizes[change]));
    } else {
      resize(plan_.sizes[change]);
    }
    settle();
  }

  bool has_preempted() const { return preempts_; }
  bool runs() const { return s_.state(now_) == "Admitted"; }

  // The flavors of the job's pod sets.
  std::vector<std::string> flavors() const {
    std::vector<std::string> out;
    for (const auto& each : s_.workload(now_).status.admission->pod_set_assignments)
      out.push_back(each.flavors.contains("cpu") ? each.flavors.at("cpu") : "");
    return out;
  }

  // Which of the others run, and what each queue uses.
  std::string ledger() const {
    std::string out;
    for (const auto& name : s_.names()) {
      if (name.starts_with("other") && s_.state(name) != "Pending") out += name + " " + s_.state(name) + "; ";
    }
    for (std::size_t q = 0; q < plan_.queues.size(); ++q)
      out += test::totals(s_.cluster_queue("cq" + std::to_string(q)).reservation) + " | ";
    return out;
  }

  // The slice that was replaced is finished, and holds nothing.
  bool former_is_over() const {
    const auto names = s_.names();
    return former_.empty() || std::ranges::find(names, former_) == names.end() || s_.state(former_) == "Finished";
  }
  const Plan& plan() const { return plan_; }

 private:
  Workload job(const std::string& name, const Sizes& size) const {
    Workload w = WorkloadBuilder(name, plan_.home).created(s_.now());
    w.pod_sets.clear();
    for (std::size_t i = 0; i < size.size(); ++i) {
      api::kueue::PodSet& pod_set = w.pod_sets.emplace_back();
      pod_set.name = i == 0 ? "main" : "more";
      pod_set.count = size[i];
      pod_set.template_ = test::pod_template(R"({"cpu":")" + plan_.cpus[i] + R"("})");
    }
    return test::as_slice(std::move(w), "");
  }

  std::string next_name() const { return now_ + "a"; }

  void resize(const Sizes& to) {
    s_.change(
        now_,
        [&](Workload& w) {
          for (std::size_t i = 0; i < to.size(); ++i) w.pod_sets[i].count = to[i];
        },
        true);
  }

  void fail_some() {
    s_.failed_writes_happen = plan_.chance(50);
    s_.outcome_of_write = [this](const std::string&) {
      if (!plan_.chance(40)) return Scenario::Outcome::kDone;
      return plan_.chance(50) ? Scenario::Outcome::kConflict : Scenario::Outcome::kFailed;
    };
    for (int i = 0; i < 4; ++i) s_.run_once();
    if (plan_.chance(30)) s_.restart();
    if (plan_.chance(30)) s_.copy();
    s_.outcome_of_write = {};
  }

  void settle() {
    s_.take_events();
    preempts_ = false;
    s_.pass(300);
    for (const auto& event : s_.take_events()) preempts_ = preempts_ || event.find(" Normal Preempted: ") != event.npos;
  }

  Plan plan_;
  Scenario s_;
  std::string now_ = "a", former_;
  bool preempts_ = false;
};

struct Tally {
  unsigned grown = 0, shrunk = 0, waited = 0, preempted = 0, moved = 0;
};

void play(unsigned seed, Tally& tally) {
  Play slices{Plan(seed)}, anew{Plan(seed)};
  ASSERT_EQ(slices.ledger(), anew.ledger());
  if (!slices.runs()) return;
  for (std::size_t change = 1; change < slices.plan().sizes.size(); ++change) {
    const Sizes &from = slices.plan().sizes[change - 1], &to = slices.plan().sizes[change];
    SCOPED_TRACE(fmt::format("change {} to {}", change, fmt::join(to, "+")));
    for (Play* each : {&slices, &anew}) each->end_of_another(change);
    const auto kept = slices.runs() ? slices.flavors() : std::vector<std::string>();
    slices.scale(change);
    anew.start_anew(change);
    ASSERT_TRUE(anew.runs() || !slices.runs()) << slices.ledger() << "\n" << anew.ledger();
    // Slices keep their flavors. A fresh admission may get the same ones by a preemption in others.
    const bool moves = anew.runs() && !kept.empty() && anew.flavors() != kept;
    if (moves || (slices.plan().flavor_names.size() > 1 && anew.has_preempted())) {
      ++tally.moved;
      return;
    }
    ASSERT_EQ(slices.runs(), anew.runs()) << slices.ledger() << "\n" << anew.ledger();
    if (!slices.runs()) {
      ++tally.waited;
      return;
    }
    tally.preempted += slices.has_preempted();
    EXPECT_TRUE(slices.former_is_over());
    ASSERT_EQ(slices.ledger(), anew.ledger());
    ++(std::ranges::equal(from, to, std::greater_equal<>()) ? tally.shrunk : tally.grown);
    for (Play* each : {&slices, &anew}) each->clear();
  }
}

class RandomSlices : public testing::TestWithParam<unsigned> {};
constexpr unsigned kParts = 4;

TEST_P(RandomSlices, UseWhatAFreshAdmissionWouldUse) {
  Tally tally;
  const unsigned count = worlds() / kParts;
  for (unsigned i = 0; i < count && !testing::Test::HasFailure(); ++i) {
    const unsigned seed = 1 + GetParam() * count + i;
    SCOPED_TRACE(seed);
    play(seed, tally);
  }
  // The stories are worth it.
  EXPECT_GT(tally.grown, count / 5);
  EXPECT_GT(tally.shrunk, count / 20);
  EXPECT_GT(tally.waited, count / 20);
  EXPECT_GT(tally.preempted, count / 100);
  RecordProperty("grown", static_cast<int>(tally.grown));
  RecordProperty("shrunk", static_cast<int>(tally.shrunk));
  RecordProperty("waited", static_cast<int>(tally.waited));
  RecordProperty("preempted", static_cast<int>(tally.preempted));
  RecordProperty("moved", static_cast<int>(tally.moved));
}

INSTANTIATE_TEST_SUITE_P(Part, RandomSlices, testing::Range(0U, kParts));

}  // namespace
}  // namespace berth::engine::slices_random_test
