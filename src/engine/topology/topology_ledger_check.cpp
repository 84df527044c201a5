// Compares the rows of the ledger with the claims and pods that they represent.
#include <map>
#include <tuple>
#include <utility>

#include "engine/topology/topology_ledger.h"

namespace berth::engine::topology {

std::vector<std::string> TopologyLedger::check_rows() const {
  using Key = std::tuple<LeafDomainId, HolderId, RequestId>;
  std::map<Key, std::pair<std::int64_t, std::int64_t>> rows;
  for (const Pods::Pod& pod : pods.all()) {
    if (!pod.uid.empty()) ++rows[{pod.leaf_domain, pod.holder, pod.request}].second;
  }
  for (std::size_t i = 0; i < holders.size(); ++i) {
    for (const ClaimPart& part : holders[HolderId(i)].parts) {
      for (const Place& place : part.places) rows[{place.leaf_domain, HolderId(i), part.request}].first += place.pods;
    }
  }
  std::vector<std::string> broken;
  std::size_t seen = 0;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    for (const Row& row : leaves[LeafDomainId(i)].rows) {
      const auto it = rows.find({LeafDomainId(i), row.holder, row.request});
      if (it == rows.end() || it->second != std::pair<std::int64_t, std::int64_t>(row.claimed, row.pods)) {
        broken.push_back("leaf domain " + std::to_string(i) + ": a row of holder \"" + holders[row.holder].name +
                         "\" disagrees with its claims and pods");
      }
      ++seen;
    }
  }
  if (seen != rows.size()) broken.push_back("claims or pods have no row in the ledger");
  check_holders(broken);
  return broken;
}

void TopologyLedger::check_holders(std::vector<std::string>& broken) const {
  std::vector<std::size_t> counts(holders.size());
  for (const Pods::Pod& pod : pods.all()) {
    if (!pod.uid.empty()) ++counts[pod.holder.index()];
  }
  for (std::size_t i = 0; i < holders.size(); ++i) {
    const HolderId id(i);
    const bool leaves_behind = is_workload(id) && holders[id].parts.empty() && counts[i] > 0;
    if (holders.leaving().contains(id) != leaves_behind)
      broken.push_back("holder \"" + holders[id].name + "\" is wrongly counted among those that leave, or not");
    if (counts[i] != holders[id].pods) broken.push_back("holder \"" + holders[id].name + "\" miscounts its pods");
  }
}

}  // namespace berth::engine::topology
