#include "controller/job_classes.h"

#include <algorithm>

namespace berth::controller {
namespace {

std::int32_t value_in_class(const Json& object) { return static_cast<std::int32_t>(int_at(object, {"value"})); }

}  // namespace

void FormerValues::changed(const JsonPtr& old, const JsonPtr& now) {
  if (!old || (now && value_in_class(*old) == value_in_class(*now))) return;
  const std::string_view name = string_at(*old, {"metadata", "name"});
  if (!values_.contains(name) && values_.size() >= kClasses) return;
  auto& values = values_[std::string(name)];
  std::erase(values, value_in_class(*old));
  values.push_back(value_in_class(*old));
  if (values.size() > kValues) values.pop_front();
}

bool FormerValues::had(std::string_view name, std::int32_t value) const {
  const auto it = values_.find(name);
  return it != values_.end() && std::ranges::find(it->second, value) != it->second.end();
}

std::optional<std::int32_t> class_value(const kube::Informer& classes, std::string_view name) {
  const JsonPtr object = classes.get(name);
  if (!object) return std::nullopt;
  return value_in_class(*object);
}

void PriorityClasses::on_change(const std::function<void()>& then) {
  const auto note = [&](kube::Informer& classes, FormerValues& former) {
    classes.on_change([&former, then](const JsonPtr& old, const JsonPtr& now) {
      former.changed(old, now);
      then();
    });
  };
  note(of_workloads, former_of_workloads);
  note(of_pods, former_of_pods);
}

void look_up_classes(const PriorityClasses& classes, jobs::JobFacts& facts) {
  facts.workload_priority_class = [&classes](std::string_view name) { return class_value(classes.of_workloads, name); };
  facts.priority_class = [&classes](std::string_view name) { return class_value(classes.of_pods, name); };
  facts.class_had = [&classes](const api::kueue::PriorityClassRef& ref, std::int32_t value) {
    const bool of_workloads = ref.group == api::kueue::kGroup;
    return (of_workloads ? classes.former_of_workloads : classes.former_of_pods).had(ref.name, value);
  };
  facts.global_default_priority_class = [&classes]() -> std::optional<std::pair<std::string, std::int32_t>> {
    for (const auto& object : classes.of_pods.list()) {
      if (bool_at(*object, {"globalDefault"}))
        return std::pair(std::string(string_at(*object, {"metadata", "name"})), value_in_class(*object));
    }
    return std::nullopt;
  };
}

}  // namespace berth::controller
