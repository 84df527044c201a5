// Places for some pods of a workload beside those that keep theirs: after the failure of nodes (replace.cpp), and when
// a job grows while it runs (grow.cpp).
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/topology/places_impl.h"

namespace berth::engine {

// A layer of slices.
struct SliceLayer {
  std::size_t level = 0;
  std::int32_t size = 1;
};

// The replacement for one pod set, or for a leader and its workers.
class Places::Impl::Replacement {
 public:
  Replacement(Impl& impl, std::span<const PlaceRequest> requests, const Job& job, Placement& out)
      : impl_(impl), requests_(requests), job_(job), out_(out) {}

  // Returns false on failure: see out.failure.
  bool run(std::span<const api::kueue::TopologyAssignmentPtr> current, std::span<const std::string> failed);
  // Places all pods of the asks around those that are kept.
  bool run_around(bool on_empty);

 private:
  using Held = std::map<topology::DomainId, std::int32_t>;  // pods by leaf

  bool fail(std::string text);
  bool read_kept(const PlaceRequest& ask, Held& stays);
  void give_up(Held& stays, const PlaceRequest& ask);
  bool read(const api::kueue::TopologyAssignment& assignment, std::span<const std::string> failed, Held& stays,
            std::int32_t& missing);
  topology::DomainId leaf_of(const std::string& host) const;
  topology::DomainId last_of(const api::kueue::TopologyAssignment& assignment) const;
  topology::DomainId home(std::size_t level) const;
  bool in_one_domain(std::size_t level) const;
  std::vector<std::pair<topology::DomainId, std::int32_t>> held_at(std::size_t level) const;
  std::int32_t lost_in(topology::DomainId domain, std::int32_t pods, const SliceLayer& layer) const;
  bool complete_slices();
  bool place_rest();
  bool add(const Task& task, std::int32_t pods, topology::DomainId scope);
  void finish(const Held& held, std::size_t ask);

  Impl& impl_;
  std::span<const PlaceRequest> requests_;
  Job job_;
  Placement& out_;
  const topology::View* view_ = nullptr;
  Task task_;
  Held workers_, leader_;  // places that stay, plus new ones as they are found
  std::vector<topology::DomainId> lost_;
  topology::DomainId last_;  // the last leaf of the workers: a smaller slice is in its domain
  std::int32_t tail_ = 0;    // pods of the smaller slice; 0: there is none
  std::int32_t missing_ = 0, missing_leader_ = 0;
  bool leader_alone_ = false;  // only the leader is being placed
  std::string_view what_ = "failed nodes cannot be replaced";
};

}  // namespace berth::engine
