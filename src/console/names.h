// Names in requests of pages: which objects they may be about.
#pragma once

#include <optional>
#include <string_view>

#include "api/rest.h"

namespace berth::console {

// Whether `name` can be the name of an object. Others are refused, so that no name changes the path of a request.
bool may_be_name(std::string_view name);

// The resource of a word in a request: "workloads", "queues" (Volcano's). nullopt for others.
struct NamedResource {
  api::GroupVersionResource resource;
  bool namespaced = false;
};
std::optional<NamedResource> named_resource(std::string_view word);

}  // namespace berth::console
