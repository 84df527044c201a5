// Objects with a queue name that run without quota, because Berth does not manage their kind. The user is told.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/json.h"

namespace berth::api::kueue {

// A kind that Kueue has an integration for and Berth has none.
struct UnmanagedKind {
  std::string_view group, resource;
  std::string_view webhook;  // in the paths of Kueue's webhooks, after /mutate- and /validate-
};
std::span<const UnmanagedKind> unmanaged_kinds();
bool is_unmanaged_kind(std::string_view group, std::string_view resource);

// The warnings. Only for an object that gets its queue name now: `old` is null on creation. Else "".
std::string unmanaged_kind_warning(const Json& object, const Json* old);
// For a kind that Berth can manage and whose framework the Configuration does not list.
std::string unlisted_kind_warning(const Json& object, const Json* old, std::string_view kind,
                                  std::string_view framework);

}  // namespace berth::api::kueue
