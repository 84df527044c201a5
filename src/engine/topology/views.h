// The trees of domains (views) of all flavors.
#pragma once

#include <memory>
#include <vector>

#include "engine/topology/leaf_domains.h"
#include "engine/topology/view.h"

namespace berth::engine::topology {

class Views {
 public:
  Views() = default;
  // A copy that uses `strings`, which must be a copy of the other's pool.
  Views(const Views& other, StringPool& strings) {
    for (const auto& view : other.views_)
      views_.push_back(view == nullptr ? nullptr : std::make_unique<View>(*view, strings));
  }
  Views(const Views&) = delete;
  Views& operator=(const Views&) = delete;

  View* find(FlavorId flavor) const {  // nullptr: the flavor has none
    return flavor.index() < views_.size() ? views_[flavor.index()].get() : nullptr;
  }
  View& at(FlavorId flavor) const { return *views_[flavor.index()]; }  // it must have one
  std::unique_ptr<View>& slot(FlavorId flavor) {                       // created if necessary
    if (views_.size() <= flavor.index()) views_.resize(flavor.index() + 1);
    return views_[flavor.index()];
  }
  std::vector<std::unique_ptr<View>>& all() { return views_; }  // by flavor; null: none
  const std::vector<std::unique_ptr<View>>& all() const { return views_; }

  // The usage of the leaf domain changed. `freer`: some of it got less; then its views are relieved, except while a
  // Quiet lives.
  void touch(const LeafDomain& leaf, bool freer) {
    for (const TreePosition& position : leaf.positions) {
      View& view = at(position.flavor);
      // touch() is called for the group's own leaf domain too
      if (position.group.valid() && !view.nodes_below()) continue;
      view.touch(position.leaf);
      if (freer && !quiet_) view.relieved = true;
    }
  }
  class Quiet {
   public:
    explicit Quiet(Views& views) : views_(views) { views_.quiet_ = true; }
    ~Quiet() { views_.quiet_ = false; }
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;

   private:
    Views& views_;
  };

 private:
  std::vector<std::unique_ptr<View>> views_;  // by flavor
  bool quiet_ = false;
};

}  // namespace berth::engine::topology
