// Brings objects into an API server one after the other, as kubectl apply --server-side would.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/rest.h"
#include "apiserver/registry.h"
#include "base/executor.h"
#include "base/json.h"

namespace berth::cli {

struct ObjectToApply {
  Json object;
  std::string origin;  // where it comes from, for errors: "queues.yaml, document 2"
};

// The objects of YAML files; lists are taken apart. A directory stands for its *.yaml, *.yml and *.json files
// by name.
Result<std::vector<ObjectToApply>> read_objects(const std::vector<std::string>& paths);
Result<std::vector<ObjectToApply>> parse_objects(std::string_view text, const std::string& origin);

// `done` runs on the executor, with the first failure: objects after it are not applied. Namespaces that the
// objects name must exist or be among them. Kinds are looked up when their turn comes, so definitions may
// come before objects.
void apply_objects(api::RestClient& client, const apiserver::Registry& registry, Executor& executor,
                   std::vector<ObjectToApply> objects, std::function<void(Result<void>)> done);

}  // namespace berth::cli
