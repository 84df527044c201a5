// Keeps one copy of equal documents: most workloads have the same pod template as others, and most pods the same spec
// and labels.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "api/kueue/types.h"
#include "base/json.h"
#include "base/shared_rare.h"

namespace berth::controller {

class SharedTemplates {
 public:
  // The copy that others already use when there is one, else a new copy.
  JsonPtr share(const Json& document);
  // As share() of the pod template with this spec and empty metadata. It is not built if there is a copy already.
  JsonPtr share_spec(const Json& spec);
  // Equal topology requests of its pod sets become one, too.
  void share_requests(api::kueue::Workload& workload);
  std::size_t size() const { return by_hash_.size(); }

 private:
  JsonPtr find_or_make(std::size_t hash, const std::function<bool(const Json&)>& equals,
                       const std::function<Json()>& make);
  void forget_unused();

  using Request = SharedRare<api::kueue::TopologyRequest>;
  std::vector<Request> requests_;  // the latest different ones, a few
  std::size_t next_request_ = 0;   // the one that the next new one replaces
  std::unordered_map<std::size_t, std::weak_ptr<const Json>> by_hash_;
  std::size_t look_at_ = 64;  // number of entries above which unused ones are dropped
};

}  // namespace berth::controller
