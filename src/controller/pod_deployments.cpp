#include "controller/pod_deployments.h"

#include "api/apps_resources.h"
#include "api/owners.h"

namespace berth::controller {

std::optional<PodDeployments::Owner> PodDeployments::owner_of(const Json& object, std::string_view kind) {
  const Json* owner = api::controller_of(object);
  if (owner == nullptr || string_at(*owner, {"kind"}) != kind ||
      !string_at(*owner, {"apiVersion"}).starts_with("apps/"))
    return std::nullopt;
  return Owner{std::string(string_at(object, {"metadata", "namespace"})), std::string(string_at(*owner, {"name"})),
               std::string(string_at(*owner, {"uid"}))};
}

std::optional<std::string> PodDeployments::uid_for(const jobs::ManagedPod& pod, const std::string& key,
                                                   const WorkQueue::Finish& finish) {
  const auto set = owner_of(*pod.object, "ReplicaSet");
  if (!set) return "";
  if (const auto known = known_.find(set->uid); known != known_.end()) return known->second;
  Waiting& waiting = questions_[set->uid];
  waiting.emplace_back(key, finish);
  if (waiting.size() > 1) return std::nullopt;
  ask(api::kReplicaSets, *set, set->uid, [this, id = set->uid](const Json& replica_set) {
    const auto deployment = owner_of(replica_set, "Deployment");
    if (!deployment) return answer(id, "");
    ask(api::kDeployments, *deployment, id, [this, id, uid = deployment->uid](const Json& object) {
      answer(id, !object.is_null() && managed_(object) ? uid : std::string());
    });
  });
  return std::nullopt;
}

void PodDeployments::ask(const api::GroupVersionResource& resource, const Owner& owner, const std::string& replica_set,
                         std::function<void(const Json&)> then) {
  constexpr int kForbidden = 403, kNotFound = 404;
  api::RestRequest request;
  request.verb = api::Verb::kGet;
  request.resource = resource;
  request.ns = owner.ns;
  request.name = owner.name;
  shell_.client.call(std::move(request), lifetime_.guard([this, uid = owner.uid, replica_set,
                                                          then = std::move(then)](const api::RestResponse& response) {
    if (!response.ok() && response.code != kForbidden && response.code != kNotFound) return give_up(replica_set);
    const bool same = response.ok() && string_at(response.body, {"metadata", "uid"}) == uid;
    then(same ? response.body : Json());
  }));
}

void PodDeployments::answer(const std::string& replica_set, std::string uid) {
  if (known_.size() >= kMostKnown) known_.clear();
  known_.insert_or_assign(replica_set, std::move(uid));
  const auto question = questions_.extract(replica_set);
  for (const auto& [key, finish] : question.mapped()) look_(key, finish);
}

void PodDeployments::give_up(const std::string& replica_set) {
  const auto question = questions_.extract(replica_set);
  for (const auto& [key, finish] : question.mapped()) finish(false);
}

}  // namespace berth::controller
