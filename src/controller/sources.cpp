#include "controller/sources.h"

#include <string_view>

#include "api/meta.h"

namespace berth::controller {
namespace {

using engine::Event;

std::string name_of(const Json& object) { return std::string(string_at(object, {"metadata", "name"})); }
std::string namespace_of(const Json& object) { return std::string(string_at(object, {"metadata", "namespace"})); }

}  // namespace

Event local_queue_event(const std::string& key, const engine::Ptr<api::kueue::LocalQueue>& now) {
  const auto slash = key.find('/');
  if (!now) return engine::LocalQueueGone{key.substr(0, slash), key.substr(slash + 1)};
  return engine::LocalQueueSeen{now};
}

Event namespace_event(const JsonPtr& old, const JsonPtr& now) {
  if (!now) return engine::NamespaceGone{name_of(*old)};
  return engine::NamespaceSeen{name_of(*now), api::decode_meta(*now).labels};
}

Event limit_range_event(const JsonPtr& old, const JsonPtr& now) {
  if (!now) return engine::LimitRangeGone{namespace_of(*old), name_of(*old)};
  return engine::LimitRangeSeen{namespace_of(*now), name_of(*now), api::decode_limit_range(*now)};
}

Event runtime_class_event(const JsonPtr& old, const JsonPtr& now) {
  if (!now) return engine::RuntimeClassGone{name_of(*old)};
  const Json* overhead = find_path(*now, {"overhead", "podFixed"});
  return engine::RuntimeClassSeen{name_of(*now), overhead ? std::make_shared<const Json>(*overhead) : nullptr};
}

}  // namespace berth::controller
