#include "embedded/apiserver/builtin/pod_defaults.h"

#include "embedded/apiserver/builtin/pod_resources.h"

namespace berth::apiserver {
namespace {

constexpr std::string_view kContainerLists[] = {"initContainers", "containers", "ephemeralContainers"};

void default_container(Json& container) {
  if (string_at(container, {"imagePullPolicy"}).empty()) {
    container.as_object()["imagePullPolicy"] = default_pull_policy(string_at(container, {"image"}));
  }
}

void default_volume(Json& volume) {
  if (volume.as_object().size() == (find(volume, "name") != nullptr ? 1U : 0U)) {
    volume.as_object()["emptyDir"] = JsonObject();
  }
}

template <typename Function>
void for_each_object(Json& owner, std::string_view list, Function function) {
  Json* value = owner.as_object().if_contains(list);
  if (value == nullptr || !value->is_array()) return;
  for (auto& member : value->get_array()) {
    if (member.is_object()) function(member);
  }
}

void default_requests(Json& container) {
  const JsonObject& limits = object_at(container, {"resources", "limits"});
  if (limits.empty()) return;
  Json& requests = ensure_path(container, {"resources", "requests"});
  if (!requests.is_object()) requests = JsonObject();
  for (const auto& limit : object_at(container, {"resources", "limits"})) {
    if (!requests.get_object().contains(limit.key())) requests.get_object()[limit.key()] = limit.value();
  }
}

// Defaults pod-level requests from pod-level limits: the total of the containers' requests for a resource if any
// container has one, else the limit.
void default_pod_requests(Json& spec) {
  if (object_at(spec, {"resources", "limits"}).empty()) return;
  ResourceTotals totals = container_requests(spec);
  Json& requests = ensure_path(spec, {"resources", "requests"});
  if (!requests.is_object()) requests = JsonObject();
  for (const auto& limit : object_at(spec, {"resources", "limits"})) {
    if (requests.get_object().contains(limit.key())) continue;
    auto total = totals.find(std::string_view(limit.key()));
    requests.get_object()[limit.key()] = total == totals.end() ? limit.value() : Json(total->second.to_string());
  }
}

void default_host_ports(Json& container) {
  for_each_object(container, "ports", [](Json& port) {
    if (int_at(port, {"hostPort"}) == 0) port.as_object()["hostPort"] = int_at(port, {"containerPort"});
  });
}

}  // namespace

std::string_view default_pull_policy(std::string_view image) {
  bool has_digest = image.find('@') != std::string_view::npos;
  image = image.substr(0, image.find('@'));
  std::size_t slash = image.rfind('/');
  std::size_t colon = image.find(':', slash == std::string_view::npos ? 0 : slash);
  std::string_view tag = colon == std::string_view::npos ? std::string_view() : image.substr(colon + 1);
  if (tag.empty()) return has_digest ? "IfNotPresent" : "Always";
  return tag == "latest" ? "Always" : "IfNotPresent";
}

void default_pod_spec(Json& spec) {
  if (!spec.is_object()) return;
  for (std::string_view list : kContainerLists) for_each_object(spec, list, default_container);
  for_each_object(spec, "volumes", default_volume);
  std::string account(string_at(spec, {"serviceAccountName"}));
  if (account.empty()) account = string_at(spec, {"serviceAccount"});
  if (!account.empty()) {
    spec.get_object()["serviceAccountName"] = account;
    spec.get_object()["serviceAccount"] = account;
  }
}

void default_pod(Json& spec) {
  if (!spec.is_object()) return;
  for_each_object(spec, "initContainers", default_requests);
  for_each_object(spec, "containers", default_requests);
  default_pod_requests(spec);
  if (find(spec, "enableServiceLinks") == nullptr) spec.get_object()["enableServiceLinks"] = true;
  if (bool_at(spec, {"hostNetwork"})) {
    for (std::string_view list : kContainerLists) for_each_object(spec, list, default_host_ports);
  }
}

}  // namespace berth::apiserver
