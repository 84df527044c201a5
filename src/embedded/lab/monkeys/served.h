// The kinds that the embedded server serves, for monkeys in the simulation.
#pragma once

#include "embedded/apiserver/registry.h"
#include "embedded/lab/monkeys/kinds.h"

namespace berth::lab {

// Reads the server's OpenAPI documents of all groups and versions.
MonkeyKinds kinds_of(const apiserver::Registry& registry);

}  // namespace berth::lab
