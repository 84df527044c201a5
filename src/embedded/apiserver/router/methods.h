// The HTTP methods that a resource path takes, and the verbs that they mean.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#api-verbs
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/verb.h"
#include "embedded/apiserver/http/resource_path.h"
#include "embedded/apiserver/resource.h"

namespace berth::apiserver::http {

constexpr std::string_view kTokenSubresource = "token";  // of service accounts

// `named`: the path has the name of an object. `watch`: the query asks for a watch. nullopt: the method is not a verb
// of the API here.
std::optional<api::Verb> verb_of(std::string_view method, bool named, bool watch);

bool has_subresource(const ResourceInfo& info, std::string_view name);

// For Allow headers: "GET, PATCH, PUT".
std::string allowed_methods(const ResourceInfo& info, bool named, std::string_view subresource);
// Whether the path takes the method. HEAD counts as GET.
bool takes_method(const ResourceInfo& info, const ResourcePath& path, const std::string& method);

}  // namespace berth::apiserver::http
