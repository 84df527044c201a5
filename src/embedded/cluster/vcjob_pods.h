// The pods of a Volcano Job: their names, their labels and annotations, and how they are read back.
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

// A pod of a Volcano Job.
struct VcJobPod {
  explicit VcJobPod(const JsonPtr& pod);

  JsonPtr object;
  std::string name, task, phase;
  // version of the job when the pod was created: a restarted job deletes the pods of older versions
  std::int64_t version = 0;
  std::int64_t exit_code = 0;  // of the first container with a non-zero exit code; 0: none
  bool deleting = false;

  bool succeeded() const { return phase == "Succeeded"; }
  bool failed() const { return phase == "Failed"; }
  bool ended() const { return succeeded() || failed(); }
};

std::string vcjob_pod_name(const api::volcano::Job& job, const api::volcano::Task& task, std::int32_t index);
// The object to create. `group`: the name of the job's PodGroup. `gated`: with Volcano's scheduling gate, so that the
// pod waits for quota.
Json make_vcjob_pod(const api::volcano::Job& job, const api::volcano::Task& task, std::int32_t index,
                    std::string_view group, bool gated = false);

}  // namespace berth::cluster
