// The pods of a group by role: which of them count, which are too many, and which may be released from the finalizer.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/pods/managed_pod.h"

namespace berth::jobs {

// The number of pods that each role shall have.
using Roles = std::map<std::string, std::int32_t>;

class RoleMembers {
 public:
  // `pods`: older first. Pods of a role that `roles` does not have fill no place.
  RoleMembers(const std::vector<ManagedPodPtr>& pods, Roles roles, bool serving);

  // Gated pods beyond the number of their role, the newest of it.
  const std::vector<ManagedPodPtr>& excess() const { return excess_; }
  // Pods whose place another pod has taken, and pods without a role that ended or are being deleted.
  const std::vector<ManagedPodPtr>& replaced() const { return replaced_; }
  // Pods that failed or are being deleted, and have no successor yet.
  const std::vector<ManagedPodPtr>& lost() const { return lost_; }
  // Pods that succeeded and keep their place.
  const std::vector<ManagedPodPtr>& done() const { return done_; }
  // Gated pods that have a place, the oldest first.
  const std::vector<ManagedPodPtr>& waiting() const { return waiting_; }
  // Gated pods of a role that the group does not have.
  const std::vector<ManagedPodPtr>& strangers() const { return strangers_; }

  // Pods that may be let go now: places of the role, without those of pods that run or, on a node, still end.
  std::int32_t room(const std::string& role) const;
  // Pods of the role that run or, on a node, still end.
  std::int32_t running(const std::string& role) const;
  std::int32_t filled() const { return filled_; }    // places that a runnable or succeeded pod has
  std::int32_t missing() const { return missing_; }  // places without such a pod
  std::int32_t ready() const { return ready_; }      // pods with a place that are ready or succeeded
  std::int32_t total() const { return total_; }
  Roles succeeded() const;  // by role; without roles that have none

 private:
  struct Role {
    std::int32_t places = 0, occupied = 0, succeeded = 0;
  };
  void fill(const std::string& name, Role& role, const std::vector<ManagedPodPtr>& pods, bool serving);

  std::map<std::string, Role, std::less<>> roles_;
  std::vector<ManagedPodPtr> excess_, replaced_, lost_, done_, waiting_, strangers_;
  std::int32_t filled_ = 0, missing_ = 0, ready_ = 0, total_ = 0;
};

}  // namespace berth::jobs
