// Events about pods, their groups' owners and their workloads.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "base/json.h"
#include "jobs/pods/pod_plan.h"
#include "kube/event_recorder.h"

namespace berth::controller {

// Warnings are recorded once, not at every look.
class PodEvents {
 public:
  explicit PodEvents(kube::EventRecorder& events) : events_(events) {}

  // On the workload that the event is about, on the owner of the plan's group, or on the pod that speaks for it.
  void report(const jobs::JobEvent& event, const jobs::PodPlan& plan);
  // On the workload that the event is about, or on the pod, which may be null.
  void report(const jobs::JobEvent& event, const jobs::ManagedPodPtr& pod);
  // On the pod, also when it was recorded before.
  void record(const jobs::JobEvent& event, const jobs::ManagedPod& pod, std::string_view controller);
  // The pod (by uid) or the owner (by the key of its group) is gone.
  void forget(const std::string& about) { warned_.erase(about); }

 private:
  void record_once(const jobs::JobEvent& event, const std::string& key, const kube::ObjectRef& on,
                   std::string controller);

  kube::EventRecorder& events_;
  // A hash of the last warning about each pod (by uid) or owner (by the key of its group).
  std::map<std::string, std::size_t> warned_;
};

// On a new pod with a queue name, while pods are not managed; nothing on other pods.
void record_unmanaged_pod(const Json& pod, kube::EventRecorder& events);

}  // namespace berth::controller
