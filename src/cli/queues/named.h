// Names in flags that name nothing. Asked only when a list is empty: most lists cost no request more.
#pragma once

#include <string>
#include <string_view>

#include "cli/queues/discovery.h"
#include "cli/queues/kinds.h"
#include "cli/queues/lister.h"
#include "cli/queues/session.h"

namespace berth::cli::queues {

// What is wrong: "-c gpus: there is no ClusterQueue gpus; nearest: gpu, cpu". Empty: the object exists, or this user
// may not know. `ns`: of the object; empty: cluster-scoped, or any namespace.
std::string names_nothing(const Session& session, Server& server, std::string_view flag, const Kind& kind,
                          const std::string& ns, const std::string& name);

// The same for a namespace: "-n labs: there is no namespace labs; nearest: lab". An empty `ns` is all namespaces.
std::string no_namespace(const Session& session, Server& server, const std::string& ns);

// The same for the object of --for, which the server does not have.
std::string no_object(const Session& session, Server& server, const FoundResource& resource, const std::string& ns,
                      const std::string& name);

}  // namespace berth::cli::queues
