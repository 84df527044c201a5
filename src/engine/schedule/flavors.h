// Resource flavors, and whether the pods of a pod set may run on their nodes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/core/scheduling.h"
#include "api/kueue/types.h"
#include "engine/quota/ids.h"

namespace berth::engine {

class FlavorTable {
 public:
  struct Flavor {
    bool exists = false;
    api::StringMap node_labels;
    std::vector<api::Taint> node_taints;
    std::vector<api::Toleration> tolerations;
    std::string topology_name;
    bool operator==(const Flavor&) const = default;
  };
  bool set(FlavorId id, const api::kueue::ResourceFlavor& flavor);  // true when anything changed
  bool remove(FlavorId id);
  bool exists(FlavorId id) const { return id.index() < flavors_.size() && flavors_[id.index()].exists; }
  std::vector<FlavorId> with_topology(std::string_view name) const;

  // Why pods with these constraints cannot use the flavor: "flavor x not found", "untolerated taint {gpu yes
  // NoSchedule <nil>} in flavor x", "flavor x doesn't match node affinity"; "" when they can. As in Kueue, only
  // selectors and affinity expressions whose keys are labels of this flavor count; a term without any such expression
  // matches.
  std::string mismatch(FlavorId id, const std::string& name, const api::NodeConstraints& constraints) const;

 private:
  std::vector<Flavor> flavors_;
};

}  // namespace berth::engine
