// Converts API objects to engine events: one function per kind, called by the caches.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "engine/engine.h"

namespace berth::controller {

// `now` is null when the object is gone; then `old` holds its last state. It is an error when `now` cannot be
// decoded. The API server validates objects, so this happens only when it has another version of the
// CustomResourceDefinition.
Result<engine::Event> cluster_queue_event(const JsonPtr& old, const JsonPtr& now);
Result<engine::Event> cohort_event(const JsonPtr& old, const JsonPtr& now);
Result<engine::Event> local_queue_event(const JsonPtr& old, const JsonPtr& now);
Result<engine::Event> resource_flavor_event(const JsonPtr& old, const JsonPtr& now);
Result<engine::Event> topology_event(const JsonPtr& old, const JsonPtr& now);
Result<engine::Event> admission_check_event(const JsonPtr& old, const JsonPtr& now);
Result<engine::Event> namespace_event(const JsonPtr& old, const JsonPtr& now);
Result<engine::Event> limit_range_event(const JsonPtr& old, const JsonPtr& now);
Result<engine::Event> runtime_class_event(const JsonPtr& old, const JsonPtr& now);

}  // namespace berth::controller
