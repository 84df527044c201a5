#include "api/kueue/defaulting.h"

#include <algorithm>

#include "api/kueue/types.h"

namespace berth::api::kueue {
namespace {

void add_finalizer(Json& object) {
  Json& finalizers = ensure_path(object, {"metadata", "finalizers"});
  if (!finalizers.is_array()) finalizers.emplace_array();
  JsonArray& array = finalizers.get_array();
  if (std::none_of(array.begin(), array.end(),
                   [](const Json& f) { return f.is_string() && view(f.get_string()) == kFinalizer; }))
    array.push_back(Json(kFinalizer));
}

}  // namespace

void default_cluster_queue(Json& object) { add_finalizer(object); }
void default_resource_flavor(Json& object) { add_finalizer(object); }

void default_workload(Json& object, bool partial_admission) {
  if (array_at(object, {"spec", "podSets"}).empty()) return;
  JsonArray& pod_sets = ensure_path(object, {"spec", "podSets"}).get_array();
  if (pod_sets.size() == 1 && string_at(pod_sets.front(), {"name"}).empty())
    ensure_path(pod_sets.front(), {"name"}) = "main";
  if (partial_admission) return;
  for (Json& pod_set : pod_sets) erase_path(pod_set, {"minCount"});
}

}  // namespace berth::api::kueue
