// The built-in kinds: schemas (the *.yaml files in this folder), defaults, validation, printer columns.
#pragma once

#include <vector>

#include "embedded/apiserver/resource.h"

namespace berth::apiserver {

std::vector<ResourcePtr> builtin_resources();

}  // namespace berth::apiserver
