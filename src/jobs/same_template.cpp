#include "jobs/same_template.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "base/text.h"

namespace berth::jobs {
namespace {

using Names = std::set<std::string_view>;

const Names& container_members() {
  static const Names kNames = {"name",
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
  return kNames;
}

const Names& probe_members() {
  static const Names kNames = {"exec",
                               "httpGet",
                               "tcpSocket",
                               "grpc",
                               "periodSeconds",
                               "timeoutSeconds",
                               "successThreshold",
                               "failureThreshold",
                               "initialDelaySeconds",
                               "terminationGracePeriodSeconds"};
  return kNames;
}

// The members that the Kubernetes API knows, by the name of the object or list that has them.
// https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#Container
const Names* known_members(std::string_view of) {
  static const Names kHook = {"exec", "httpGet", "tcpSocket", "sleep"};
  static const std::map<std::string_view, Names> kOthers = {
      {"containers", container_members()},
      {"initContainers", container_members()},
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
      {"livenessProbe", probe_members()},
      {"readinessProbe", probe_members()},
      {"startupProbe", probe_members()},
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

// A quantity as the number that it is: "1", 1 and "1000m" are the same. Other values stay.
Json as_quantity(const Json& value) {
  if (!value.is_string() && !value.is_number()) return value;
  const auto quantity = Quantity::parse(value.is_string() ? std::string(view(value.get_string())) : to_string(value));
  return quantity ? Json(Quantity::of_nano(quantity->nano_value()).to_string()) : value;
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
    if (name == "requests" || name == "limits") {
      if (!member.value().is_null()) out.emplace(key, as_quantity(member.value()));
      continue;
    }
    // Keys of labels, requests and the like may have the name of a member elsewhere.
    const bool is_map = known == nullptr;
    Json inner = meaning(member.value(), is_map ? std::string_view() : key);
    if (!says_nothing(inner)) out.emplace(key, std::move(inner));
  }
  return out;
}

// The tolerations without those that an API server adds to every pod (admission plugin DefaultTolerationSeconds).
// https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/#taint-based-evictions
Json without_default_tolerations(const Json& tolerations) {
  if (!tolerations.is_array()) return tolerations;
  JsonArray out;
  for (const Json& each : tolerations.get_array()) {
    const auto key = string_at(each, {"key"});
    const bool is_added = (key == "node.kubernetes.io/not-ready" || key == "node.kubernetes.io/unreachable") &&
                          string_at(each, {"operator"}) == "Exists" && string_at(each, {"effect"}) == "NoExecute" &&
                          int_at(each, {"tolerationSeconds"}) == 300;
    if (!is_added) out.push_back(each);
  }
  return out;
}

// The member of the spec, or null.
const Json& member(const Json& pod_template, std::string_view name) {
  static const Json kNone;
  const Json* found = find_path(pod_template, {"spec", name});
  return found == nullptr ? kNone : *found;
}

std::string shown(const Json& value) {
  constexpr std::size_t kShown = 100;
  if (value.is_null()) return "nothing";
  const std::string text = to_string(value);
  return text.size() <= kShown ? text : std::string(cut_text(text, kShown)) + "...";
}

// "spec.containers[0].image: "x" and "y"", the first place where the values differ.
std::string first_difference(const Json& a, const Json& b, const std::string& path) {
  static const Json kNone;
  if (a.is_array() && b.is_array() && a.get_array().size() == b.get_array().size()) {
    for (std::size_t i = 0; i < a.get_array().size(); ++i) {
      const Json &left = a.get_array()[i], &right = b.get_array()[i];
      if (!json_equal(left, right)) return first_difference(left, right, path + "[" + std::to_string(i) + "]");
    }
  }
  if (a.is_object() && b.is_object()) {
    for (const JsonObject* object : {&a.get_object(), &b.get_object()}) {
      for (const auto& entry : *object) {
        const Json *left = a.get_object().if_contains(entry.key()), *right = b.get_object().if_contains(entry.key());
        if (left != nullptr && right != nullptr && json_equal(*left, *right)) continue;
        return first_difference(left != nullptr ? *left : kNone, right != nullptr ? *right : kNone,
                                path + "." + std::string(entry.key()));
      }
    }
  }
  return path + ": " + shown(a) + " and " + shown(b);
}

}  // namespace

std::string template_difference(const Json& a, const Json& b, bool placement_too) {
  if (&a == &b) return "";
  std::vector<std::string_view> parts = {"containers", "initContainers"};
  if (placement_too) parts.insert(parts.end(), {"nodeSelector", "tolerations", "affinity"});
  for (const std::string_view part : parts) {
    const Json &left = member(a, part), &right = member(b, part);
    if (json_equal(left, right)) continue;
    Json is = meaning(left, part), other = meaning(right, part);
    if (part == "tolerations") {
      is = without_default_tolerations(is);
      other = without_default_tolerations(other);
    }
    if (json_equal(is, other) || (says_nothing(is) && says_nothing(other))) continue;
    return first_difference(is, other, "spec." + std::string(part));
  }
  return "";
}

}  // namespace berth::jobs
