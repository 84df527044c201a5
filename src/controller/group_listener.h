// What owners of groups of pods tell the part that looks after the groups.
#pragma once

#include <string>

namespace berth::controller {

class GroupListener {
 public:
  virtual ~GroupListener() = default;
  // The owner of this group is new, changed or gone.
  virtual void owner_changed(const std::string& ns, const std::string& group, bool gone) = 0;
  // The owner of this pod may have put it into another group.
  virtual void regroup(const std::string& uid) = 0;
  // The same for every pod of the group.
  virtual void regroup_all(const std::string& ns, const std::string& group) = 0;
  // No owner of a workload is unknown any more.
  virtual void owners_known() = 0;
};

}  // namespace berth::controller
