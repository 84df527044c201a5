// Applies objects to an API server one after the other, like kubectl apply --server-side. An object with a generateName
// in place of a name is created, like kubectl create: each time a new one.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "api/rest.h"
#include "base/executor.h"
#include "base/result.h"
#include "cli/object_files.h"
#include "embedded/apiserver/registry.h"

namespace berth::cli {

// Calls `done` on the executor, with the first failure; later objects are not applied then. The namespaces of the
// objects must exist or be among the objects. A kind is looked up when its object is applied, so definitions may come
// before objects of their kinds.
void apply_objects(api::RestClient& client, const apiserver::Registry& registry, Executor& executor,
                   std::vector<ObjectToApply> objects, std::function<void(Result<void>)> done);

}  // namespace berth::cli
