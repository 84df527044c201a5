// Random clusters that live: users with their own kinds of jobs submit at random, jobs run as long as they do, and
// nobody but this file knows beforehand how long, and what comes next.
#pragma once

#include <cmath>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/meta.h"
#include "engine/explain/predict.h"
#include "engine/explain/rehearsal.h"
#include "engine/explain/run_history.h"
#include "engine/lifecycle/state.h"
#include "engine/support/build.h"

namespace berth::engine::test {

class LivingCluster {
 public:
  explicit LivingCluster(unsigned seed) : random_(seed), play_(configured(), kEpoch) {
    for (std::size_t i = 0; i < kinds_.size(); ++i) next_arrival(i);
  }

  // Submits, ends and starts jobs until then.
  void live_until(Time end) {
    while (!soon_.empty() && soon_.begin()->first <= end) {
      const auto [when, what] = *soon_.begin();
      auto next = when;
      if (const auto timer = play_.next_timer(); timer && *timer < when) next = std::max(*timer, play_.now());
      play_.advance(next);
      if (next == when) {
        soon_.erase(soon_.begin());
        happen(what);
      }
      settle();
    }
    play_.advance(end);
    settle();
  }

  Time now() const { return play_.now(); }
  const Engine& engine() const { return play_.engine(); }
  const RunHistory& history() const { return history_; }
  std::size_t finished() const { return finished_; }
  // Keys of the workloads that wait in a queue, oldest first.
  std::vector<std::string> waiting() const {
    std::vector<std::string> out;
    for (const auto& w : play_.workloads()) {
      if (engine().pending_position(w->meta.ns, w->meta.name)) out.push_back(api::object_key(w->meta));
    }
    return out;
  }
  // When the workload got quota for the first time after `since`; nullopt: not yet.
  std::optional<Time> started(const std::string& key, Time since) const {
    const auto it = starts_.find(key);
    if (it == starts_.end()) return std::nullopt;
    for (const Time start : it->second) {
      if (start > since) return start;
    }
    return std::nullopt;
  }

 private:
  // What one user submits again and again.
  struct Kind {
    std::string queue, owner;
    int pods = 1, priority = 0;
    double typical = 60, spread = 0.5;  // seconds; of the logarithm
    double every = 60;                  // seconds between two of them, on average
    double limit = 0;                   // maximum execution time, as a multiple of `typical`; 0: none
  };
  struct Event {
    std::size_t arrival = 0;  // of this kind, or
    std::string end;          // this workload ends
    bool operator<(const Event& other) const { return std::tie(arrival, end) < std::tie(other.arrival, other.end); }
  };

  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool chance(int percent) { return pick(100) < percent; }
  double uniform() { return (static_cast<double>(random_()) + 0.5) / (static_cast<double>(std::mt19937::max()) + 1); }
  double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(6.283185307179586 * uniform()); }
  static Duration seconds(double s) { return std::chrono::milliseconds(static_cast<std::int64_t>(s * 1000)); }

  Engine configured() {
    Options options;
    options.fair_sharing.enabled = chance(25);
    Engine engine(options);
    const auto report = [&](const engine::Event& event) { engine.handle(kEpoch, event); };
    report(NamespaceSeen{"ns", {}});
    report(ResourceFlavorSeen{std::make_shared<const api::kueue::ResourceFlavor>(flavor("f"))});
    const int queues = 1 + pick(3);
    const bool cohort = chance(60), preempt = chance(30), reclaim = chance(40), strict = chance(30);
    int cpus = 0;
    for (int q = 0; q < queues; ++q) {
      const int quota = 4 + pick(12);
      cpus += quota;
      ClusterQueueBuilder builder("cq" + std::to_string(q));
      builder.cpu({{"f", std::to_string(quota)}});
      if (cohort) builder.cohort("all");
      if (preempt) builder.preempt_lower();
      if (reclaim) builder.reclaim_any();
      if (strict) builder.strict();
      report(ClusterQueueSeen{std::make_shared<const api::kueue::ClusterQueue>(builder.build())});
      for (int user = 0; user < 1 + pick(2); ++user) {
        const std::string name = "q" + std::to_string(q) + "-" + std::to_string(user);
        report(LocalQueueSeen{
            std::make_shared<const api::kueue::LocalQueue>(local_queue(name, "cq" + std::to_string(q)))});
        add_kinds(name, quota);
      }
    }
    // Together they ask for as much as there is, or somewhat less or more.
    const double load = 0.85 + 0.35 * uniform();
    double asked = 0;
    for (const Kind& kind : kinds_) asked += kind.pods * mean_of(kind) / kind.every;
    for (Kind& kind : kinds_) kind.every *= asked / (load * cpus);
    report(Synced{});
    return engine;
  }
  static double mean_of(const Kind& kind) { return kind.typical * std::exp(kind.spread * kind.spread / 2); }

