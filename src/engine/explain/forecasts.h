// When waiting workloads start: one prediction for each tree of cohorts, shared by all who ask within some seconds, so
// that questions cost the same however many there are.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "engine/engine.h"
#include "engine/explain/allowance.h"
#include "engine/explain/predict.h"
#include "engine/explain/run_history.h"

namespace berth::engine {

class Forecasts {
 public:
  static constexpr std::size_t kTogether = 200;                 // workloads of one tree that are predicted together
  static constexpr Duration kShared = std::chrono::seconds(5);  // how long an answer is given again
  static constexpr std::size_t kMostKept = 64;  // predictions, each of one tree; the oldest are forgotten

  // `now` also tells how long a prediction took. `engine` and `history` must outlive it.
  Forecasts(const Engine& engine, const RunHistory& history, std::function<Time()> now);

  // Of the workload: at most kShared old, or older (Prediction::at) when predictions have used up their time. Without
  // any, Prediction::draws is 0 and `limit` says when to ask again. nullopt: no such workload, or it has finished.
  std::optional<Prediction> about(std::string_view ns, std::string_view name);

  const RunHistory& history() const { return history_; }
  std::size_t played() const { return played_; }  // predictions that were made

 private:
  struct Played {
    Time at{};
    std::map<std::string, Prediction, std::less<>> answers;  // by key
  };
  Played& play(const std::string& group, std::string_view ns, std::string_view name);
  void forget_old();

  const Engine& engine_;
  const RunHistory& history_;
  const std::function<Time()> now_;
  std::map<std::string, Played> kept_;  // by tree, or by the workload if it is in no queue
  Allowance allowance_;
  std::size_t played_ = 0;
};

}  // namespace berth::engine
