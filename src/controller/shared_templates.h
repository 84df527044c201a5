// One copy of pod templates that are equal: most workloads are made like others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "api/kueue/types.h"

namespace berth::controller {

class SharedTemplates {
 public:
  // Its pod sets use templates that others use already where these are equal.
  void share(api::kueue::Workload& workload);
  std::size_t size() const { return by_hash_.size(); }

 private:
  void forget_unused();

  std::unordered_map<std::size_t, std::weak_ptr<const Json>> by_hash_;  // of the text
  std::size_t look_at_ = 64;  // entries, before those that nobody uses any more are dropped
};

}  // namespace berth::controller
