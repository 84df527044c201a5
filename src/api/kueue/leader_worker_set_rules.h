// The rules of Kueue's webhooks for LeaderWorkerSets, as pure functions. Each group of pods has a workload of its own,
// so the number of groups may change at any time; the shape of a group may not.
// https://kueue.sigs.k8s.io/docs/tasks/run/leaderworkerset/
#pragma once

#include <cstdint>
#include <optional>

#include "api/field_error.h"
#include "api/kueue/job_rules.h"
#include "base/json.h"

namespace berth::api::kueue {

// On creation and on updates: gives a managed set the default queue and priority class, and lets its pods wait.
// Idempotent.
void default_leader_worker_set(Json& set, const JobContext& context);

FieldErrors validate_leader_worker_set(const Json& set, const JobContext& context);
// Of a managed set, the size of a group and the shape of its pods stay.
FieldErrors validate_leader_worker_set_update(const Json& set, const Json& old, const JobContext& context);

// The templates of its pods. Without a template of leaders, the leader is one of the workers.
const Json* leader_template(const Json& set);  // null when there is none
const Json* worker_template(const Json& set);
// The number of pods in a group, at least 1.
std::int32_t group_size(const Json& set);

}  // namespace berth::api::kueue
