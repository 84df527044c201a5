#include "engine/explain/predict.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "api/meta.h"
#include "engine/explain/rehearsal.h"
#include "engine/lifecycle/state.h"

namespace berth::engine {
namespace {

using api::kueue::Workload;
using api::kueue::WorkloadRef;
using lifecycle::State;

constexpr std::size_t kNamed = 5;  // workloads with an unknown end

// The most that a workload may run from its admission on; nullopt: there is no limit. Pods have deadlines, too.
std::optional<Duration> limit_of(const WorkloadRef& w, std::string_view& what) {
  std::optional<Duration> most;
  if (w.maximum_execution_time_seconds) {
    const std::int64_t past = w.status.accumulated_past_execution_time_seconds.value_or(0);
    most = std::chrono::seconds(std::max<std::int64_t>(0, *w.maximum_execution_time_seconds - past));
    what = "its maximum execution time";
  }
  std::int64_t deadline = 0;
  for (const auto& pod_set : w.pod_sets) {
    const std::int64_t seconds =
        pod_set.template_ ? int_at(*pod_set.template_, {"spec", "activeDeadlineSeconds"}, 0) : 0;
    if (seconds <= 0) return most;
    deadline = std::max(deadline, seconds);
  }
  constexpr std::int64_t kMost = 1'000'000'000;
  if (deadline > 0 && (!most || std::chrono::seconds(std::min(deadline, kMost)) < *most)) {
    most = std::chrono::seconds(std::min(deadline, kMost));
    what = "the deadline of its pods";
  }
  return most;
}

constexpr std::string_view kAsLongAgain =
    "assumed to run for as long again: it already runs longer than all similar workloads";

std::string_view words_of(RunGroup group) {
  switch (group) {
    case RunGroup::kShape:
      return "finished workloads of the same LocalQueue, kind and requests";
    case RunGroup::kKind:
      return "finished workloads of the same LocalQueue and kind";
    case RunGroup::kLocalQueue:
      return "finished workloads of the same LocalQueue";
    case RunGroup::kAll:
      break;
  }
  return "all finished workloads";
}

// How long workloads run, in each of the futures.
class RunTimes {
 public:
  RunTimes(const RunHistory& history, int draws) : history_(history), draws_(static_cast<std::uint64_t>(draws)) {}

  struct Drawn {
    std::optional<Duration> time;  // from the admission on; nullopt: nothing is known
    std::string_view basis;
  };
  // `elapsed`: since its admission. The times of one workload in all futures together are spread as those of the
  // history; different workloads do not run long in the same futures.
  Drawn draw(const WorkloadRef& w, Duration elapsed, int future) {
    Drawn out;
    const auto most = limit_of(w, out.basis);
    const auto& known = times_of(w);
    const auto first = std::ranges::upper_bound(known.sorted, elapsed);
    if (first != known.sorted.end()) {
      const auto capped = [&](Duration t) { return most ? std::min(t, *most) : t; };
      const auto count = static_cast<std::uint64_t>(known.sorted.end() - first);
      const auto at = static_cast<std::ptrdiff_t>(stratum(w.meta.uid, future) * count / draws_);
      varied = varied || capped(*first) != capped(known.sorted.back());
      if (!most || capped(*first) != *most) out.basis = words_of(known.group);
      out.time = capped(first[at]);
    } else if (most) {
      out.time = *most;
    } else if (!known.sorted.empty()) {
      out.time = 2 * elapsed;
      out.basis = kAsLongAgain;
    }
    return out;
  }

  bool varied = false;  // a time differs between the futures

 private:
  const RunHistory::Times& times_of(const WorkloadRef& w) {
    const auto [it, fresh] = known_.try_emplace(w.meta.uid);
    if (fresh) it->second = history_.times_of(w);
    return it->second;
  }

  // A permutation of the futures for each workload.
  std::uint64_t stratum(const std::string& uid, int future) const {
    if (draws_ < 2) return 0;
    const std::uint64_t number = spread(uid), step = 1 + number % (draws_ - 1);
    return (step * static_cast<std::uint64_t>(future) + (number >> 32) % draws_) % draws_;
  }

  const RunHistory& history_;
  const std::uint64_t draws_;
  std::map<std::string, RunHistory::Times> known_;  // by UID
};

// What is asked, and what was found so far.
struct Asked {
  std::vector<Prediction> answers;
  std::map<std::string, std::size_t> by_key;
  std::vector<std::vector<Time>> starts;  // of each answer, one per future in which it started
  std::set<std::string> trees;            // the trees of cohorts of the workloads; empty: all matter
};

// The tree of cohorts of a cluster queue.
std::string tree_of(const Engine& engine, const std::string& cluster_queue) {
  const auto above = engine.cohorts_above(cluster_queue);
  return above.empty() ? "queue " + cluster_queue : "cohort " + above.back();
}

// One future.
class Future {
 public:
  Future(const Engine& engine, Time now, RunTimes& times, Asked& asked, int number)
      : play_(engine, now), times_(times), asked_(asked), number_(number), started_(asked.answers.size()) {}

