// Compiles a shape for the resource groups of one cluster queue.
#pragma once

#include "engine/queue/plan.h"
#include "engine/queue/shape.h"
#include "engine/schedule/flavors.h"
#include "engine/schedule/queue_config.h"
#include "engine/topology/places.h"

namespace berth::engine {

// Uses only the flavors and topologies of `places`, not what is free. `ignore_undeclared`: skip resources that no
// group covers.
Plan make_plan(const Shape& shape, const QueueConfig& config, const FlavorTable& flavors, const Places& places,
               Names& names, bool ignore_undeclared);

// The step requests amounts of 0 only, and no place depends on its flavor: it is as if it were not there.
bool is_idle(const Plan& plan, const Plan::Unit& unit, const Plan::Step& step);

}  // namespace berth::engine
