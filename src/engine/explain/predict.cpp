#include "engine/explain/predict.h"

#include <algorithm>
#include <utility>

#include "api/meta.h"
#include "engine/explain/future.h"
#include "engine/lifecycle/state.h"
#include "engine/schedule/ever.h"

namespace berth::engine {
namespace {

using lifecycle::State;

constexpr std::size_t kNamed = 5;  // workloads with an unknown end
// A copy of the engine costs as much as a step for each so many workloads.
constexpr std::size_t kCopiedPerStep = 300;
// A step costs as much more as there are more workloads.
constexpr std::size_t kStepsTimesWorkloads = 40'000'000;

// What is asked, and what was found so far.
struct Asked {
  std::vector<Prediction> answers;
  FutureQuestion question;
  std::vector<std::vector<Time>> starts;  // of each answer, one per future in which it started
  // Of each answer: where the first of the futures ended in which it still waits, though more would happen.
  std::vector<std::optional<Time>> waits_until;
};

Asked asked_of(const Engine& engine, const Rehearsal& present, const std::vector<std::string>& workloads) {
  Asked out;
  bool all = Rehearsal::has_topologies(engine);
  for (const std::string& key : workloads) {
    Prediction answer;
    answer.at = present.now();
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
      out.question.trees.insert(tree_of(engine, answer.cluster_queue));
    }
    const std::string why = present.why_it_waits(key);
    if (const auto never = why.find(kNeverFits); never != std::string::npos)
      answer.never = why.substr(never + kNeverFits.size());
    if (answer.waits() && answer.never.empty()) out.question.waiting.emplace(key, out.answers.size());
    out.answers.push_back(std::move(answer));
  }
  if (all) out.question.trees.clear();
  out.question.answers = out.answers.size();
  out.starts.resize(out.answers.size());
  out.waits_until.resize(out.answers.size());
  return out;
}

void keep_first(Asked& asked, const Future& future) {
  std::map<std::string, std::size_t> counts;
  for (const auto& [key, basis] : future.bases()) ++counts[std::string(basis)];
  for (const auto& [key, at] : asked.question.waiting) {
    Prediction& answer = asked.answers[at];
    for (const auto& [what, count] : counts) answer.rests_on.push_back({what, count});
    answer.unknown_count = future.unknown().size();
    for (const auto& name : future.unknown()) {
      if (answer.unknown.size() < kNamed) answer.unknown.push_back(name);
    }
  }
}

void keep(Asked& asked, const Future& future, Future::Stop stop) {
  for (const auto& [key, at] : asked.question.waiting) {
    if (const auto& started = future.started()[at]) {
      asked.starts[at].push_back(*started);
    } else if (stop != Future::Stop::kDone) {
      auto& until = asked.waits_until[at];
      until = until ? std::min(*until, future.reached()) : future.reached();
    }
  }
}

void finish(Asked& asked, int draws, const std::string& limit) {
  for (const auto& [key, at] : asked.question.waiting) {
    Prediction& answer = asked.answers[at];
    auto& starts = asked.starts[at];
    std::ranges::sort(starts);
    answer.draws = draws;
    answer.started = static_cast<int>(starts.size());
    // The real start is one more draw: of n + 1 equal ones it lies below the k-th of n in k.
    const auto quantile = [&](int tenths) -> std::optional<Time> {
      const int place = tenths < 5 ? (draws + 1) * tenths / 10 : ((draws + 1) * tenths + 9) / 10;
      const auto index = static_cast<std::size_t>(std::clamp(place, 1, draws) - 1);
      return index < starts.size() ? std::optional(starts[index]) : std::nullopt;
    };
    answer.p10 = quantile(1);
    answer.p50 = quantile(5);
    answer.p90 = quantile(9);
    answer.limit = limit;
    if (!answer.p90) answer.after = asked.waits_until[at];
    if (answer.after && !starts.empty()) answer.after = std::max(*answer.after, starts.back());
  }
}

// The steps for a cluster with so many workloads.
std::size_t steps_of(const PredictLimits& limits, std::size_t workloads) {
  return std::clamp(kStepsTimesWorkloads / std::max<std::size_t>(1, workloads), limits.steps / 4, limits.steps);
}

// How many futures the steps are enough for, so that the copies of the engine take at most half of them. The numbers
// are primes.
int futures_of(const PredictLimits& limits, std::size_t steps, std::size_t workloads) {
  for (const int draws : {31, 13}) {
    if (2 * (workloads / kCopiedPerStep) * static_cast<std::size_t>(draws) <= steps)
      return std::min(draws, limits.draws);
  }
  return std::min(7, limits.draws);
}

std::string words_of(Future::Stop stop, std::size_t steps, Time horizon) {
  switch (stop) {
    case Future::Stop::kSteps:
      return "the bound of " + std::to_string(steps) + " starts, ends and arrivals in all futures together was reached";
    case Future::Stop::kHorizon:
      return "not played further than " + format_time(horizon);
    case Future::Stop::kEndless:
      return "workloads preempt each other without end";
    case Future::Stop::kDone:
      break;
  }
  return "";
}

}  // namespace

std::vector<Prediction> predict(const Engine& engine, const RunHistory& history, Time now,
                                const std::vector<std::string>& workloads, const PredictLimits& limits) {
  std::optional<Rehearsal> present(std::in_place, engine, now);
  Asked asked = asked_of(engine, *present, workloads);
  if (asked.question.waiting.empty()) return std::move(asked.answers);
  const std::size_t steps = steps_of(limits, present->workloads().size());
  const int futures = futures_of(limits, steps, present->workloads().size());
  RunTimes times(history, futures);
  for (const auto& w : present->workloads()) {
    const auto* admitted = api::find_condition(w->status.conditions, api::kueue::kAdmitted);
    if (lifecycle::state_of(*w) == State::kAdmitted) times.note_running(*w, now - admitted->last_transition);
  }
  std::size_t left = steps;
  int draws = 0;
  Future::Stop worst = Future::Stop::kDone;
  // The steps are shared evenly; what one future leaves is for the others.
  while (draws < futures) {
    Future future(present ? std::move(*present) : Rehearsal(engine, now), times, asked.question, draws);
    present.reset();
    Future::Stop stop = Future::Stop::kSteps;
    do {
      std::size_t share = std::max<std::size_t>(1, left / static_cast<std::size_t>(futures - draws));
      share = std::min(share, left);
      left -= share;
      stop = future.run(share, now + limits.horizon);
      left += share;
      // One future is all while all of them are the same.
    } while (stop == Future::Stop::kSteps && left > 0 && draws == 0 && !times.varied() && !future.has_arrivals());
    if (draws == 0) keep_first(asked, future);
    ++draws;
    keep(asked, future, stop);
    if (worst == Future::Stop::kDone) worst = stop;
    if (!times.varied() && !future.has_arrivals()) break;
  }
  finish(asked, draws, words_of(worst, steps, now + limits.horizon));
  return std::move(asked.answers);
}

}  // namespace berth::engine
