// The pods of a vcjob: what they are called, what they know of their job, and how they are read back.
// https://volcano.sh/en/docs/vcjob/
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/volcano/types.h"
#include "base/json.h"

namespace berth::cluster {

// "namespace/name" of the PodGroup that a pod names in an annotation; "" when it names none.
std::string group_key_of(const Json& pod);

// One pod of a vcjob, whoever made it.
struct VcJobPod {
  explicit VcJobPod(const JsonPtr& pod);

  JsonPtr object;
  std::string name, task, phase;
  std::int64_t version = 0;    // of the job, when the pod was made: a restarted job wants none of those before
  std::int64_t exit_code = 0;  // of the first container that failed; 0: none did
  bool deleting = false;

  bool succeeded() const { return phase == "Succeeded"; }
  bool failed() const { return phase == "Failed"; }
  bool ended() const { return succeeded() || failed(); }
};

std::string vcjob_pod_name(const api::volcano::Job& job, const api::volcano::Task& task, std::int32_t index);
// The object to create. `group`: the name of the job's PodGroup. `gated`: it waits until somebody has quota for it.
Json make_vcjob_pod(const api::volcano::Job& job, const api::volcano::Task& task, std::int32_t index,
                    std::string_view group, bool gated = false);

}  // namespace berth::cluster
