// Which domains come before others whatever their capacity: those with nodes that the pods prefer (KEP-2724, preferred
// node affinity), and those that do not hold too many of the workloads that are spread (KEP-13746).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/topology/counts.h"
#include "engine/topology/view.h"

namespace berth::engine::topology {

// Domains of one level that hold more than their share.
struct Crowd {
  std::size_t level = 0;
  std::size_t rule = 0;                                 // index in TopologySpreading::rules
  std::vector<std::pair<DomainId, std::int32_t>> held;  // by id: how many workloads each holds
};
struct Crowds {
  std::vector<Crowd> forbidden, avoided;
};

std::vector<DomainId> forbidden(const Crowds& crowds);

class Preference {
 public:
  Preference(const View& view, const Counts& counts, const Crowds& crowds)
      : view_(view), counts_(counts), avoided_(crowds.avoided) {}

  bool any() const { return counts_.scored() || !avoided_.empty(); }
  // Domains of a lower tier come first: uncrowded ones, then by how many workloads they hold; among equals those with
  // the higher score.
  std::int64_t tier(DomainId id) const;

 private:
  const View& view_;
  const Counts& counts_;
  const std::vector<Crowd>& avoided_;
};

}  // namespace berth::engine::topology
