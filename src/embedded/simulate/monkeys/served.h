// The kinds that the embedded server serves, for monkeys in the simulation.
#pragma once

#include "embedded/apiserver/registry.h"
#include "embedded/simulate/monkeys/kinds.h"

namespace berth::simulate {

// Reads the server's OpenAPI documents of all groups and versions.
MonkeyKinds kinds_of(const apiserver::Registry& registry);

}  // namespace berth::simulate
