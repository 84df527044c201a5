// When will a waiting workload start? Copies of the engine are played forward in virtual time, each with other run
// times of the workloads: from what similar ones took, and at most their maximum execution times.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "engine/engine.h"
#include "engine/explain/run_history.h"

namespace berth::engine {

struct PredictLimits {
  int draws = 31;  // futures that are played, at most; a prime number
  // Starts, ends and arrivals of workloads that are played, in all futures together. They cost more in a large cluster:
  // with more than some thousand workloads there are fewer, down to a quarter. Where a copy of the engine costs as much
  // as many of them, fewer futures are played.
  std::size_t steps = 8'000;
  Duration horizon = std::chrono::hours(24 * 60);
};

struct Prediction {
  std::string ns, name, cluster_queue;
  Time at{};                     // when it was made
  bool found = true;             // false: no such workload, or it has finished
  std::optional<Time> admitted;  // it has started already
  std::string never;             // why it can never fit, as said by the last evaluation; empty: it can, or is not known
  // In how many futures were played, and in how many of them it started within the limits.
  int draws = 0, started = 0;
  // It starts by then in a tenth, half and nine tenths of the futures; nullopt: in fewer.
  std::optional<Time> p10, p50, p90;
  // Where p90 is missing because what was played ends while it still waits: it was played until then, at least, and it
  // starts later in those futures.
  std::optional<Time> after;
  // What the run times rest on, and for how many workloads that held quota before the start (in the first future).
  struct Basis {
    std::string what;
    std::size_t workloads = 0;
  };
  std::vector<Basis> rests_on;
  // Hold quota in its tree of cohorts, and nothing is known of when they end. At most five are named.
  std::vector<std::string> unknown;
  std::size_t unknown_count = 0;
  std::string limit;  // why the answer is not complete; empty: it is

  bool waits() const { return found && !admitted; }
};

// `workloads`: keys "namespace/name". Answers in the same order. Admission checks are taken to answer at once, pods to
// be ready at once, and workloads to arrive as they did lately.
std::vector<Prediction> predict(const Engine& engine, const RunHistory& history, Time now,
                                const std::vector<std::string>& workloads, const PredictLimits& limits = {});

// One sentence: when it starts, or what is missing to say so.
std::string summary(const Prediction& prediction);
void hide_other_namespaces(Prediction& prediction);
Json to_json(const Prediction& prediction);

}  // namespace berth::engine
