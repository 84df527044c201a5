// The combinations of flavors that a request may get, one flavor of each step of its plan.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/schedule/assignment.h"
#include "engine/schedule/make_plan.h"

namespace berth::engine {

// All combinations of the flavors that are possible, one of each step, but the one that was chosen. `together`: also of
// those that are possible only together with others.
class Combinations {
 public:
  Combinations(const Plan& plan, const std::vector<Assignment::Choice>& choices, bool together) {
    auto choice = choices.begin();
    for (const Plan::Unit& unit : plan.units) {
      for (const Plan::Step& step : unit.steps) add(step, is_idle(plan, unit, step), *choice++, together);
    }
    at_.resize(flavors_.size());
  }
  bool next() {
    while (!ended_) {
      flavors.clear();
      each_alone = true;
      for (std::size_t i = 0; i < at_.size(); ++i) {
        flavors.push_back(flavors_[i][at_[i]]);
        each_alone = each_alone && at_[i] < alone_[i];
      }
      step();
      if (flavors != chosen_) return true;
    }
    return false;
  }
  std::vector<std::int32_t> flavors;  // by step
  bool each_alone = true;             // each of them is possible by itself

 private:
  void add(const Plan::Step& step, bool idle, const Assignment::Choice& choice, bool together) {
    chosen_.push_back(choice.flavor);
    auto& possible = flavors_.emplace_back();
    const std::int32_t count = idle ? 0 : static_cast<std::int32_t>(step.ids.size());
    for (std::int32_t f = 0; f < count; ++f) {
      if (choice.is_possible(f)) possible.push_back(f);
    }
    alone_.push_back(idle ? 1 : possible.size());
    for (std::int32_t f = 0; f < count && together; ++f) {
      if (choice.is_possible_together(f)) possible.push_back(f);
    }
    if (possible.empty()) {
      possible.push_back(choice.flavor);
      ended_ = ended_ || !idle;  // whatever the other steps get
    }
  }
  void step() {
    for (std::size_t i = at_.size(); i-- > 0;) {
      if (++at_[i] < flavors_[i].size()) return;
      at_[i] = 0;
    }
    ended_ = true;
  }
  std::vector<std::vector<std::int32_t>> flavors_;
  std::vector<std::size_t> alone_;  // by step: how many of them, the first ones, are possible by themselves
  std::vector<std::int32_t> chosen_;
  std::vector<std::size_t> at_;
  bool ended_ = false;
};

}  // namespace berth::engine
