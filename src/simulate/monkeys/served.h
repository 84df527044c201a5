// What the embedded server serves, for monkeys that play inside.
#pragma once

#include "apiserver/registry.h"
#include "simulate/monkeys/kinds.h"

namespace berth::simulate {

// From the OpenAPI documents that it serves: all groups and versions.
MonkeyKinds kinds_of(const apiserver::Registry& registry);

}  // namespace berth::simulate
