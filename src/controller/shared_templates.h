// Keeps one copy of equal pod templates: most workloads have the same template as others.
#pragma once

#include <cstddef>
#include <memory>
#include <unordered_map>

#include "base/json.h"

namespace berth::controller {

class SharedTemplates {
 public:
  // The copy that other workloads already use when there is one, else a new copy.
  JsonPtr share(const Json& pod_template);
  std::size_t size() const { return by_hash_.size(); }

 private:
  void forget_unused();

  std::unordered_map<std::size_t, std::weak_ptr<const Json>> by_hash_;
  std::size_t look_at_ = 64;  // number of entries above which unused ones are dropped
};

}  // namespace berth::controller
