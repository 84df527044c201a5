// Events of a recording of Kueue and those that are there, by what they are about and say. They are a set: their order within a look,
// and how often the same is said, depends on timing.
#pragma once

#include <set>
#include <string>

#include "conformance/kueue_left_out.h"
#include "conformance/kueue_stage.h"

namespace berth::conformance {

struct EventSets {
  Json recorded, actual;  // {"Job/a Started": [{type, controller, note, ...}]}
};

// `seen`: versions of events that an earlier look saw; those of this one join them.
EventSets events_of(Stage& stage, const LeftOut& left_out, const Json& step, std::set<std::string>& seen);

}  // namespace berth::conformance
