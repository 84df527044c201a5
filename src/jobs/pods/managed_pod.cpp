#include "jobs/pods/managed_pod.h"

#include <algorithm>
#include <charconv>
#include <tuple>
#include <utility>

#include "api/kueue/names.h"
#include "api/kueue/pod_names.h"
#include "api/kueue/pod_rules.h"
#include "api/kueue/pod_shape.h"
#include "api/object_condition.h"
#include "jobs/prebuilt.h"

namespace berth::jobs {
namespace {

using namespace api::kueue;

bool has_pod_finalizer(const Json& pod) {
  const JsonArray& finalizers = array_at(pod, {"metadata", "finalizers"});
  return std::any_of(finalizers.begin(), finalizers.end(),
                     [](const Json& one) { return one.is_string() && view(one.get_string()) == kPodFinalizer; });
}

// Webhooks give every managed pod its role. Of a pod without it, the pod set that it was let go in counts, then its
// shape.
std::string role_of(const Json& pod) {
  auto role = annotation_of(pod, kRoleHash);
  if (role.empty()) role = label_of(pod, kPodSetLabel);
  const Json* spec = find_path(pod, {"spec"});
  return !role.empty() || spec == nullptr ? std::string(role) : role_hash(*spec);
}

PodPhase phase_of(const Json& pod) {
  const auto phase = string_at(pod, {"status", "phase"});
  if (phase == "Succeeded") return PodPhase::kSucceeded;
  return phase == "Failed" ? PodPhase::kFailed : PodPhase::kLive;
}

// What changes with each write, and what tells equal pods apart, is left out.
Json kept_metadata(const Json& pod, bool owners) {
  JsonObject kept;
  for (const auto& [key, value] : object_at(pod, {"metadata"})) {
    const std::string_view name = key;
    if (name == "namespace" || name == "labels" || name == "annotations" || name == "finalizers" ||
        (owners && name == "ownerReferences"))
      kept[key] = value;
  }
  return JsonObject{{"metadata", std::move(kept)}};
}

// A pod that was let go has the name of its workload in an annotation: no other pod has the same metadata. Nothing is
// left to do about a single pod that ended and was released.
JsonPtr kept_object(const Json& pod, const ManagedPod& decoded, const PodKeeper& keep) {
  static const JsonPtr nothing = std::make_shared<const Json>(JsonObject());
  const bool over = decoded.group.empty() && !decoded.served && decoded.ended() && !decoded.finalizer;
  if (decoded.ran_before || over) return nothing;
  const bool waits_for_deployment = decoded.gated && annotation_of(pod, kPodSuspendingParent) == kDeploymentFramework;
  Json kept = kept_metadata(pod, decoded.served || waits_for_deployment);
  return decoded.gated ? keep.object(kept) : std::make_shared<const Json>(std::move(kept));
}

}  // namespace

bool belongs_to_berth(const Json& pod) {
  if (has_pod_finalizer(pod) || has_scheduling_gate(pod, kAdmissionGate)) return true;
  const auto group = pod_group_name(pod, true);
  // A client may remove the label from a running pod: the annotation still names the workload that it was let go for.
  if (label_of(pod, kManagedLabel) != "true") return !group.empty() && annotation_of(pod, kWorkloadAnnotation) == group;
  return !label_of(pod, kQueueLabel).empty() || !group.empty();
}

bool is_of_deployment(const ManagedPod& pod) {
  return annotation_of(*pod.object, kPodSuspendingParent) == kDeploymentFramework;
}

const Json& ManagedPod::spec() const {
  static const Json none;
  const Json* found = pod_template ? find(*pod_template, "spec") : nullptr;
  return found == nullptr ? none : *found;
}

JsonPtr PodKeeper::copy(const Json& object) { return std::make_shared<const Json>(object); }

JsonPtr PodKeeper::template_with(const Json& spec) {
  return std::make_shared<const Json>(JsonObject{{"metadata", JsonObject()}, {"spec", spec}});
}

Json pod_object(const ManagedPod& pod) {
  Json object = *pod.object;
  if (!pod.spec().is_null()) object.as_object()["spec"] = pod.spec();
  return object;
}

ManagedPodPtr decode_managed_pod(const Json& pod, bool annotations, const ServedGroup& served, const PodKeeper& keep) {
  auto out = std::make_shared<ManagedPod>();
  out->gated = has_scheduling_gate(pod, kAdmissionGate);
  out->ran_before = !belongs_to_berth(pod);
  out->ns = string_at(pod, {"metadata", "namespace"});
  out->name = string_at(pod, {"metadata", "name"});
  out->uid = string_at(pod, {"metadata", "uid"});
  out->version = string_at(pod, {"metadata", "resourceVersion"});
  out->group = pod_group_name(pod, annotations);
  if (auto group = served ? served(pod) : std::nullopt) {
    out->served = true;
    out->group = std::move(*group);
  }
  if (const Json* spec = find(pod, "spec"); spec != nullptr && out->gated) out->pod_template = keep.pod_template(*spec);
  if (!out->ran_before) out->role = role_of(pod);
  if (!out->ran_before) out->prebuilt = prebuilt_workload(pod, annotations);
  if (const auto time = parse_time(string_at(pod, {"metadata", "creationTimestamp"}))) out->creation = *time;
  if (const auto text = string_at(pod, {"metadata", "deletionTimestamp"}); !text.empty())
    out->deletion = parse_time(text).value_or(Time{});
  out->phase = phase_of(pod);
  out->finalizer = has_pod_finalizer(pod);
  out->object = kept_object(pod, *out, keep);
  out->bound = !string_at(pod, {"spec", "nodeName"}).empty();
  out->ready = api::object_condition_is_true(pod, "Ready");
  if (out->ended()) out->message = string_at(pod, {"status", "message"});
  const Json* conditions = find_path(pod, {"status", "conditions"});
  if (!out->gated && !out->ended() && conditions != nullptr && conditions->is_array())
    out->conditions = std::make_shared<const Json>(*conditions);
  return out;
}

GroupTerms group_terms(const ManagedPod& pod) {
  GroupTerms terms;
  terms.queue = label_of(*pod.object, kQueueLabel);
  terms.priority_class = label_of(*pod.object, kPriorityClassLabel);
  terms.prebuilt = pod.prebuilt;
  terms.total_text = annotation_of(*pod.object, kPodGroupTotalCount);
  terms.total = pod_group_total_count(*pod.object).value_or(0);
  terms.fast = annotation_of(*pod.object, kPodGroupFastAdmission) == "true";
  terms.serving = annotation_of(*pod.object, kPodGroupServing) == "true";
  return terms;
}

std::int32_t allowed_not_ready(const ManagedPod& pod, std::int32_t total) {
  const std::string_view text = annotation_of(*pod.object, kPodGroupMaxNotReady);
  std::int32_t allowed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), allowed);
  const bool valid = error == std::errc() && end == text.data() + text.size() && allowed >= 0 && allowed < total;
  return valid ? allowed : 0;
}

bool is_unretriable(const ManagedPod& pod) { return annotation_of(*pod.object, kRetriableInGroup) == "false"; }

bool older(const ManagedPodPtr& a, const ManagedPodPtr& b) {
  return std::tie(a->creation, a->name, a->uid) < std::tie(b->creation, b->name, b->uid);
}

}  // namespace berth::jobs
