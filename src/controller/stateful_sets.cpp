#include "controller/stateful_sets.h"

#include <utility>

#include "api/kueue/pod_names.h"
#include "api/kueue/pod_rules.h"
#include "api/meta.h"
#include "jobs/pods/pod_group.h"
#include "jobs/workload_steps.h"

namespace berth::controller {

StatefulSets::StatefulSets(kube::Informer& sets, const ManagedObjects& managed, const DecodedWorkloads& workloads,
                           GroupListener& listener, bool annotations)
    : sets_(sets),
      workloads_(workloads),
      listener_(listener),
      annotations_(annotations),
      served_(
          sets,
          {[](const Json&) { return 2; },  // two names, of which one counts
           [](const Json& set, std::int64_t index) {
             auto groups = jobs::groups_of_stateful_set(set);
             return std::move(index == 0 ? groups.own : groups.former);
           },
           [this](const JsonPtr& set, std::int64_t) {
             const auto ns = string_at(*set, {"metadata", "namespace"});
             std::string name = name_in(ns, jobs::groups_of_stateful_set(*set), set.get());
             const auto workload = workloads_.find(api::object_key(ns, name));
             return jobs::served_by_stateful_set(set, std::move(name), workload.get());
           }},
          [&managed](const Json& set) { return managed.manages_serving(set); },
          [this](const std::string& ns, const std::string& group, bool gone) { look_at(ns, group, gone); }) {
  sets_.on_change([this](const JsonPtr& old, const JsonPtr& now) { served_.set_changed(old, now); });
}

void StatefulSets::look_at_all() const { served_.look_at_all(); }

void StatefulSets::look_at(const std::string& ns, const std::string& group, bool gone) const {
  listener_.regroup_all(ns, group);
  listener_.owner_changed(ns, group, gone);
}

std::string StatefulSets::name_in(std::string_view ns, const jobs::StatefulSetGroups& groups, const Json* set) const {
  if (set != nullptr && jobs::keeps_former_group(*set)) return groups.former;
  if (workloads_.find(api::object_key(ns, groups.own))) return groups.own;
  const auto workload = workloads_.find(api::object_key(ns, groups.former));
  const bool goes_on = workload && jobs::is_group_workload(*workload) && !jobs::finished(*workload);
  return goes_on ? groups.former : groups.own;
}

std::optional<std::string> StatefulSets::group_of(const Json& pod) const {
  const auto place = jobs::place_in_stateful_set(pod);
  if (!place) return std::nullopt;
  const auto ns = string_at(pod, {"metadata", "namespace"});
  JsonPtr set = sets_.get(api::object_key(ns, place->set));
  if (set && string_at(*set, {"metadata", "uid"}) != place->uid) set = nullptr;
  std::string named(api::kueue::pod_group_name(pod, annotations_));
  const bool inside = named == place->groups.own || named == place->groups.former;
  const bool waits = api::kueue::has_scheduling_gate(pod, api::kueue::kAdmissionGate);
  if (inside && (!set || !waits)) return named;
  return name_in(ns, place->groups, set.get());
}

jobs::ServedGroupPtr StatefulSets::group(std::string_view ns, std::string_view name) const {
  auto found = served_.group(ns, name);
  return found && found->name == name ? found : nullptr;
}

bool StatefulSets::lacks(std::string_view ns, const api::OwnerReference& owner) const {
  return is_lacking(sets_, jobs::stateful_set_kind(), ns, owner);
}

void StatefulSets::workload_changed(const std::string& ns, std::string_view name) const {
  const JsonPtr set = served_.set_with(ns, name);
  if (!set) return;
  const auto groups = jobs::groups_of_stateful_set(*set);
  for (const auto* group : {&groups.own, &groups.former}) look_at(ns, *group, false);
}

}  // namespace berth::controller
