// What the account of a worker's kubeconfig must be allowed to do there, and whether it is.
// https://kubernetes.io/docs/reference/access-authn-authz/authorization/#checking-api-access
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/rest.h"
#include "multikueue/remote_kind.h"

namespace berth::controller {

struct WantedRights {
  std::string group, resource, subresource;  // subresource "": the object itself
  std::vector<std::string> verbs;
};

// For the copies of workloads.
std::vector<WantedRights> rights_for_copies();
// For jobs of a kind.
WantedRights rights_for(const multikueue::RemoteKind& kind);

// Asks the server of `client` about each of these. `done` is called once with what is missing, such as
// "create, delete jobs.batch; patch workloads.kueue.x-k8s.io/status"; "": nothing. What the server does not answer
// counts as allowed: then the requests themselves tell. `done` must be safe to call late.
void ask_for_rights(api::RestClient& client, std::vector<WantedRights> wanted,
                    std::function<void(const std::string& missing)> done);

}  // namespace berth::controller
