#include "engine/explain/forecasts.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "api/meta.h"
#include "engine/explain/waiting_with.h"

namespace berth::engine {

Forecasts::Forecasts(const Engine& engine, const RunHistory& history, std::function<Time()> now)
    : engine_(engine), history_(history), now_(std::move(now)) {}

std::optional<Prediction> Forecasts::about(std::string_view ns, std::string_view name) {
  const Time now = now_();
  const std::string key = api::object_key(ns, name);
  const auto position = engine_.pending_position(ns, name);
  const std::string group = position ? competition_of(engine_, position->cluster_queue) : "workload " + key;
  const auto kept = kept_.find(group);
  const auto answer_in = [&](const Played& played) -> const Prediction* {
    const auto found = played.answers.find(key);
    return found == played.answers.end() ? nullptr : &found->second;
  };
  const Prediction* answer = kept == kept_.end() ? nullptr : answer_in(kept->second);
  const bool fresh = answer != nullptr && now - kept->second.at < kShared;
  if (!fresh && allowance_.allows(now)) answer = answer_in(play(group, ns, name));
  if (answer != nullptr) return answer->found ? std::optional(*answer) : std::nullopt;
  Prediction later;
  later.ns = ns;
  later.name = name;
  later.at = now;
  if (position) later.cluster_queue = position->cluster_queue;
  later.limit = "predictions have used up their time; ask again at " + format_time(allowance_.next());
  return later;
}

Forecasts::Played& Forecasts::play(const std::string& group, std::string_view ns, std::string_view name) {
  const Time begin = now_();
  const auto keys = waiting_with(engine_, ns, name, kTogether);
  Played played;
  played.at = begin;
  for (Prediction& each : predict(engine_, history_, begin, keys)) {
    std::string of = api::object_key(each.ns, each.name);
    played.answers.emplace(std::move(of), std::move(each));
  }
  ++played_;
  allowance_.charge(begin, now_() - begin);
  kept_[group] = std::move(played);
  forget_old();
  return kept_[group];
}

void Forecasts::forget_old() {
  while (kept_.size() > kMostKept)
    kept_.erase(std::ranges::min_element(kept_, {}, [](const auto& each) { return each.second.at; }));
}

}  // namespace berth::engine
