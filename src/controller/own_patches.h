// What this controller's own patches made of objects that the cache does not show yet. Until it does, it tells nothing
// about them: a job that is shown as suspended may have been started.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "api/rest.h"
#include "base/json.h"
#include "base/lifetime.h"
#include "controller/shell.h"
#include "controller/work_queue.h"

namespace berth::controller {

class OwnPatches {
 public:
  using Look = std::function<void(const std::string& key, WorkQueue::Finish finish)>;

  // Of objects of this resource. `look` looks at a key again, "namespace/name".
  OwnPatches(Shell& shell, api::GroupVersionResource resource, Look look)
      : shell_(shell), resource_(std::move(resource)), look_(std::move(look)) {}

  // A patch of the object was answered.
  void answered(const Json& object, const api::RestResponse& answer);
  // During a look at `key`: whether the cached object, null when there is none, is as new as the last patch left it.
  // Otherwise this takes over `finish`: the key need not be looked at before the cache has something new. When nobody
  // knows whether the patch was carried out, this asks first, and the key is looked at again after the answer.
  bool shown(const std::string& key, const JsonPtr& cached, const WorkQueue::Finish& finish);

 private:
  void ask(const std::string& key, const JsonPtr& cached, const WorkQueue::Finish& finish);

  Shell& shell_;
  const api::GroupVersionResource resource_;
  Look look_;
  // The resourceVersions that patches left, by key; "": unknown.
  std::map<std::string, std::string> left_;
  Lifetime lifetime_;
};

}  // namespace berth::controller
