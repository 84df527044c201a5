// The fields that a write through some subresource does not change, and so does not own either.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/resource.h"

namespace berth::apiserver {

std::vector<std::string> reset_fields(const ResourceInfo& resource, std::string_view subresource);

}  // namespace berth::apiserver
