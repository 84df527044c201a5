// Converts API objects to engine events: one function per kind, called by the caches.
#pragma once

#include <memory>
#include <string>

#include "base/json.h"
#include "engine/engine.h"

namespace berth::controller {

// `now` is null when the object `name` is gone.
template <typename Seen, typename Gone, typename T>
engine::Event seen_or_gone(const std::string& name, const std::shared_ptr<const T>& now) {
  if (!now) return Gone{name};
  return Seen{now};
}
// `key`: "namespace/name".
engine::Event local_queue_event(const std::string& key, const engine::Ptr<api::kueue::LocalQueue>& now);

// `now` is null when the object is gone; of `old` only namespace and name are used.
engine::Event namespace_event(const JsonPtr& old, const JsonPtr& now);
engine::Event limit_range_event(const JsonPtr& old, const JsonPtr& now);
engine::Event runtime_class_event(const JsonPtr& old, const JsonPtr& now);

}  // namespace berth::controller
