// The implementation of Places: configuration, ledger, counts, and the order in which pod sets are placed.
#pragma once

#include <map>
#include <optional>

#include "engine/topology/choose.h"
#include "engine/topology/counts.h"
#include "engine/topology/places.h"
#include "engine/topology/preference.h"
#include "engine/topology/topology_ledger.h"
#include "engine/topology/wanted.h"

namespace berth::engine {

struct Places::Impl {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  static constexpr std::size_t kMaxOverfull = 16;
  class Replacement;
  // Pod sets that are placed together: one, or a leader and its workers.
  struct Job {
    std::size_t workers = 0;     // index of the ask
    std::size_t leader = kNone;  // the index of the leader's ask (one pod)
  };
  // A job with the data for counting and choosing.
  struct Task {
    const topology::View* view = nullptr;
    topology::Wanted wanted;
    topology::CountAsk count;
    topology::Crowds crowds{};  // domains that hold too many of the workloads that are spread
  };

  Impl(Names& names_, TopologyOptions options_) : names(names_), options(options_), ledger(names_), counts(ledger) {}

  Impl(const Impl& other, Names& names_)
      : names(names_),
        options(other.options),
        ledger(other.ledger, names_),
        counts(ledger),
        topologies(other.topologies),
        flavors(other.flavors),
        spreads(other.spreads),
        overfull(other.overfull) {}

  void know(std::span<const ResourceAmount> amounts) {
    if (options.host_ports) ledger.know(amounts);
  }
  void make_view(FlavorId flavor);
  bool renew_views(const std::string& topology);

  // By ask, without any places.
  static Placement nothing_placed(std::span<const PlaceRequest> requests);
  // Leaders are joined with their workers; sorted by flavor name, else in the order of the asks; asks with count 0
  // are left out.
  tl::expected<std::vector<Job>, PlaceFailure> jobs_of(std::span<const PlaceRequest> requests) const;
  tl::expected<Task, std::string> task_of(std::span<const PlaceRequest> requests, const Job& job, std::int32_t pods,
                                          bool on_empty) const;
  topology::Shares choose(const Task& task, std::int32_t pods, topology::DomainId scope);
  // --- Spreading (spreading.cpp).
  std::vector<std::vector<topology::DomainId>> spread_units(const topology::View& view, const PlaceRequest& ask) const;
  topology::Crowds crowds_of(const topology::View& view, const PlaceRequest& ask);
  std::string describe(const Task& task, const PlaceRequest& ask) const;  // why crowded domains leave no place
  // A claim changed: shares of domains did too, so a workload that found no place may find one now.
  void note_shares();
  PlaceFailure too_little_capacity(const Task& task, const Job& job, std::int32_t pods, topology::DomainId scope);
  // place() for asks with places that are kept (replace.cpp).
  Placement place_around(std::span<const PlaceRequest> requests, bool on_empty);
  // Finds the places of a job and adds them to `placement`. Returns false when there are none: see placement.failure.
  bool place_job(std::span<const PlaceRequest> requests, const Job& job, bool on_empty, Placement& placement);
  void assume(const PlaceRequest& ask, std::span<const Place> places);

  // The message of a failure, including what excluded nodes; inside `scope` when it is valid.
  std::string describe(const Task& task, const PlaceFailure& failure, topology::DomainId scope);
  std::string exclusions(const Task& task, topology::DomainId scope);

  Names& names;
  TopologyOptions options;
  topology::TopologyLedger ledger;
  topology::CountCache counts;
  std::map<std::string, api::kueue::Topology, std::less<>> topologies;
  std::vector<std::optional<api::kueue::ResourceFlavor>> flavors;  // by id
  bool spreads = false;  // a workload that is spread was placed or looked for a place
  std::vector<std::string>
      overfull;  // claims taken although there was too little capacity; at most kMaxOverfull are kept
};

}  // namespace berth::engine
