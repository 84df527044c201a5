// Which Deployment a pod belongs to. Pods name their ReplicaSet only, and no cache has the ReplicaSets: the API server
// is asked once for each of them.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/rest.h"
#include "base/lifetime.h"
#include "base/string_map.h"
#include "controller/shell.h"
#include "controller/work_queue.h"
#include "jobs/pods/managed_pod.h"

namespace berth::controller {

class PodDeployments {
 public:
  using Look = std::function<void(const std::string& key, WorkQueue::Finish finish)>;

  // `managed`: whether this Deployment is managed. `look` looks at a key again.
  PodDeployments(Shell& shell, std::function<bool(const Json&)> managed, Look look)
      : shell_(shell), managed_(std::move(managed)), look_(std::move(look)) {}

  // During a look at `key`: the UID of the managed Deployment that made the pod; "" when there is none, or when Berth
  // may not read it. nullopt: not known yet. Then this takes over `finish`, and the key is looked at again when the API
  // server has answered, or with a delay when it could not.
  std::optional<std::string> uid_for(const jobs::ManagedPod& pod, const std::string& key,
                                     const WorkQueue::Finish& finish);

 private:
  struct Owner {
    std::string ns, name, uid;
  };
  using Waiting = std::vector<std::pair<std::string, WorkQueue::Finish>>;

  // More ReplicaSets than have pods that wait at the same time; the API server is asked again when there are more.
  static constexpr std::size_t kMostKnown = 4096;

  static std::optional<Owner> owner_of(const Json& object, std::string_view kind);
  // Calls `then` with the object; with null when it does not exist any more or may not be read; not at all when the
  // server has no answer.
  void ask(const api::GroupVersionResource& resource, const Owner& owner, const std::string& replica_set,
           std::function<void(const Json&)> then);
  void answer(const std::string& replica_set, std::string uid);
  void give_up(const std::string& replica_set);

  Shell& shell_;
  std::function<bool(const Json&)> managed_;
  Look look_;
  StringMap<std::string> known_;              // by the UID of the ReplicaSet
  std::map<std::string, Waiting> questions_;  // those that are under way
  Lifetime lifetime_;
};

}  // namespace berth::controller
