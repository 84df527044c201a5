#include "controller/job_upkeep.h"

#include <tuple>

namespace berth::controller {

bool OlderWorkload::operator()(const jobs::WorkloadPtr& a, const jobs::WorkloadPtr& b) const {
  return std::tie(a->meta.creation, a->meta.uid) < std::tie(b->meta.creation, b->meta.uid);
}

std::string reset_checks(const jobs::WorkloadPtr& old, const jobs::WorkloadPtr& now) {
  std::string text;
  if (!old || !now || !now->active) return text;
  for (const auto& check : now->status.admission_checks) {
    if (check.state != api::kueue::CheckState::kPending || check.message.empty()) continue;
    for (const auto& before : old->status.admission_checks) {
      if (before.name != check.name || before.message == check.message) continue;
      text.append(text.empty() ? "" : "; ").append(check.name).append(": ").append(check.message);
    }
  }
  return text;
}

}  // namespace berth::controller
