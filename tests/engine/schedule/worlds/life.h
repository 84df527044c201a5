// A small cluster for random worlds: its objects as an API server stores them, and a scheduler that learns each change.
// Another scheduler can start on the same objects at any time.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/schedule/scheduler.h"

namespace berth::engine::worlds {

class Life {
 public:
  struct Rules {
    SchedulerOptions options;
    bool victims_stop_together = true;  // else one after the other
  };
  struct QueueObject {
    api::kueue::ClusterQueue object;
    bool active = true;
  };
  struct Job {
    WorkloadId id;
    Pending pending;
    std::optional<api::kueue::Admission> admission;  // holds quota
    Time reserved_at{};
    bool evicted = false;
    bool preempted_others = false;  // and was not admitted before this pass
    std::string message;            // why it waits
    std::string reason;             // of the message
  };

  explicit Life(const Rules& rules) : rules_(rules), scheduler_(rules.options) {}
  // A scheduler that starts on the objects of the other one, with `only` as the single workload that waits; "": all.
  Life(const Life& other, const std::string& only);
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;

  // --- What happens. What names an object that is not there does nothing.
  void set_topology(const api::kueue::Topology& topology);
  void set_flavor(const api::kueue::ResourceFlavor& flavor);
  void remove_flavor(const std::string& name);
  void set_node(const api::Node& node);
  void remove_node(const std::string& name);
  void set_pod(const api::kueue::PodPlacement& pod);
  void remove_pod(const std::string& uid);
  void set_cohort(const api::kueue::Cohort& cohort);
  void remove_cohort(const std::string& name);
  void set_queue(const api::kueue::ClusterQueue& queue, bool active);
  void set_active(const std::string& queue, bool active);
  void remove_queue(const std::string& name);
  void submit(const std::string& name, const Pending& pending);
  void end(const std::string& name);
  void set_priority(const std::string& name, std::int32_t priority);
  // Pods of a holder have ended: it gives back what they used.
  void reclaim(const std::string& name, std::int32_t pods);
  // Sets the selector of all pod sets of a workload that waits.
  void select(const std::string& name, const std::string& label, const std::string& value);

  // --- Plays until nothing moves; victims stop and wait again. Returns what was admitted and preempted, in order.
  // `findings`: what must not be.
  std::vector<std::string> rest(std::vector<std::string>& findings);
  // What holds at rest, as sentences about what does not.
  std::vector<std::string> check() const { return scheduler_.check(); }
  std::vector<std::string> check_copy() const { return scheduler_.copy().check(); }

  const Scheduler& scheduler() const { return scheduler_; }
  const std::map<std::string, Job>& jobs() const { return jobs_; }
  const std::map<std::string, QueueObject>& queues() const { return queues_; }
  const std::map<std::string, api::kueue::ResourceFlavor>& flavors() const { return flavors_; }
  std::string text() const;  // where all workloads are, for reports

 private:
  void note(const Admit& admit);
  void write(Job& job);
  void stop(const std::string& name);
  std::string text(const Decision& decision) const;
  void check_victims(const Decisions& decisions, std::vector<std::string>& findings) const;
  bool has_no_choice(const Job& job) const;
  bool shares_victims(WorkloadId preemptor) const;
  bool fits_beside(WorkloadId preemptor, WorkloadId victim, bool borrowing) const;
  std::optional<int> borrows_without(WorkloadId preemptor) const;
  Holding holding(const Job& job) const;

  Rules rules_;
  std::map<std::string, api::kueue::Topology> topologies_;
  std::map<std::string, api::kueue::ResourceFlavor> flavors_;
  std::map<std::string, api::Node> nodes_;
  std::map<std::string, api::kueue::PodPlacement> pods_;
  std::map<std::string, api::kueue::Cohort> cohorts_;
  std::map<std::string, QueueObject> queues_;
  std::map<std::string, Job> jobs_;
  std::map<WorkloadId, std::string> names_;
  std::map<std::string, std::int32_t> ended_pods_;
  Scheduler scheduler_;
  std::int64_t seconds_ = 0;
};

}  // namespace berth::engine::worlds
