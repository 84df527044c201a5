#include "controller/sources.h"

#include <string>

#include "api/meta.h"

namespace berth::controller {
namespace {

using engine::Event;

std::string name_of(const Json& object) { return std::string(string_at(object, {"metadata", "name"})); }
std::string namespace_of(const Json& object) { return std::string(string_at(object, {"metadata", "namespace"})); }

template <typename Seen, typename T>
Result<Event> seen(Result<T> decoded) {
  if (!decoded) return tl::unexpected(decoded.error());
  return Seen{std::make_shared<const T>(std::move(*decoded))};
}

}  // namespace

Result<Event> cluster_queue_event(const JsonPtr& old, const JsonPtr& now) {
  if (!now) return engine::ClusterQueueGone{name_of(*old)};
  return seen<engine::ClusterQueueSeen>(api::kueue::decode_cluster_queue(*now));
}

Result<Event> cohort_event(const JsonPtr& old, const JsonPtr& now) {
  if (!now) return engine::CohortGone{name_of(*old)};
  return seen<engine::CohortSeen>(api::kueue::decode_cohort(*now));
}

Result<Event> local_queue_event(const JsonPtr& old, const JsonPtr& now) {
  if (!now) return engine::LocalQueueGone{namespace_of(*old), name_of(*old)};
  return seen<engine::LocalQueueSeen>(api::kueue::decode_local_queue(*now));
}

Result<Event> resource_flavor_event(const JsonPtr& old, const JsonPtr& now) {
  if (!now) return engine::ResourceFlavorGone{name_of(*old)};
  return seen<engine::ResourceFlavorSeen>(api::kueue::decode_resource_flavor(*now));
}

Result<Event> topology_event(const JsonPtr& old, const JsonPtr& now) {
  if (!now) return engine::TopologyGone{name_of(*old)};
  return seen<engine::TopologySeen>(api::kueue::decode_topology(*now));
}

Result<Event> admission_check_event(const JsonPtr& old, const JsonPtr& now) {
  if (!now) return engine::AdmissionCheckGone{name_of(*old)};
  return seen<engine::AdmissionCheckSeen>(api::kueue::decode_admission_check(*now));
}

Result<Event> namespace_event(const JsonPtr& old, const JsonPtr& now) {
  if (!now) return engine::NamespaceGone{name_of(*old)};
  return engine::NamespaceSeen{name_of(*now), api::decode_meta(*now).labels};
}

Result<Event> limit_range_event(const JsonPtr& old, const JsonPtr& now) {
  if (!now) return engine::LimitRangeGone{namespace_of(*old), name_of(*old)};
  return engine::LimitRangeSeen{namespace_of(*now), name_of(*now), api::decode_limit_range(*now)};
}

Result<Event> runtime_class_event(const JsonPtr& old, const JsonPtr& now) {
  if (!now) return engine::RuntimeClassGone{name_of(*old)};
  const Json* overhead = find_path(*now, {"overhead", "podFixed"});
  return engine::RuntimeClassSeen{name_of(*now), overhead ? std::make_shared<const Json>(*overhead) : nullptr};
}

}  // namespace berth::controller
