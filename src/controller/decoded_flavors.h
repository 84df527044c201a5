// The flavors of the cluster as values.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "api/kueue/types.h"
#include "base/json.h"

namespace berth::controller {

class DecodedFlavors {
 public:
  // `now`: the object; null when it is gone. A version that cannot be decoded leaves the flavor as it is.
  void changed(const std::string& name, const JsonPtr& now);
  const api::kueue::ResourceFlavor* find(std::string_view name) const;  // null when unknown
  bool any_with_topology() const;

 private:
  std::map<std::string, api::kueue::ResourceFlavor, std::less<>> flavors_;
};

}  // namespace berth::controller
