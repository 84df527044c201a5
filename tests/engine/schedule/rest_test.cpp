// Random cohorts until nothing moves: trees with borrowing, lending, preemption and fair sharing. And the order in
// which workloads are preempted is total.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>

#include "engine/schedule/house.h"
#include "engine/schedule/protected_words.h"
#include "engine/schedule/world.h"
#include "support/sanitized.h"

namespace berth::engine::rest_test {
namespace {

using api::kueue::ReclaimWithinCohort;
using api::kueue::WithinClusterQueue;
using Keys = std::set<std::string>;

// The seeds of a usual run; BERTH_RANDOM_COHORTS=100000 plays more.
unsigned seeds() {
  const char* wanted = std::getenv("BERTH_RANDOM_COHORTS");
  return wanted != nullptr ? static_cast<unsigned>(std::strtoul(wanted, nullptr, 10)) : 2'000 / testing_support::kFewer;
}

class Cohorts {
 public:
  // `arrival` other than 0: the jobs arrive in another order.
  // `former`: the jobs are where they were there at last, and the scheduler only knows that and their messages.
  explicit Cohorts(unsigned seed, unsigned arrival = 0, const Cohorts* former = nullptr)
      : random_(seed), world_(options(seed)) {
    fair_sharing_ = options(seed).fair_sharing.enabled;
    flavors_ = 1 + pick(2);
    for (int f = 0; f < flavors_; ++f) world_.flavor(name("f", f));
    const std::vector<std::string> parents{"root", "left", "right"};
    for (int c = 0; c < 3; ++c)
      world_.cohort(parents[static_cast<std::size_t>(c)], c == 0 ? "" : "root",
                    chance(40) ? quotas(false) : std::vector<std::pair<std::string, std::vector<QueueSpec::Limit>>>(),
                    name("", pick(3)));
    const int queues = 2 + pick(4);
    for (int q = 0; q < queues; ++q) give_queue(name("q", q), parents[static_cast<std::size_t>(pick(3))]);
    const int jobs = 3 + pick(12);
    for (int j = 0; j < jobs; ++j)
      specs_.push_back({.name = name("w", j),
                        .queue = name("q", pick(queues)),
                        .count = 1 + pick(3),
                        .requests = {{"cpu", name("", 1 + pick(3))}},
                        .priority = pick(3),
                        .second = arrival == 0 ? j + 1 : 1 + pick(3),
                        .min_count = chance(15) ? std::optional(1) : std::nullopt});
    std::mt19937 order(arrival);
    if (arrival != 0) std::ranges::shuffle(specs_, order);
    if (former == nullptr) {
      for (const JobSpec& spec : specs_) world_.job(spec);
    } else {
      start_after(*former);
    }
  }

  // Plays until nothing moves. Victims stop at once and wait again in the same second. Returns false when something
  // still moves after `kMost` rounds.
  bool rests() {
    constexpr int kMost = 1'000;
    for (int round = 0; round < kMost; ++round) {
      bool moved = false;
      Keys victims;
      for (const std::string& text : world_.schedule()) {
        if (text.starts_with("wait ")) messages_[word(text, 5)] = text;
        if (!text.starts_with("wait ")) history.push_back(text);
        moved = moved || !text.starts_with("wait ");
        says_why = says_why || text.find(" could be preempted, but ") != std::string::npos;
        if (!text.starts_with("preempt ")) continue;
        const std::string victim = word(text, 8), preemptor = word(text, text.find(" for ") + 5);
        victims.insert(victim);
        preempted_.emplace(preemptor, victim);
        reverses += preempted_.contains({victim, preemptor}) ? 1 : 0;
      }
      if (!moved) return true;
      repeats += states_.insert(who_holds() + std::to_string(preempted_.size())).second ? 0 : 1;
      for (const std::string& victim : victims) world_.stopped(victim);
    }
    return false;
  }
  // One of those that hold quota ends. Returns false when there is none.
  bool one_ends() {
    std::vector<std::string> holders;
    for (const auto& [name, id] : world_.ids) {
      if (world_.scheduler.holds(id)) holders.push_back(name);
    }
    if (holders.empty()) return false;
    world_.finish(holders[static_cast<std::size_t>(pick(static_cast<int>(holders.size())))]);
    return true;
  }
  std::vector<std::string> history;  // all admissions and preemptions
  // How often the same workloads held quota and were being preempted as once before, and no workload had preempted one
  // for the first time since. After a first time fewer preemptions are left, so that cannot go on.
  int repeats = 0;
  int reverses = 0;       // how often a workload preempted one that had preempted it
  bool says_why = false;  // a message says that a workload does not preempt those that it could
  std::vector<std::string> check() const { return world_.scheduler.check(); }
  std::vector<std::string> check_copy() const { return world_.scheduler.copy().check(); }

