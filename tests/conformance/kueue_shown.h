// What recordings of Kueue show of objects, cut out of the whole objects.
#pragma once

#include <string_view>
#include <vector>

#include "base/json.h"

namespace berth::conformance {

// The member, or null.
const Json& member(const Json& object, std::string_view key);
// Only the members that `like` names.
Json restricted(const Json& object, const Json& like);

// Conditions by type: their order is that of their first appearance.
void sort_conditions(Json& object);
// How long something took depends on the recorder's pace.
void forget_durations(Json& workload);

// A Job in the recording's own form, with the members of `expected`.
Json shown_job(const Json& job, const Json& expected);
// Pods of a job: what admission made of them. They have no names and are sorted: which of them got which
// place is up to whoever hands out places.
// `whole`: with finalizers, tolerations, conditions and whether they are being deleted.
Json shown_pods(const std::vector<Json>& pods, bool whole);
Json recorded_pods(const JsonArray& pods, bool whole);
// Name, labels, annotations, finalizers and owners, as far as there are any.
Json own_metadata(const Json& object);
// One object with the members of `expected`, of its metadata too.
Json shown_object(const Json& object, const Json& expected);

}  // namespace berth::conformance
