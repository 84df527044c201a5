// The subresources binding and eviction of pods, and finalize of namespaces.
#include <utility>

#include "api/status.h"
#include "embedded/apiserver/requests/answers.h"
#include "embedded/apiserver/requests/handlers.h"
#include "embedded/apiserver/requests/metadata.h"

namespace berth::apiserver {
namespace {

api::RestResponse binding_refused(std::string_view name, const std::string& why) {
  return api::conflict({"", "v1", "pods/binding"}, name, why);
}

std::optional<std::string> why_not_bindable(const Json& pod) {
  const std::string name(string_at(pod, {"metadata", "name"}));
  if (is_deleting(pod)) return "pod " + name + " is being deleted, cannot be assigned to a host";
  const std::string_view node = string_at(pod, {"spec", "nodeName"});
  if (!node.empty()) return "pod " + name + " is already assigned to node \"" + std::string(node) + "\"";
  if (!array_at(pod, {"spec", "schedulingGates"}).empty())
    return "pod " + name + " has non-empty .spec.schedulingGates";
  return std::nullopt;
}

void set_scheduled(Json& pod, Time now) {
  Json condition = JsonObject{{"type", "PodScheduled"},
                              {"status", "True"},
                              {"lastProbeTime", nullptr},
                              {"lastTransitionTime", format_time(now)}};
  Json& conditions = ensure_path(pod, {"status", "conditions"});
  if (!conditions.is_array()) conditions = JsonArray{};
  for (Json& present : conditions.get_array()) {
    if (string_at(present, {"type"}) != "PodScheduled") continue;
    if (string_at(present, {"status"}) == "True") return;
    present = std::move(condition);
    return;
  }
  conditions.get_array().push_back(std::move(condition));
}

}  // namespace

Answer bind_pod(Core& core, const ResourceInfo& resource, const api::RestRequest& request) {
  const std::string node(string_at(request.body, {"target", "name"}));
  const std::string_view kind = string_at(request.body, {"target", "kind"});
  if (!kind.empty() && kind != "Node") {
    return {
        api::invalid("", "Binding", request.name, {api::not_supported("target.kind", Json(kind), {"Node", "<empty>"})}),
        0};
  }
  if (node.empty()) return {api::invalid("", "Binding", request.name, {api::required("target.name", "")}), 0};

  const ObjectKey key = key_of(resource, request.ns, request.name);
  const JsonPtr stored = core.store.get(key.bucket, key.item);
  if (stored == nullptr) return {api::not_found(resource.gvr, request.name), core.store.revision()};
  const std::string_view uid = string_at(request.body, {"metadata", "uid"});
  if (!uid.empty() && uid != string_at(*stored, {"metadata", "uid"})) {
    return {binding_refused(request.name, "the UID of the binding is not that of the pod"), core.store.revision()};
  }
  if (const auto why = why_not_bindable(*stored)) return {binding_refused(request.name, *why), core.store.revision()};

  Json pod = *stored;
  ensure_path(pod, {"spec", "nodeName"}) = node;
  for (const auto& [name, value] : object_at(request.body, {"metadata", "annotations"})) {
    ensure_path(pod, {"metadata", "annotations", std::string_view(name.data(), name.size())}) = value;
  }
  set_scheduled(pod, core.executor.now());
  if (request.dry_run) return {success(201, nullptr), core.store.revision()};
  const auto written = core.store.put(key, std::move(pod), core.store.revision_of(key.bucket, key.item));
  if (!written) return {refused(resource, request.name, written.error(), core.store), core.store.revision()};
  return {success(201, nullptr), core.store.revision()};
}

Answer evict_pod(Core& core, const ResourceInfo& resource, const api::RestRequest& request) {
  api::RestRequest removal = request;
  removal.verb = api::Verb::kDelete;
  removal.subresource.clear();
  const Json* options = find(request.body, "deleteOptions");
  removal.body = options == nullptr ? Json(JsonObject{}) : *options;
  Answer answer = delete_object(core, resource, removal);
  if (answer.response.ok()) answer.response = success(201, nullptr);
  return answer;
}

// PUT namespaces/<name>/finalize: changes only spec.finalizers.
Answer finalize_namespace(Core& core, const ResourceInfo& resource, api::RestRequest& request) {
  const ObjectKey key = key_of(resource, "", request.name);
  const JsonPtr stored = core.store.get(key.bucket, key.item);
  if (stored == nullptr) return {api::not_found(resource.gvr, request.name), core.store.revision()};
  Replacement replacement{key, *stored, *stored, false, {}};
  const JsonArray& finalizers = array_at(request.body, {"spec", "finalizers"});
  if (finalizers.empty()) {
    erase_path(replacement.next, {"spec", "finalizers"});
  } else {
    ensure_path(replacement.next, {"spec", "finalizers"}) = finalizers;
  }
  return finish_update(core, resource, request, std::move(replacement));
}

}  // namespace berth::apiserver
