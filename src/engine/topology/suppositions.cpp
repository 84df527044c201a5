#include "engine/topology/suppositions.h"

#include <algorithm>

namespace berth::engine::topology {

void Suppositions::suppose(HolderId holder, bool away) {
  const bool was_away = usage_.away(holder);
  if (was_away == away) return;
  supposed_.push_back({holder, was_away});
  set_away(holder, away);
}

void Suppositions::undo(std::size_t size) {
  while (supposed_.size() > size) {
    const Supposed last = supposed_.back();
    supposed_.pop_back();
    set_away(last.holder, last.was_away);
  }
}

void Suppositions::set_away(HolderId id, bool away) {
  const Holder& holder = holders_[id];
  std::vector<LeafDomainId> where(holder.strays.begin(), holder.strays.end());
  for (const ClaimPart& part : holder.parts) {
    for (const Place& place : part.places) where.push_back(place.leaf_domain);
  }
  std::sort(where.begin(), where.end());
  where.erase(std::unique(where.begin(), where.end()), where.end());
  const Views::Quiet quiet(views_);
  usage_.set_away(id, away, where);
}

}  // namespace berth::engine::topology
