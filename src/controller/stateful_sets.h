// The StatefulSets of the cluster as owners of groups of pods: PodController looks after the groups.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "jobs/pods/served_group.h"
#include "kube/informer.h"

namespace berth::controller {

class StatefulSets {
 public:
  using Changed = std::function<void(const std::string& ns, const std::string& group, bool gone)>;
  // `managed`: whether Berth manages this StatefulSet now. `changed` is called for each group whose owner changed.
  StatefulSets(kube::Informer& sets, std::function<bool(const Json& set)> managed, Changed changed);

  void set_changed(const JsonPtr& old, const JsonPtr& now);
  // Calls `changed` for every StatefulSet.
  void look_at_all() const;
  // The group as its StatefulSet has it; null: no StatefulSet has this group.
  jobs::ServedGroupPtr group(std::string_view ns, std::string_view name) const;

 private:
  kube::Informer& sets_;
  std::function<bool(const Json& set)> managed_;
  Changed changed_;
  std::map<std::string, std::string> by_group_;  // keys ("namespace/name") of StatefulSets by the key of their group
};

}  // namespace berth::controller
