// Why pods of an admitted workload do not run.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/json.h"

namespace berth::cli::queues {

// Pods that wait for the same thing.
struct PodWait {
  std::string reason;   // "Unschedulable", "SchedulingGated", "ImagePullBackOff", ...
  std::string message;  // what it means, or what the scheduler or the kubelet say; may be empty
  std::vector<std::string> pods;
};

// The newest warning about a pod, as "Reason: message"; "": there is none.
using NewestWarning = std::function<std::string(const Json& pod)>;

// Of the pods that neither run nor have ended. Most pods first, then by reason. Warnings are asked for at most five
// pods: those whose status says no more than that they are being created.
std::vector<PodWait> waits_of(const JsonArray& pods, const NewestWarning& warning);

JsonArray to_json(const std::vector<PodWait>& waits);
// Of one as JSON: "2 pods wait, Unschedulable: 0/4 nodes are available (train-a, train-b)".
std::string pod_wait_text(const Json& wait);

}  // namespace berth::cli::queues
