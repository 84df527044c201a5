#include "engine/topology/preference.h"

#include <algorithm>

namespace berth::engine::topology {

std::vector<DomainId> forbidden(const Crowds& crowds) {
  std::vector<DomainId> all;
  for (const Crowd& crowd : crowds.forbidden) {
    for (const auto& [domain, held] : crowd.held) all.push_back(domain);
  }
  std::ranges::sort(all);
  const auto again = std::ranges::unique(all);
  all.erase(again.begin(), again.end());
  return all;
}

std::int64_t Preference::tier(DomainId id) const {
  constexpr std::int64_t kAboveScores = std::int64_t{1} << 41, kMostCrowded = std::int64_t{1} << 20;
  std::int64_t crowded = 0;
  for (const Crowd& crowd : avoided_) {
    if (view_[id].level < crowd.level) continue;
    const DomainId domain = view_.ancestor(id, crowd.level);
    const auto it = std::ranges::lower_bound(crowd.held, domain, {}, [](const auto& each) { return each.first; });
    if (it != crowd.held.end() && it->first == domain) crowded += 1 + it->second;
  }
  return std::min(crowded, kMostCrowded) * kAboveScores - std::min(counts_.score(id), kAboveScores - 1);
}

}  // namespace berth::engine::topology