  // Whether the first workload that moved had lost, in the former scheduler, to what the head of a StrictFIFO queue
  // reserves. With fair sharing the heads of other queues decide who of the two comes first, even those that never fit;
  // and when a scheduler starts, other workloads are heads.
  bool first_had_lost(const Cohorts& former) const {
    const auto waits = [&](const std::string& queue) { return former.world_.scheduler.pending_count(queue) > 0; };
    if (history.empty() || !fair_sharing_ || std::ranges::none_of(strict_, waits)) return false;
    const std::string& move = history.front();
    const std::size_t preemptor = move.find(" for ");
    const auto reported = former.messages_.find(word(move, preemptor == std::string::npos ? 6 : preemptor + 5));
    return reported != former.messages_.end() &&
           reported->second.ends_with("Workload no longer fits after processing another workload");
  }

  // Those who wait and spare others, and whom.
  std::map<std::string, std::vector<std::string>> spares() const {
    std::map<std::string, std::vector<std::string>> out;
    for (const auto& [name, id] : world_.ids) {
      const auto message = messages_.find(name);
      if (message == messages_.end() || !world_.scheduler.pending(id)) continue;
      if (auto protected_victims = protected_uids(message->second); !protected_victims.empty())
        out[name] = std::move(protected_victims);
    }
    return out;
  }

 private:
  void start_after(const Cohorts& former) {
    const Scheduler& before = former.world_.scheduler;
    for (const auto& [name, id] : former.world_.ids) {
      world_.specs[name] = former.world_.specs.at(name);
      if (before.holds(id)) {
        world_.scheduler.hold(world_.id(name), former.world_.holding(name, false));
        world_.reserved_at[name] = former.world_.reserved_at.at(name);
      } else {
        world_.submit(name, world_.specs[name]);
      }
    }
    for (const auto& [name, protected_victims] : former.spares()) {
      std::vector<WorkloadId> ids;
      for (const std::string& uid : protected_victims) {
        if (world_.ids.contains(uid)) ids.push_back(world_.ids.at(uid));
      }
      world_.scheduler.recall_protected(world_.ids.at(name), ids);
    }
  }
  static SchedulerOptions options(unsigned seed) {
    SchedulerOptions out;
    out.fair_sharing.enabled = seed % 2 == 0;
    out.fair_sharing.prioritize_non_borrowing = seed % 6 != 0;
    return out;
  }
  static std::string name(const std::string& prefix, int number) { return prefix + std::to_string(number); }
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool chance(int percent) { return pick(100) < percent; }

  QueueSpec::Limit limit(bool limits) {
    return {"cpu", name("", pick(7)), limits && chance(30) ? name("", pick(4)) : "",
            limits && chance(30) ? name("", pick(4)) : ""};
  }
  std::vector<std::pair<std::string, std::vector<QueueSpec::Limit>>> quotas(bool limits) {
    std::vector<std::pair<std::string, std::vector<QueueSpec::Limit>>> out;
    for (int f = 0; f < flavors_; ++f) out.push_back({name("f", f), {limit(limits)}});
    return out;
  }
  void give_queue(const std::string& queue, const std::string& cohort) {
    QueueSpec spec(queue);
    spec.in(cohort).weighs(name("", pick(3)));
    for (const auto& [flavor, limits] : quotas(true)) spec.flavor(flavor, limits);
    if (chance(30)) {
      spec.strict();
      strict_.insert(queue);
    }
    if (chance(50))
      spec.within(chance(50) ? WithinClusterQueue::kLowerPriority : WithinClusterQueue::kLowerOrNewerEqualPriority);
    if (chance(60)) spec.reclaim(chance(50) ? ReclaimWithinCohort::kAny : ReclaimWithinCohort::kLowerPriority);
    if (chance(20)) spec.borrow_preempting(chance(50) ? std::optional(1) : std::nullopt);
    world_.queue(spec);
  }

  std::string who_holds() const {
    std::string out;
    for (const auto& [name, id] : world_.ids) {
      if (world_.scheduler.holds(id)) out += name + ' ';
    }
    for (const Decision& decision : world_.last) {
      if (const auto* preempt = std::get_if<Preempt>(&decision))
        out += world_.names.at(preempt->target) + '<' + world_.names.at(preempt->preemptor) + ' ';
    }
    return out;
  }
  static std::string word(const std::string& text, std::size_t begin) {
    return text.substr(begin, text.find(' ', begin) - begin);
  }

