#include "controller/pod_events.h"

#include <functional>
#include <utility>

#include "api/kueue/names.h"
#include "api/kueue/pod_names.h"
#include "api/kueue/unlisted_kinds.h"
#include "api/meta.h"
#include "jobs/pods/served_group.h"
#include "jobs/pods/waiting.h"

namespace berth::controller {
namespace {

kube::ObjectRef ref_of(const jobs::ManagedPod& pod) {
  return {std::string(jobs::kPodApiVersion), std::string(jobs::kPodKind), pod.ns, pod.name, pod.uid, pod.version};
}

}  // namespace

void PodEvents::report(const jobs::JobEvent& event, const jobs::PodPlan& plan) {
  if (event.about || !plan.owner) return report(event, plan.speaker);
  const auto& kind = plan.owner->kind;
  const api::ObjectMeta meta = api::decode_meta(*plan.owner->owner);
  record_once(event, api::object_key(meta.ns, plan.owner->name),
              {kind.api_version(), kind.kind, meta.ns, meta.name, meta.uid, meta.resource_version}, kind.controller);
}

void PodEvents::report(const jobs::JobEvent& event, const jobs::ManagedPodPtr& pod) {
  if (event.about) {
    const auto& meta = event.about->meta;
    return events_.record(
        {std::string(api::kueue::kGroup) + "/v1beta2", "Workload", meta.ns, meta.name, meta.uid, meta.resource_version},
        {event.warning, event.reason, event.note, {}, std::string(jobs::kPodController)});
  }
  if (pod) record_once(event, pod->uid, ref_of(*pod), std::string(jobs::kPodController));
}

void PodEvents::record(const jobs::JobEvent& event, const jobs::ManagedPod& pod, std::string_view controller) {
  events_.record(ref_of(pod), {event.warning, event.reason, event.note, {}, std::string(controller)});
}

void PodEvents::record_once(const jobs::JobEvent& event, const std::string& key, const kube::ObjectRef& on,
                            std::string controller) {
  if (event.warning) {
    const std::size_t note = std::hash<std::string>()(event.note);
    if (const auto [last, is_new] = warned_.try_emplace(key, note);
        !is_new && std::exchange(last->second, note) == note)
      return;
  }
  events_.record(on, {event.warning, event.reason, event.note, {}, std::move(controller)});
}

void record_unmanaged_pod(const Json& pod, kube::EventRecorder& events) {
  const std::string warning = api::kueue::unlisted_kind_warning(pod, nullptr, "Pod", api::kueue::kPodFramework);
  if (warning.empty()) return;
  const api::ObjectMeta meta = api::decode_meta(pod);
  events.record({std::string(jobs::kPodApiVersion), std::string(jobs::kPodKind), meta.ns, meta.name, meta.uid,
                 meta.resource_version},
                {true, "NotManaged", warning, {}, std::string(jobs::kWaitingController)});
}

}  // namespace berth::controller
