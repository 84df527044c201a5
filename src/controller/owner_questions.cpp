#include "controller/owner_questions.h"

namespace berth::controller {

bool OwnerQuestions::is_absent(const std::string& key, const Owner& owner, const WorkQueue::Finish& finish) {
  if (const auto known = absent_.find(key); known != absent_.end() && known->second.contains(owner.uid)) return true;
  shell_.client.call(api::kueue::request_for(owner),
                     lifetime_.guard([this, key, owner, finish](const api::RestResponse& response) {
                       const auto found = api::kueue::owner_in(owner, response);
                       if (!found || *found) return finish(false);
                       absent_[key].insert(owner.uid);
                       look_(key, finish);
                     }));
  return false;
}

}  // namespace berth::controller
