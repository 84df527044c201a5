// One copy of pod templates that are equal: most workloads are made like others.
#pragma once

#include <cstddef>
#include <memory>
#include <unordered_map>

#include "base/json.h"

namespace berth::controller {

class SharedTemplates {
 public:
  // The copy that others use already when there is one, else a new one.
  JsonPtr share(const Json& pod_template);
  std::size_t size() const { return by_hash_.size(); }

 private:
  void forget_unused();

  std::unordered_map<std::size_t, std::weak_ptr<const Json>> by_hash_;
  std::size_t look_at_ = 64;  // entries, before those that nobody uses any more are dropped
};

}  // namespace berth::controller
