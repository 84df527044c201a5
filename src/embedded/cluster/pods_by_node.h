// Index of pods by the node that they are bound to.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace berth::cluster {

class PodsByNode {
 public:
  void pod_changed(const JsonPtr& old, const JsonPtr& now);
  std::vector<std::string> on(std::string_view node) const;  // pod keys, sorted

 private:
  std::map<std::string, std::set<std::string>, std::less<>> pods_;
};

}  // namespace berth::cluster
