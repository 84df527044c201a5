// The priority classes that jobs may name, from the caches.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "jobs/job_facts.h"
#include "kube/informer.h"

namespace berth::controller {

// The values that classes had before, as far as this process saw them change or go. A workload with one of them follows
// its class; a priority that was set by hand stays.
class FormerValues {
 public:
  // A class changed in the cache; `now` is null when it is gone.
  void changed(const JsonPtr& old, const JsonPtr& now);
  bool had(std::string_view name, std::int32_t value) const;

 private:
  static constexpr std::size_t kValues = 16;     // of one class: more are forgotten, the oldest first
  static constexpr std::size_t kClasses = 1024;  // with former values; beyond them nothing is noted
  std::map<std::string, std::deque<std::int32_t>, std::less<>> values_;
};

// The value of a class; nullopt when it does not exist.
std::optional<std::int32_t> class_value(const kube::Informer& classes, std::string_view name);

// Classes of workloads and of pods, as the caches have them and had them.
struct PriorityClasses {
  kube::Informer& of_workloads;
  kube::Informer& of_pods;
  FormerValues former_of_workloads, former_of_pods;

  // Notes each change of a class, and calls `then`. This object must outlive the informers' changes.
  void on_change(const std::function<void()>& then);
};

// Sets the functions of JobFacts that look classes up. `classes` must outlive them.
void look_up_classes(const PriorityClasses& classes, jobs::JobFacts& facts);

}  // namespace berth::controller
