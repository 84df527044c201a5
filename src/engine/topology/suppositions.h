// Tentative changes of what holders use, undone in reverse order.
#pragma once

#include <vector>

#include "engine/topology/holders.h"
#include "engine/topology/leaf_usage.h"
#include "engine/topology/views.h"

namespace berth::engine::topology {

class Suppositions {
 public:
  Suppositions(const Holders& holders, LeafUsage& usage, Views& views)
      : holders_(holders), usage_(usage), views_(views) {}

  std::size_t size() const { return supposed_.size(); }
  void suppose(HolderId holder, bool away);  // away: as if it held nothing and had no pods
  void undo(std::size_t size);               // until only so many are left

 private:
  struct Supposed {
    HolderId holder;
    bool was_away;
  };
  void set_away(HolderId holder, bool away);

  const Holders& holders_;
  LeafUsage& usage_;
  Views& views_;
  std::vector<Supposed> supposed_;
};

}  // namespace berth::engine::topology