  void add_kinds(const std::string& queue, int quota) {
    for (int i = 0; i < 1 + pick(3); ++i) {
      Kind kind;
      kind.queue = queue;
      kind.owner = chance(50) ? "Job" : "RayJob";
      kind.pods = 1 + pick(std::min(6, quota));
      kind.priority = chance(20) ? 1 : 0;
      kind.typical = 60 * std::exp(2.5 * uniform());
      kind.spread = 0.2 + 0.8 * uniform();
      kind.every = kind.typical * (0.5 + uniform());
      if (chance(30)) kind.limit = 1.5 + 3 * uniform();
      kinds_.push_back(kind);
    }
  }
  void next_arrival(std::size_t i) {
    soon_.emplace(play_.now() + seconds(-std::log(uniform()) * kinds_[i].every), Event{i + 1, ""});
  }
  void happen(const Event& event) {
    if (event.arrival == 0) {
      ends_.erase(event.end);
      play_.finish(event.end);
      return;
    }
    const Kind& kind = kinds_[event.arrival - 1];
    WorkloadBuilder builder("w" + std::to_string(++submitted_), kind.queue);
    builder.pods(kind.pods, "1").priority(kind.priority).created(play_.now());
    double runs = kind.typical * std::exp(kind.spread * normal());
    if (kind.limit > 0) {
      builder.max_seconds(static_cast<int>(kind.limit * kind.typical) + 1);
      runs = std::min(runs, kind.limit * kind.typical);
    }
    Workload w = builder.build();
    w.meta.owners[0].kind = kind.owner;
    w.meta.resource_version = std::to_string(Rehearsal::kNewest);
    runs_[api::object_key(w.meta)] = seconds(std::max(1.0, runs));
    play_.feed(WorkloadSeen{std::make_shared<const Workload>(std::move(w))});
    next_arrival(event.arrival - 1);
  }
  void settle() {
    play_.settle();
    for (const auto& w : play_.moved()) {
      history_.see(*w);
      const std::string key = api::object_key(w->meta);
      const auto state = lifecycle::state_of(*w);
      if (state == lifecycle::State::kFinished) ++finished_;
      if (const auto it = ends_.find(key); it != ends_.end() && state != lifecycle::State::kAdmitted) {
        soon_.erase({it->second, Event{0, key}});
        ends_.erase(it);
      }
      if (state != lifecycle::State::kAdmitted || ends_.contains(key)) continue;
      starts_[key].push_back(play_.now());
      const Time end = play_.now() + runs_.at(key);
      ends_[key] = end;
      soon_.emplace(end, Event{0, key});
    }
  }

  std::mt19937 random_;
  std::vector<Kind> kinds_;
  std::set<std::pair<Time, Event>> soon_;
  Rehearsal play_;
  RunHistory history_;
  std::map<std::string, Duration> runs_;
  std::map<std::string, Time> ends_;
  std::map<std::string, std::vector<Time>> starts_;
  std::size_t submitted_ = 0, finished_ = 0;
};

}  // namespace berth::engine::test
