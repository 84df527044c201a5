// The built-in kinds: schemas (the *.yaml files beside this one), defaults, validation, columns.
#pragma once

#include <vector>

#include "apiserver/resource.h"

namespace berth::apiserver {

std::vector<ResourcePtr> builtin_resources();

}  // namespace berth::apiserver
