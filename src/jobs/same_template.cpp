#include "jobs/same_template.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <vector>

namespace berth::jobs {
namespace {

using Names = std::set<std::string_view>;

// The members that the Kubernetes API knows, by the name of the object or list that has them.
// https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#Container
const Names* known_members(std::string_view of) {
  static const Names kContainer = {"name",
                                   "image",
                                   "command",
                                   "args",
                                   "workingDir",
                                   "ports",
                                   "envFrom",
                                   "env",
                                   "resources",
                                   "resizePolicy",
                                   "restartPolicy",
                                   "restartPolicyRules",
                                   "volumeMounts",
                                   "volumeDevices",
                                   "livenessProbe",
                                   "readinessProbe",
                                   "startupProbe",
                                   "lifecycle",
                                   "securityContext",
                                   "terminationMessagePath",
                                   "terminationMessagePolicy",
                                   "imagePullPolicy",
                                   "stdin",
                                   "stdinOnce",
                                   "tty"};
  static const Names kProbe = {"exec",
                               "httpGet",
                               "tcpSocket",
                               "grpc",
                               "periodSeconds",
                               "timeoutSeconds",
                               "successThreshold",
                               "failureThreshold",
                               "initialDelaySeconds",
                               "terminationGracePeriodSeconds"};
  static const Names kHook = {"exec", "httpGet", "tcpSocket", "sleep"};
  static const std::map<std::string_view, Names> kOthers = {
      {"containers", kContainer},
      {"initContainers", kContainer},
      {"ports", {"name", "hostPort", "containerPort", "protocol", "hostIP"}},
      {"envFrom", {"prefix", "configMapRef", "secretRef"}},
      {"env", {"name", "value", "valueFrom"}},
      {"valueFrom", {"fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"}},
      {"configMapRef", {"name", "optional"}},
      {"secretRef", {"name", "optional"}},
      {"configMapKeyRef", {"name", "key", "optional"}},
      {"secretKeyRef", {"name", "key", "optional"}},
      {"fileKeyRef", {"volumeName", "path", "key", "optional"}},
      {"fieldRef", {"apiVersion", "fieldPath"}},
      {"resourceFieldRef", {"containerName", "resource", "divisor"}},
      {"resources", {"limits", "requests", "claims"}},
      {"claims", {"name", "request"}},
      {"resizePolicy", {"resourceName", "restartPolicy"}},
      {"restartPolicyRules", {"action", "exitCodes"}},
      {"volumeMounts",
       {"name", "readOnly", "recursiveReadOnly", "mountPath", "subPath", "subPathExpr", "mountPropagation"}},
      {"volumeDevices", {"name", "devicePath"}},
      {"livenessProbe", kProbe},
      {"readinessProbe", kProbe},
      {"startupProbe", kProbe},
      {"lifecycle", {"postStart", "preStop", "stopSignal"}},
      {"postStart", kHook},
      {"preStop", kHook},
      {"exec", {"command"}},
      {"httpGet", {"path", "port", "host", "scheme", "httpHeaders"}},
      {"httpHeaders", {"name", "value"}},
      {"tcpSocket", {"port", "host"}},
      {"grpc", {"port", "service"}},
      {"sleep", {"seconds"}},
      {"securityContext",
       {"capabilities", "privileged", "seLinuxOptions", "windowsOptions", "runAsUser", "runAsGroup", "runAsNonRoot",
        "readOnlyRootFilesystem", "allowPrivilegeEscalation", "procMount", "seccompProfile", "appArmorProfile"}},
      {"capabilities", {"add", "drop"}},
  };
  const auto found = kOthers.find(of);
  return found == kOthers.end() ? nullptr : &found->second;
}

bool says_nothing(const Json& value) {
  return value.is_null() || (value.is_string() && value.get_string().empty()) ||
         (value.is_array() && value.get_array().empty()) || (value.is_object() && value.get_object().empty());
}

bool is_default(std::string_view of, std::string_view member, const Json& value) {
  if (of == "ports" && member == "protocol") return value == "TCP";
  return of == "fileKeyRef" && member == "optional" && value == false;
}

// The value without what makes no difference; `name`: of the member that it is, or of the list that it is in.
Json meaning(const Json& value, std::string_view name) {
  if (value.is_array()) {
    JsonArray out;
    for (const Json& item : value.get_array()) out.push_back(meaning(item, name));
    return out;
  }
  if (!value.is_object()) return value;
  const Names* known = known_members(name);
  JsonObject out;
  for (const auto& member : value.get_object()) {
    const std::string_view key(member.key().data(), member.key().size());
    if ((known != nullptr && !known->contains(key)) || is_default(name, key, member.value())) continue;
    // Keys of labels, requests and the like may have the name of a member elsewhere.
    const bool is_map = known == nullptr;
    Json inner = meaning(member.value(), is_map ? std::string_view() : key);
    if (!says_nothing(inner)) out.emplace(key, std::move(inner));
  }
  return out;
}

}  // namespace

bool same_template(const Json& a, const Json& b, bool placement_too) {
  if (&a == &b) return true;
  std::vector<std::string_view> parts = {"containers", "initContainers"};
  if (placement_too) parts.insert(parts.end(), {"nodeSelector", "tolerations", "affinity"});
  return std::ranges::all_of(parts, [&](std::string_view part) {
    static const Json kNone;
    const Json* left = find_path(a, {"spec", part});
    const Json* right = find_path(b, {"spec", part});
    if (left == nullptr) left = &kNone;
    if (right == nullptr) right = &kNone;
    if (json_equal(*left, *right)) return true;
    const Json is = meaning(*left, part), wanted = meaning(*right, part);
    return json_equal(is, wanted) || (says_nothing(is) && says_nothing(wanted));
  });
}

}  // namespace berth::jobs
