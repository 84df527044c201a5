// Pods and pod templates.
#include "api/printing/pod_table.h"
#include "api/printing/table.h"
#include "embedded/apiserver/builtin/checks.h"
#include "embedded/apiserver/builtin/kinds.h"
#include "embedded/apiserver/builtin/pod_admission.h"
#include "embedded/apiserver/builtin/pod_defaults.h"
#include "embedded/apiserver/builtin/pod_resources.h"
#include "embedded/apiserver/builtin/pod_update.h"
#include "embedded/apiserver/builtin/pod_validation.h"

namespace berth::apiserver {
namespace {

Result<void> finish_pod(Json& pod) {
  Json& spec = ensure_path(pod, {"spec"});
  default_pod_spec(spec);
  default_pod(spec);
  return {};
}

Result<void> finish_template(Json& object) {
  default_pod_spec(ensure_path(object, {"template", "spec"}));
  return {};
}

// Sets the status of a new pod; clients cannot. A gated pod gets the condition PodScheduled=False at once.
void reset_status(Json& pod) {
  JsonObject status{{"phase", "Pending"}};
  if (!array_at(pod, {"spec", "schedulingGates"}).empty()) {
    status["conditions"] = JsonArray{
        JsonObject{{"type", "PodScheduled"},
                   {"status", "False"},
                   {"lastProbeTime", nullptr},
                   {"lastTransitionTime", member_or_null(member_or_null(pod, "metadata"), "creationTimestamp")},
                   {"reason", "SchedulingGated"},
                   {"message", "Scheduling is blocked due to non-empty scheduling gates"}}};
  }
  status["qosClass"] = qos_class(member_or_null(pod, "spec"));
  pod.as_object()["status"] = std::move(status);
}

void prepare_create_pod(Json& pod, const Lookup& lookup) {
  complete_new_pod(pod, lookup);
  reset_status(pod);
}

void prepare_update_pod(Json& pod, const Json& old, std::string_view subresource, const Lookup&) {
  if (subresource == "status") {
    pod.as_object()["spec"] = member_or_null(old, "spec");
    if (std::string_view qos = string_at(old, {"status", "qosClass"}); !qos.empty()) {
      ensure_path(pod, {"status", "qosClass"}) = qos;
    }
    return;
  }
  pod.as_object()["status"] = member_or_null(old, "status");
  const Json& old_spec = member_or_null(old, "spec");
  // When a client writes its original manifest again, keep the fields that the server added at creation.
  for (std::string_view key : {"priority", "preemptionPolicy", "priorityClassName"}) {
    const Json* value = find(old_spec, key);
    Json& spec = ensure_path(pod, {"spec"});
    if (value != nullptr && spec.is_object() && !spec.get_object().contains(key)) spec.get_object()[key] = *value;
  }
  add_default_tolerations(pod);
}

FieldErrors validate_pod(const Json& pod, const Lookup&) {
  FieldErrors errors;
  validate_pod_spec(member_or_null(pod, "spec"), "spec", errors);
  return errors;
}

FieldErrors validate_update_pod(const Json& pod, const Json& old, std::string_view subresource) {
  FieldErrors errors;
  if (subresource.empty()) validate_pod_update(pod, old, errors);
  if (subresource == "status") validate_pod_status_update(pod, old, errors);
  return errors;
}

std::optional<api::RestResponse> admit(Json& pod, const Json* old, const Lookup& lookup) {
  if (old != nullptr) return std::nullopt;
  complete_new_pod(pod, lookup);
  return refuse_new_pod(pod, lookup);
}

}  // namespace

ResourceInfo pod_resource() {
  ResourceInfo info = make_kind({"", "v1", "pods", "Pod", "pod", {"po"}, {"all"}}, "Pod", finish_pod);
  info.has_status = true;
  info.extra_subresources = {"binding", "eviction"};
  info.columns = api::pod_columns();
  info.strategy.prepare_create = prepare_create_pod;
  info.strategy.prepare_update = prepare_update_pod;
  info.strategy.validate = validate_pod;
  info.strategy.validate_update = validate_update_pod;
  info.strategy.admit = admit;
  info.strategy.cells = api::pod_cells;
  info.strategy.graceful_delete = true;
  info.strategy.selectable_fields = {
      "spec.nodeName",    "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
      "spec.hostNetwork", "status.phase",       "status.podIP",       "status.nominatedNodeName"};
  info.strategy.field = [paths = field_paths(info.strategy.selectable_fields)](const Json& pod,
                                                                               std::string_view field) {
    auto value = paths(pod, field);
    if (field == "spec.hostNetwork" && value && value->empty()) value = "false";
    return value;
  };
  return info;
}

ResourceInfo pod_template_resource() {
  ResourceInfo info =
      make_kind({"", "v1", "podtemplates", "PodTemplate", "podtemplate", {}, {}}, "PodTemplate", finish_template);
  info.columns = {api::text_column("Containers", "Names of the containers."),
                  api::text_column("Images", "Images of the containers."),
                  api::text_column("Pod Labels", "Labels of the pods.")};
  info.strategy.validate = [](const Json& object, const Lookup&) {
    FieldErrors errors;
    validate_pod_template(member_or_null(object, "template"), "template", errors);
    return errors;
  };
  info.strategy.cells = [](const Json& object, Time) {
    const JsonArray& containers = array_at(object, {"template", "spec", "containers"});
    return JsonArray{Json(api::join_field(containers, "name")), Json(api::join_field(containers, "image")),
                     Json(api::labels_text(object_at(object, {"template", "metadata", "labels"})))};
  };
  return info;
}

}  // namespace berth::apiserver
