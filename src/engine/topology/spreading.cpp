// Spreading (KEP-13746): how many of the workloads that count each domain holds, and which domains hold too many.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/topology/places_impl.h"

namespace berth::engine {

using topology::Crowd;
using topology::DomainId;
using topology::Holder;
using topology::HolderId;

namespace {

// Where the leaf domain is in the tree; invalid: nowhere.
DomainId position_of(const topology::View& view, const topology::LeafDomain& leaf) {
  const auto at = std::ranges::find(leaf.positions, view.flavor(), &topology::TreePosition::flavor);
  return at == leaf.positions.end() ? DomainId() : at->leaf;
}

// How often each domain is named, by id.
std::vector<std::pair<DomainId, std::int32_t>> counted(std::vector<DomainId> all) {
  std::ranges::sort(all);
  std::vector<std::pair<DomainId, std::int32_t>> out;
  for (const DomainId id : all) {
    if (out.empty() || out.back().first != id) out.emplace_back(id, 0);
    ++out.back().second;
  }
  return out;
}

}  // namespace

// Where the units are that count: for each, the leaves (or nodes) that it uses.
std::vector<std::vector<DomainId>> Places::Impl::spread_units(const topology::View& view,
                                                              const PlaceRequest& ask) const {
  std::vector<std::vector<DomainId>> out;
  for (const HolderId id : ledger.holders.labelled(ask.spreading->ns)) {
    const Holder& holder = ledger.holders[id];
    if (ledger.usage.away(id) || !ask.spreading->counts(*holder.labels)) continue;
    std::vector<DomainId> used;
    for (const topology::ClaimPart& part : holder.parts) {
      if (part.unit != ask.unit) continue;
      for (const Place& place : part.places) {
        if (const DomainId at = position_of(view, ledger.leaves[place.leaf_domain]); at.valid()) used.push_back(at);
      }
    }
    if (!used.empty()) out.push_back(std::move(used));
  }
  return out;
}

// O(workloads of the namespace with places). A unit (a pod set, or a leader with its workers) counts once in each
// domain that it uses.
topology::Crowds Places::Impl::crowds_of(const topology::View& view, const PlaceRequest& ask) {
  spreads = true;
  topology::Crowds out;
  const auto units = spread_units(view, ask);
  const auto& rules = ask.spreading->rules;
  for (std::size_t rule = 0; rule < rules.size(); ++rule) {
    const int level = view.find_level(rules[rule].topology_key);
    if (level < 0) continue;
    std::vector<DomainId> all;
    for (const auto& unit : units) {
      const auto before = static_cast<std::ptrdiff_t>(all.size());
      for (const DomainId at : unit) all.push_back(view.ancestor(at, static_cast<std::size_t>(level)));
      std::sort(all.begin() + before, all.end());
      all.erase(std::unique(all.begin() + before, all.end()), all.end());
    }
    const auto total = static_cast<std::int64_t>(all.size());
    Crowd crowd{static_cast<std::size_t>(level), rule, counted(std::move(all))};
    std::erase_if(crowd.held, [&](const auto& each) {
      return std::int64_t{each.second} * 1000 <= std::int64_t{rules[rule].most_share} * total;
    });
    if (!crowd.held.empty()) (rules[rule].preferred ? out.avoided : out.forbidden).push_back(std::move(crowd));
  }
  return out;
}

std::string Places::Impl::describe(const Task& task, const PlaceRequest& ask) const {
  std::string text;
  for (const Crowd& crowd : task.crowds.forbidden) {
    const auto& rule = ask.spreading->rules[crowd.rule];
    std::vector<std::string> values;
    for (const auto& [domain, held] : crowd.held) values.push_back(task.view->value(domain));
    std::ranges::sort(values);
    text +=
        fmt::format("{}the domains of level \"{}\" that hold more than {}.{}% of the workloads with {} in ({}): {}",
                    text.empty() ? "" : "; and outside ", rule.topology_key, rule.most_share / 10, rule.most_share % 10,
                    ask.spreading->label, fmt::join(ask.spreading->values, ", "), fmt::join(values, ", "));
  }
  return fmt::format("topology \"{}\" has no place left outside {}", task.view->topology(), text);
}

void Places::Impl::note_shares() {
  if (!spreads) return;
  for (auto& view : ledger.views.all()) {
    if (view) view->relieved = true;
  }
}

}  // namespace berth::engine
