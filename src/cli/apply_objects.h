// Applies objects to an API server one after the other, like kubectl apply --server-side. An object with a generateName
// in place of a name is created, like kubectl create: each time a new one.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/rest.h"
#include "base/executor.h"
#include "base/json.h"
#include "embedded/apiserver/registry.h"

namespace berth::cli {

struct ObjectToApply {
  Json object;
  std::string origin;  // source of the object for error messages: "queues.yaml, document 2"
  // false: when somebody else wrote a part of the stored object that this one would change, it is left as it is.
  bool force = true;
};

// Reads the objects of YAML files; a List is replaced by its items. A directory stands for its *.yaml, *.yml and
// *.json files, sorted by name.
Result<std::vector<ObjectToApply>> read_objects(const std::vector<std::string>& paths);
Result<std::vector<ObjectToApply>> parse_objects(std::string_view text, const std::string& origin);

// Calls `done` on the executor, with the first failure; later objects are not applied then. The namespaces of the
// objects must exist or be among the objects. A kind is looked up when its object is applied, so definitions may come
// before objects of their kinds.
void apply_objects(api::RestClient& client, const apiserver::Registry& registry, Executor& executor,
                   std::vector<ObjectToApply> objects, std::function<void(Result<void>)> done);

}  // namespace berth::cli
