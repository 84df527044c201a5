// Searches the smallest single change of each kind that gives a waiting workload quota.
//
// Each search computes a candidate from what is missing, checks by single steps that nothing smaller would do, and
// plays it on a copy of the scheduler: other workloads may take what the change sets free. If they do, the candidate
// grows by what is missing then. In small trees, smaller raises are played too, because others may help: a workload may
// come in between and be preempted. The number of copies is bounded, so a search may end without a result.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/explanation.h"
#include "engine/node_watch.h"
#include "engine/registries.h"
#include "engine/schedule/probe.h"

namespace berth::engine {

class ChangeSearch {
 public:
  struct Question {
    const Registries& registries;
    const NodeWatch& nodes;
    WorkloadId workload;
    const Pending& pending;                         // as submitted
    std::function<std::string(WorkloadId)> key_of;  // "namespace/name"
    bool partial = true;                            // whether the minimum of its pods can be changed
    Probe& probe;  // of the workload, in the present state; it is copied, and asked questions that change nothing
  };
  explicit ChangeSearch(const Question& question) : q_(question) {}

  // The workload must be Probe::queued().
  std::vector<Change> search();

 private:
  // A choice of one flavor for each resource group, and what is asked of it.
  struct Route {
    std::vector<std::string> flavors;
    struct Need {
      std::string flavor, resource;
      Amount wanted;
    };
    std::vector<Need> needs;
  };
  enum class Limit : std::uint8_t { kNominal, kBorrowing };
  using Amounts = std::vector<Amount>;  // by need of a route

  std::vector<Route> routes(Probe& probe) const;
  Amounts missing(Probe& probe, const Route& route) const;
  bool raise(Probe& probe, const Route& route, Limit limit, const Amounts& by) const;
  void shrink(const Route& route, Limit limit, Amounts& by) const;
  std::optional<Probe::Outcome> play(const Route& route, Limit limit, const Amounts& by) const;
  std::optional<Probe::Outcome> grow(const Route& route, Limit limit, Amounts& by) const;
  std::optional<Probe::Outcome> narrow(const Route& route, Limit limit, const Amounts& from, Amounts& by,
                                       std::optional<Probe::Outcome> outcome) const;
  void raise_limits(const Route& route, Limit limit, std::vector<Change>& out) const;
  Change quota_change(const Route& route, Limit limit, const Amounts& by) const;
  void end_workloads(std::vector<Change>& out) const;
  void restore_nodes(std::vector<Change>& out) const;
  std::optional<Probe::Outcome> play_with(std::size_t pod_set, std::int32_t at_least) const;
  void reduce_pods(std::vector<Change>& out) const;
  Probe probe() const { return q_.probe.copy(); }
  void finish(Change change, const Probe::Outcome& outcome, std::vector<Change>& out) const;

  Question q_;
  bool cheap_ = true;  // copies of the tree cost little
};

}  // namespace berth::engine
