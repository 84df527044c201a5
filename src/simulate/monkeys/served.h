// The kinds that the embedded server serves, for monkeys in the simulation.
#pragma once

#include "apiserver/registry.h"
#include "simulate/monkeys/kinds.h"

namespace berth::simulate {

// Reads the server's OpenAPI documents of all groups and versions.
MonkeyKinds kinds_of(const apiserver::Registry& registry);

}  // namespace berth::simulate
