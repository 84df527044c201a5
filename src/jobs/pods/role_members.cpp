#include "jobs/pods/role_members.h"

#include <algorithm>
#include <utility>

#include "base/planted.h"

namespace berth::jobs {

RoleMembers::RoleMembers(const std::vector<ManagedPodPtr>& pods, Roles roles, bool serving) {
  for (const auto& [name, count] : roles) {
    roles_[name].places = count;
    total_ += count;
  }
  std::map<std::string_view, std::vector<ManagedPodPtr>> by_role;
  for (const auto& pod : pods) {
    if (roles_.contains(pod->role)) {
      by_role[pod->role].push_back(pod);
    } else if (!pod->runnable()) {
      replaced_.push_back(pod);
    } else if (pod->gated) {
      strangers_.push_back(pod);
    }
  }
  for (auto& [name, role] : roles_) fill(name, role, by_role[name], serving);
}

void RoleMembers::fill(const std::string&, Role& role, const std::vector<ManagedPodPtr>& pods, bool serving) {
  std::vector<ManagedPodPtr> gated, gone;
  std::int32_t kept = 0;
  for (const auto& pod : pods) {
    const bool succeeded = pod->phase == PodPhase::kSucceeded;
    if (planted(Planted::kEarlySuccessor) ? pod->active() && pod->runnable() : pod->active()) ++role.occupied;
    if (succeeded && !serving) {
      done_.push_back(pod);
      ++role.succeeded;
      ++role.occupied;
      ++kept;
    } else if (!pod->runnable()) {
      gone.push_back(pod);
    } else if (pod->gated) {
      gated.push_back(pod);
    } else {
      ++kept;
    }
    if (succeeded || (pod->ready && !pod->gated)) ++ready_;
  }
  const auto free = static_cast<std::size_t>(std::max(role.places - kept, 0));
  const std::size_t taken = std::min(free, gated.size());
  waiting_.insert(waiting_.end(), gated.begin(), gated.begin() + static_cast<std::ptrdiff_t>(taken));
  excess_.insert(excess_.end(), gated.begin() + static_cast<std::ptrdiff_t>(taken), gated.end());
  const auto open = free - taken;
  filled_ += role.places - static_cast<std::int32_t>(open);
  missing_ += static_cast<std::int32_t>(open);
  // The newest of the pods that are gone stand for the open places.
  const std::size_t released = gone.size() - std::min(open, gone.size());
  replaced_.insert(replaced_.end(), gone.begin(), gone.begin() + static_cast<std::ptrdiff_t>(released));
  for (std::size_t i = released; i < gone.size(); ++i) lost_.push_back(gone[i]);
  for (std::size_t i = 0; i < released; ++i) {
    if (gone[i]->phase == PodPhase::kSucceeded || gone[i]->ready) --ready_;
  }
}

std::int32_t RoleMembers::room(const std::string& role) const {
  const auto it = roles_.find(role);
  return it == roles_.end() ? 0 : std::max(it->second.places - it->second.occupied, 0);
}

std::int32_t RoleMembers::running(const std::string& role) const {
  const auto it = roles_.find(role);
  return it == roles_.end() ? 0 : it->second.occupied - it->second.succeeded;
}

Roles RoleMembers::succeeded() const {
  Roles out;
  for (const auto& [name, role] : roles_) {
    if (role.succeeded > 0) out[name] = std::min(role.succeeded, role.places);
  }
  return out;
}

}  // namespace berth::jobs
