// The fields that a write through a subresource cannot change and therefore does not own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "embedded/apiserver/resource.h"

namespace berth::apiserver {

std::vector<std::string> reset_fields(const ResourceInfo& resource, std::string_view subresource);

}  // namespace berth::apiserver