  // Returns false when it stopped at a limit.
  bool run(std::size_t& steps, Time horizon) {
    for (const auto& w : play_.workloads()) consider(*w, true);
    for (const auto& answer : asked_.answers) open_ += answer.found && !answer.admitted ? 1 : 0;
    if (!settle(steps)) return false;
    while (open_ > 0) {
      auto next = play_.next_timer();
      if (next && *next <= play_.now()) next = play_.now() + std::chrono::seconds(1);
      if (!ends_.empty() && (!next || ends_.begin()->first < *next)) next = ends_.begin()->first;
      if (!next) return true;  // nothing more will happen
      if (steps == 0) return false;
      past_horizon_ = *next > horizon;
      if (past_horizon_) return false;
      --steps;
      while (!ends_.empty() && ends_.begin()->first <= *next) {
        due_.push_back(ends_.begin()->second);
        ends_.erase(ends_.begin());
      }
      play_.advance(*next);
      for (const std::string& key : std::exchange(due_, {})) {
        running_.erase(key);
        play_.finish(key);
        if (steps > 0) --steps;
      }
      if (!settle(steps)) return false;
    }
    return true;
  }

  const std::vector<std::optional<Time>>& started() const { return started_; }
  const std::map<std::string, std::string_view>& bases() const { return bases_; }
  const std::set<std::string>& unknown() const { return unknown_; }
  bool past_horizon() const { return past_horizon_; }  // workloads that are asked about still wait there

 private:
  bool settle(std::size_t& steps) {
    do {
      if (!play_.settle()) return false;
      answered_ = false;
      for (const auto& w : play_.moved()) {
        consider(*w, false);
        if (steps > 0) --steps;
      }
    } while (answered_);
    return true;
  }

  void consider(const WorkloadRef& w, bool first) {
    const std::string key = api::object_key(w.meta);
    const State state = lifecycle::state_of(w);
    if (state != State::kAdmitted) forget(key);
    if (state == State::kReserved) answer_checks(w);
    if (state == State::kAdmitted) begin(key, w, first);
  }

  void forget(const std::string& key) {
    const auto it = running_.find(key);
    if (it != running_.end()) {
      ends_.erase({it->second, key});
      running_.erase(it);
    }
    unknown_.erase(key);
  }

  void begin(const std::string& key, const WorkloadRef& w, bool first) {
    const auto asked = asked_.by_key.find(key);
    if (!first && asked != asked_.by_key.end() && !started_[asked->second] && !asked_.answers[asked->second].admitted) {
      started_[asked->second] = play_.now();
      --open_;
    }
    if (!api::is_true(w.status.conditions, api::kueue::kPodsReady)) {
      api::kueue::JobReport ready;
      ready.pods_ready = true;
      ready.workload_version = w.meta.resource_version;
      play_.feed(JobReported{w.meta.ns, w.meta.name, std::move(ready)});
      answered_ = true;
    }
    if (!matters(w) || running_.contains(key)) return;
    const auto* admitted = api::find_condition(w.status.conditions, api::kueue::kAdmitted);
    const Time began = first && admitted != nullptr ? std::min(admitted->last_transition, play_.now()) : play_.now();
    const auto drawn = times_.draw(w, play_.now() - began, number_);
    if (!drawn.time) {
      unknown_.insert(key);
      return;
    }
    bases_.try_emplace(key, drawn.basis);
    const Time end = std::max(play_.now(), began + *drawn.time);
    running_[key] = end;
    ends_.emplace(end, key);
  }

  bool matters(const WorkloadRef& w) {
    if (asked_.trees.empty() || !w.status.admission) return true;
    const std::string& queue = w.status.admission->cluster_queue;
    auto it = tree_of_.find(queue);
    if (it == tree_of_.end()) it = tree_of_.emplace(queue, tree_of(play_.engine(), queue)).first;
    return asked_.trees.contains(it->second);
  }

  void answer_checks(const WorkloadRef& w) {
    for (auto check : w.status.admission_checks) {
      if (check.state != api::kueue::CheckState::kPending) continue;
      check.state = api::kueue::CheckState::kReady;
      play_.feed(CheckReported{w.meta.ns, w.meta.name, std::move(check)});
      answered_ = true;
    }
  }

