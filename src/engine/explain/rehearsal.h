// What would happen: a copy of the engine that lives by itself. Every write succeeds at once, evicted jobs stop at once
// and their pods end, created jobs run. Time stands still until it is moved, so back-offs do not end by themselves.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/engine.h"

namespace berth::engine {

class Rehearsal {
 public:
  // A version of objects that is newer than all that a server gives: of the changes that are fed. What is written here
  // is newer still.
  static constexpr std::uint64_t kNewest = std::uint64_t{1} << 62;

  Rehearsal(const Engine& original, Time now);

  void feed(const Event& event) { perform(engine_.handle(now_, event)); }
  // A change of the cluster, with what follows from it there: the pods of a workload or node that is gone end.
  void change(const Event& event);
  // Runs until nothing moves. Returns false when it stopped at the limit of passes.
  bool settle();
  // The same, and moves the time through all that the engine itself does until `end`.
  bool settle_until(Time end);

  const Engine& engine() const { return engine_; }
  std::vector<std::string> cluster_queues() const { return cluster_queues_of(engine_); }
  static std::vector<std::string> cluster_queues_of(const Engine& engine);  // in order
  // The workload as decided; nullopt: it does not exist, or it has finished.
  std::optional<api::kueue::WorkloadRef> find(std::string_view key) const;
  // Why it waits, as decided, also if this is not written yet: "reason: message"; empty: it does not wait, or nothing
  // was said about it.
  std::string why_it_waits(std::string_view key) const;
  std::string cluster_queue_of(std::string_view key) const;  // of its local queue; empty: there is none
  // Of a LocalQueue "namespace/name"; empty: there is none.
  std::string cluster_queue_behind(std::string_view local_queue) const;
  // The workloads that hold quota, by key; valid until something changes. A workload that was not changed here is the
  // same object in all rehearsals of one engine.
  struct Held {
    std::string_view key;
    api::kueue::WorkloadRef workload;
    std::string_view cluster_queue;
  };
  std::vector<Held> held() const;
  // Workloads that were preempted, by key, with the message of their condition.
  const std::map<std::string, std::string>& preempted() const { return preempted_; }

  // --- For what takes time.
  Time now() const { return now_; }
  void advance(Time now);                  // call settle() afterwards
  std::optional<Time> next_timer() const;  // when the engine itself has something to do
  // Workloads that moved to another state since the last call, in order; with their versions.
  std::vector<Ptr<api::kueue::Workload>> moved() { return std::exchange(moved_, {}); }
  std::vector<Ptr<api::kueue::Workload>> workloads() const;  // all that have not finished, as the API holds them
  static bool has_topologies(const Engine& engine);
  // Its job succeeded and its pods ended. Call settle() afterwards.
  void finish(const std::string& key);

 private:
  void perform(const Effects& effects);
  void written(const Ptr<api::kueue::Workload>& base, api::kueue::Workload changed, std::uint64_t write);
  bool stop_evicted();
  void end_pods(const std::string& key, std::vector<Event>& out);
  void end_pods_on(const std::string& node, std::vector<Event>& out) const;

  Engine engine_;
  Time now_;
  std::uint64_t versions_ = 0;
  std::vector<Event> answers_;
  std::set<std::string> evicting_;  // keys
  bool again_ = false;              // the engine wants another pass now
  std::map<std::string, std::string> preempted_;
  std::vector<Ptr<api::kueue::Workload>> moved_;
  std::optional<std::map<std::string, std::vector<std::string>>> pods_of_;  // UIDs by key of the workload
};

}  // namespace berth::engine
