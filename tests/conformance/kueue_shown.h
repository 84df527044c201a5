// The parts of objects that recordings of Kueue show.
#pragma once

#include <string_view>
#include <vector>

#include "base/json.h"

namespace berth::conformance {

// The member; null when it does not exist.
const Json& member(const Json& object, std::string_view key);
// Only the members that `like` has.
Json restricted(const Json& object, const Json& like);

// Sorts conditions by type: their order is that of their first appearance and depends on timing.
void sort_conditions(Json& object);
// Sorts the owners in the metadata of an object by name.
void sort_owners(Json& metadata);
// Removes durations: they depend on the recorder's speed.
void forget_durations(Json& workload);

// A Job in the form of the recording, with the members of `expected`.
Json shown_job(const Json& job, const Json& expected);
// The parts of a job's pods that admission sets. Pods have no names here and are sorted, because the assignment of
// pods to topology domains may differ.
// `whole`: also finalizers, tolerations, conditions, and whether they are being deleted.
Json shown_pods(const std::vector<Json>& pods, bool whole);
Json recorded_pods(const JsonArray& pods, bool whole);
// Name, labels, annotations, finalizers and owners, if there are any.
Json own_metadata(const Json& object);
// Without members that are empty objects: Kueue writes whole objects, with the empty structures of its types.
Json without_empty_objects(const Json& value);
// One object with the members of `expected`, also within its metadata.
Json shown_object(const Json& object, const Json& expected);
// The same for a job of another kind than Job, or what it consists of (a Deployment, a StatefulSet): its own metadata
// completely, of its pod templates and its status what the recordings show.
Json shown_owner(const Json& object, const Json& expected);

}  // namespace berth::conformance