  Rehearsal play_;
  RunTimes& times_;
  const Asked& asked_;
  const int number_;
  std::vector<std::optional<Time>> started_;  // by answer
  std::size_t open_ = 0;                      // answers that have not started
  bool answered_ = false, past_horizon_ = false;
  std::map<std::string, Time> running_;          // their ends
  std::set<std::pair<Time, std::string>> ends_;  // of `running_`, by time
  std::vector<std::string> due_;
  std::map<std::string, std::string_view> bases_;  // of run times, by workload
  std::set<std::string> unknown_;
  std::map<std::string, std::string> tree_of_;  // by cluster queue
};

Asked asked_of(const Engine& engine, Time now, const std::vector<std::string>& workloads) {
  Asked out;
  const Rehearsal present(engine, now);
  bool all = present.has_topologies();
  for (const std::string& key : workloads) {
    Prediction answer;
    const std::size_t slash = key.find('/');
    answer.ns = key.substr(0, std::min(slash, key.size()));
    answer.name = slash == std::string::npos ? "" : key.substr(slash + 1);
    const auto w = present.find(key);
    answer.found = w.has_value();
    if (w && w->status.admission) answer.cluster_queue = w->status.admission->cluster_queue;
    if (w && lifecycle::state_of(*w) == State::kAdmitted)
      answer.admitted = api::find_condition(w->status.conditions, api::kueue::kAdmitted)->last_transition;
    if (const auto position = engine.pending_position(answer.ns, answer.name))
      answer.cluster_queue = position->cluster_queue;
    if (answer.cluster_queue.empty()) {
      all = all || answer.found;
    } else {
      out.trees.insert(tree_of(engine, answer.cluster_queue));
    }
    out.by_key.emplace(key, out.answers.size());
    out.answers.push_back(std::move(answer));
  }
  if (all) out.trees.clear();
  out.starts.resize(out.answers.size());
  return out;
}

void keep_first(Asked& asked, const Future& future) {
  std::map<std::string, std::size_t> counts;
  for (const auto& [key, basis] : future.bases()) ++counts[std::string(basis)];
  for (auto& answer : asked.answers) {
    for (const auto& [what, count] : counts) answer.rests_on.push_back({what, count});
    answer.unknown_count = future.unknown().size();
    for (const auto& key : future.unknown()) {
      if (answer.unknown.size() < kNamed) answer.unknown.push_back(key);
    }
  }
}

void finish(Asked& asked, int draws) {
  for (std::size_t i = 0; i < asked.answers.size(); ++i) {
    auto& answer = asked.answers[i];
    auto& starts = asked.starts[i];
    std::ranges::sort(starts);
    answer.draws = draws;
    answer.started = static_cast<int>(starts.size());
    const auto quantile = [&](int tenths) -> std::optional<Time> {
      const auto at = static_cast<std::size_t>(std::max(1, (draws * tenths + 9) / 10) - 1);
      return at < starts.size() ? std::optional(starts[at]) : std::nullopt;
    };
    answer.p10 = quantile(1);
    answer.p50 = quantile(5);
    answer.p90 = quantile(9);
  }
}

}  // namespace

std::vector<Prediction> predict(const Engine& engine, const RunHistory& history, Time now,
                                const std::vector<std::string>& workloads, const PredictLimits& limits) {
  Asked asked = asked_of(engine, now, workloads);
  const auto waits = [](const Prediction& p) { return p.found && !p.admitted; };
  if (std::ranges::none_of(asked.answers, waits)) return std::move(asked.answers);
  RunTimes times(history, limits.draws);
  std::size_t steps = limits.steps;
  int draws = 0;
  std::string limit;
  bool past_horizon = false;
  for (int number = 0; number < limits.draws; ++number) {
    Future future(engine, now, times, asked, number);
    const bool whole = future.run(steps, now + limits.horizon);
    if (!whole && steps == 0 && number > 0) break;  // of this future only a part is known
    ++draws;
    past_horizon = past_horizon || future.past_horizon();
    for (std::size_t i = 0; i < asked.starts.size(); ++i) {
      if (future.started()[i]) asked.starts[i].push_back(*future.started()[i]);
    }
    if (number == 0) keep_first(asked, future);
    if (!whole && steps > 0)
      limit = "not played further than " + format_time(now + limits.horizon) +
              ", or workloads preempt each other without end";
    if (!times.varied || steps == 0) break;  // all futures are the same
  }
  if (steps == 0)
    limit = "the bound of " + std::to_string(limits.steps) + " starts and ends was reached in future " +
            std::to_string(draws) + " of " + std::to_string(limits.draws);
  finish(asked, draws);
  for (auto& answer : asked.answers) {
    if (!waits(answer)) continue;
    answer.limit = limit;
    if (past_horizon && !answer.p90) answer.after = now + limits.horizon;
  }
  return std::move(asked.answers);
}

}  // namespace berth::engine
