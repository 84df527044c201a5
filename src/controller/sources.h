// From objects of the API to events of the engine: one function per kind, called by the caches.
#pragma once

#include <functional>
#include <optional>

#include "api/rest.h"
#include "base/json.h"
#include "engine/engine.h"

namespace berth::controller {

// `now` is null when the object is gone, then `old` holds its last state. Nothing for objects that cannot be
// decoded: the API server validates them, so that happens only with foreign CRDs; it is logged.
std::optional<engine::Event> cluster_queue_event(const JsonPtr& old, const JsonPtr& now);
std::optional<engine::Event> cohort_event(const JsonPtr& old, const JsonPtr& now);
std::optional<engine::Event> local_queue_event(const JsonPtr& old, const JsonPtr& now);
std::optional<engine::Event> resource_flavor_event(const JsonPtr& old, const JsonPtr& now);
std::optional<engine::Event> topology_event(const JsonPtr& old, const JsonPtr& now);
std::optional<engine::Event> admission_check_event(const JsonPtr& old, const JsonPtr& now);
std::optional<engine::Event> namespace_event(const JsonPtr& old, const JsonPtr& now);
std::optional<engine::Event> limit_range_event(const JsonPtr& old, const JsonPtr& now);
std::optional<engine::Event> runtime_class_event(const JsonPtr& old, const JsonPtr& now);

}  // namespace berth::controller
