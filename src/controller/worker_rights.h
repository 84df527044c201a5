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
  bool needed = true;  // false: without them jobs can be dispatched
};

struct MissingRights {
  std::string text;     // such as "create, delete jobs.batch; patch workloads.kueue.x-k8s.io/status"; "": none
  bool needed = false;  // one of them is needed
  bool wished = false;  // one of them is not needed
  bool operator==(const MissingRights&) const = default;
};

// For the copies of workloads.
std::vector<WantedRights> rights_for_copies();
// For jobs of a kind. The right to patch what changes on the manager is not needed.
std::vector<WantedRights> rights_for(const multikueue::RemoteKind& kind);

// Asks the server of `client` about each of these. `done` is called once with what is missing. What the server does
// not answer, or could not find out (evaluationError), counts as allowed: then the requests themselves tell. `done`
// must be safe to call late.
void ask_for_rights(api::RestClient& client, std::vector<WantedRights> wanted,
                    std::function<void(const MissingRights& missing)> done);

}  // namespace berth::controller
