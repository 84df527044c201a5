#include "controller/job_classes.h"

namespace berth::controller {

std::optional<std::int32_t> class_value(const kube::Informer& classes, std::string_view name) {
  const JsonPtr object = classes.get(name);
  if (!object) return std::nullopt;
  return static_cast<std::int32_t>(int_at(*object, {"value"}));
}

void look_up_classes(const kube::Informer& workload_priority_classes, const kube::Informer& priority_classes,
                     jobs::JobFacts& facts) {
  facts.workload_priority_class = [&workload_priority_classes](std::string_view name) {
    return class_value(workload_priority_classes, name);
  };
  facts.priority_class = [&priority_classes](std::string_view name) { return class_value(priority_classes, name); };
  facts.global_default_priority_class = [&priority_classes]() -> std::optional<std::pair<std::string, std::int32_t>> {
    for (const auto& object : priority_classes.list()) {
      if (bool_at(*object, {"globalDefault"})) {
        return std::pair(std::string(string_at(*object, {"metadata", "name"})),
                         static_cast<std::int32_t>(int_at(*object, {"value"})));
      }
    }
    return std::nullopt;
  };
}

}  // namespace berth::controller
