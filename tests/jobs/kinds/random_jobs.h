// Random jobs of every shipped kind, from a seed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/rest.h"
#include "base/json.h"
#include "base/random.h"

namespace berth::jobs::kinds::support {

class RandomJobs {
 public:
  explicit RandomJobs(std::uint64_t seed) : state_(seed) {}

  // A job that a user may write: suspended, with a queue. `kind`: "RayJob".
  Json job(std::string_view kind);
  // The same with a few members that have other types, or are not there.
  Json broken(std::string_view kind, int edits);

  bool chance(int percent) { return number(0, 99) < percent; }
  int number(int least, int most) {
    return least + static_cast<int>(next_random(state_) % static_cast<std::uint64_t>(most - least + 1));
  }

 private:
  Json spec_of(std::string_view kind);
  Json pod_template();
  Json strings(std::string_view prefix, int most);
  Json pod_spec();
  Json replica(bool with_count = true);
  Json replicas(std::initializer_list<std::string_view> types);
  Json ray_cluster();
  Json spark_section(bool executor);
  Json spark_application();
  Json job_set();
  Json app_wrapper();
  Json train_job();
  Json status();
  Json odd_value();
  void edit(Json& value, int depth);

  std::uint64_t state_;
};

// Finds a runtime for every TrainJob of these.
JsonPtr random_runtime(const api::GroupVersionResource& resource, std::string_view ns, std::string_view name);

}  // namespace berth::jobs::kinds::support
