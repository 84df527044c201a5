#include "controller/own_patches.h"

#include "api/meta.h"
#include "api/resource_version.h"

namespace berth::controller {
namespace {

constexpr int kServerError = 500, kTimeout = 408;

std::uint64_t version_of(const Json& object) {
  return api::version_number(string_at(object, {"metadata", "resourceVersion"}));
}

}  // namespace

void OwnPatches::answered(const Json& object, const api::RestResponse& answer) {
  const std::string key = api::object_key(object);
  if (answer.ok()) {
    left_[key] = string_at(answer.body, {"metadata", "resourceVersion"});
  } else if (answer.code == 0 || answer.code == kTimeout || answer.code >= kServerError) {
    left_[key].clear();
  }
}

bool OwnPatches::shown(const std::string& key, const JsonPtr& cached, const WorkQueue::Finish& finish) {
  const auto left = left_.find(key);
  if (left == left_.end()) return true;
  if (cached && left->second.empty()) {
    ask(key, cached, finish);
    return false;
  }
  if (cached && version_of(*cached) < api::version_number(left->second)) {
    finish(true);
    return false;
  }
  left_.erase(left);
  return true;
}

void OwnPatches::ask(const std::string& key, const JsonPtr& cached, const WorkQueue::Finish& finish) {
  shell_.writes.get(Target::of(resource_, *cached),
                    lifetime_.guard([this, key, finish](const api::RestResponse& response) {
                      if (!response.ok() && response.code != 404) return finish(false);
                      if (response.ok()) {
                        left_[key] = string_at(response.body, {"metadata", "resourceVersion"});
                      } else {
                        left_.erase(key);
                      }
                      look_(key, finish);
                    }));
}

}  // namespace berth::controller
