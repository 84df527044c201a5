// The events of a recording of Kueue and the actual events, by their subject and content. They are compared as sets:
// their order within a look and their number of repetitions depend on timing.
#pragma once

#include <set>
#include <string>

#include "conformance/kueue_left_out.h"
#include "conformance/kueue_stage.h"

namespace berth::conformance {

struct EventSets {
  Json recorded, actual;  // {"Job/a Started": [{type, controller, note, ...}]}
};

// `seen`: versions of events that earlier looks saw; adds those of this look.
EventSets events_of(Stage& stage, const LeftOut& left_out, const Json& step, std::set<std::string>& seen);

}  // namespace berth::conformance