  std::mt19937 random_;
  World world_;
  std::set<std::pair<std::string, std::string>> preempted_;  // preemptor, victim
  Keys states_, strict_;
  std::vector<JobSpec> specs_;
  std::map<std::string, std::string> messages_;  // the last one to each job
  int flavors_ = 1;
  bool fair_sharing_ = false;
};

struct Tally {
  int reverses_later = 0;
  bool says_why = false;
  std::size_t spare = 0;
};

// Without any back-off, preemption comes to an end, no state comes back, and then nobody is parked who may be admitted
// or may preempt. As long as no workload ends, none preempts its own preemptor. Afterwards that is allowed again.
void come_to_rest(unsigned seed, Tally& tally) {
  SCOPED_TRACE(seed);
  Cohorts cohorts(seed);
  EXPECT_TRUE(cohorts.rests());
  EXPECT_EQ(cohorts.reverses, 0);
  EXPECT_EQ(cohorts.repeats, 0);
  EXPECT_EQ(cohorts.check(), std::vector<std::string>());
  EXPECT_EQ(cohorts.check_copy(), std::vector<std::string>());
  for (int ends = 0; ends < 3 && cohorts.one_ends(); ++ends) {
    EXPECT_TRUE(cohorts.rests());
    EXPECT_EQ(cohorts.check(), std::vector<std::string>());
  }
  tally.reverses_later += cohorts.reverses;
  tally.says_why = tally.says_why || cohorts.says_why;
}

// What is at rest stays so when another scheduler starts on it, and a third one after that: they have only the messages
// to know who spares whom.
void start_others(unsigned seed, Tally& tally) {
  SCOPED_TRACE(seed);
  Cohorts cohorts(seed);
  for (int ends = 0; ends < 4; ++ends) {
    ASSERT_TRUE(cohorts.rests());
    Cohorts other(seed, 0, &cohorts);
    EXPECT_TRUE(other.rests());
    EXPECT_EQ(other.check(), std::vector<std::string>());
    Cohorts third(seed, 0, &other);
    EXPECT_TRUE(third.rests());
    if (!other.first_had_lost(cohorts)) EXPECT_EQ(other.history, std::vector<std::string>());
    if (!third.first_had_lost(other)) EXPECT_EQ(third.history, std::vector<std::string>());
    tally.spare += cohorts.spares().size();
    if (!cohorts.one_ends()) break;
  }
}

TEST(Rest, RandomCohortsComeToRest) {
  Tally tally;
  for (unsigned seed = 1; seed <= seeds() && !HasFailure(); ++seed) come_to_rest(seed, tally);
  if (seeds() < 2'000) return;
  EXPECT_GT(tally.reverses_later, 0);
  EXPECT_TRUE(tally.says_why);
}

TEST(Rest, AnotherSchedulerChangesNothing) {
  Tally tally;
  for (unsigned seed = 1; seed <= seeds() && !HasFailure(); ++seed) start_others(seed, tally);
  if (seeds() < 2'000) return;
  EXPECT_GT(tally.spare, 0u);
}

// Seeds beyond those above that once did not pass. 18972: a workload preempted the same one twice, and was admitted and
// preempted between that. 8456: a preemptor that found nothing any more, at the head of a StrictFIFO queue, reserved
// quota before its victim got a turn. 14382: see first_had_lost().
TEST(Rest, CohortsOfOncePass) {
  Tally tally;
  for (const unsigned seed : {8456U, 14382U, 18972U}) {
    come_to_rest(seed, tally);
    start_others(seed, tally);
  }
}

// The orders of pending workloads, of a cycle's entries and of victims are total: many workloads are equal up to their
// UID, and the order in which they arrive decides nothing.
TEST(Rest, DecisionsDoNotDependOnTheOrderOfArrival) {
  for (unsigned seed = 1; seed <= 500 / testing_support::kFewer; ++seed) {
    SCOPED_TRACE(seed);
    Cohorts one(seed, 1), other(seed, 2);
    EXPECT_TRUE(one.rests());
    EXPECT_TRUE(other.rests());
    EXPECT_EQ(one.history, other.history);
    if (HasFailure()) return;
  }
}

// Irreflexive, one of two, transitive: over all triples of keys that often share values.
TEST(Rest, TheOrderOfPreemptionIsTotal) {
  House house;
  const QuotaNodeId queue = house.queue("q", "", 100);
  std::mt19937 random(1);
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::vector<HolderKey> keys;
  for (int i = 0; i < 60; ++i) {
    const WorkloadId id = house.runs(queue, 1, pick(3), pick(3));
    const Slot& slot = house.slots[id];
    keys.push_back({pick(2) == 0, {}, slot.priority, slot.reserved_at, id});
  }
  const auto less = [&](const HolderKey& a, const HolderKey& b) { return earlier_candidate(a, b, house.slots); };
  for (const auto& a : keys) {
    EXPECT_FALSE(less(a, a));
    for (const auto& b : keys) {
      if (a.workload == b.workload) continue;
      EXPECT_NE(less(a, b), less(b, a));
      for (const auto& c : keys) EXPECT_TRUE(!less(a, b) || !less(b, c) || less(a, c));
    }
  }
}

}  // namespace
}  // namespace berth::engine::rest_test
