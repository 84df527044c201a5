#include "conformance/kueue_actions.h"

#include <re2/re2.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include "api/status.h"
#include "conformance/kueue_answers.h"
#include "conformance/kueue_shown.h"

namespace berth::conformance {
namespace {

const std::set<std::string_view> kClusterScoped = {"ResourceFlavor",
                                                   "ClusterQueue",
                                                   "Cohort",
                                                   "AdmissionCheck",
                                                   "WorkloadPriorityClass",
                                                   "PriorityClass",
                                                   "Topology",
                                                   "Node",
                                                   "ProvisioningRequestConfig",
                                                   "ClusterTrainingRuntime"};

// The body of a DELETE request.
Json delete_options(const Json& target) {
  Json options = JsonObject{{"propagationPolicy", string_at(target, {"propagation"}, "Background")}};
  if (const Json* grace = find(target, "grace")) options.as_object()["gracePeriodSeconds"] = *grace;
  return options;
}

// A request that changes one object; the caller sets its name.
void make_change(api::RestRequest& request, const Json& target, const Json& step) {
  request.subresource = string_at(target, {"subresource"});
  if (bool_at(target, {"delete"})) {
    request.verb = api::Verb::kDelete;
    request.body = delete_options(target);
  } else if (request.subresource == "binding") {
    request.verb = api::Verb::kCreate;
    request.body = member(step, "patch");
  } else {
    request.verb = api::Verb::kPatch;
    request.patch_type = string_at(step, {"type"}) == "json" ? api::PatchType::kJson : api::PatchType::kMerge;
    request.body = member(step, "patch");
  }
}

}  // namespace

std::optional<Json> Actions::act(const Json& step) {
  if (const Json* objects = find(step, "objects")) return create(*objects);
  if (const Json* target = find(step, "target")) return send(*target, step);
  const std::string action(string_at(step, {"do"}));
  if (action == "wait") {
    stage_.site().wait(std::chrono::seconds(int_at(step, {"seconds"})));
    return std::nullopt;
  }
  return in_words(step, action);
}

std::optional<Json> Actions::create(const Json& objects) {
  Json answers = JsonObject();
  bool all_left_out = true;
  for (const Json& recorded : objects.get_array()) {
    if (left_out_.object(recorded)) continue;
    all_left_out = false;
    Json object = stage_.resolved(recorded);
    const std::string kind(string_at(object, {"kind"})), name(string_at(object, {"metadata", "name"}));
    if (!kClusterScoped.contains(kind)) ensure_path(object, {"metadata", "namespace"}) = stage_.ns();
    auto request = stage_.site().request_for(string_at(object, {"apiVersion"}), kind,
                                             string_at(object, {"metadata", "namespace"}), {});
    if (!request) throw std::runtime_error(request.error().message);
    request->verb = api::Verb::kCreate;
    request->field_validation = api::FieldValidation::kStrict;
    request->body = std::move(object);
    report(answers, kind + "/" + name, std::move(*request));
    if (kind == "Node") become_ready(name);
  }
  if (all_left_out) return std::nullopt;
  return answers;
}

std::optional<Json> Actions::in_words(const Json& step, const std::string& action) {
  int count = 0;
  std::string name, phase;
  if (RE2::FullMatch(action, R"((\d+) pods of (\S+) become (\S+))", &count, &name, &phase)) {
    if (!left_out_.name(name)) set_phases(count, name, phase);
    return std::nullopt;
  }
  if (RE2::FullMatch(action, R"(pods of (\S+) are bound to the node their selector names)", &name)) {
    if (!left_out_.name(name)) bind_pods(name);
    return std::nullopt;
  }
  std::string node;
  if (RE2::FullMatch(action, R"(its pods on (\S+) fail)", &node)) {
    fail_pods_of(node);
    return std::nullopt;
  }
  if (action.starts_with("its pods fail")) {
    fail_pods_of(last_node_);
    return std::nullopt;
  }
  if (RE2::FullMatch(action, R"(node (\S+) is deleted)", &last_node_))
    return send(JsonObject{{"kind", "Node"}, {"name", last_node_}, {"delete", true}}, step);
  if (RE2::FullMatch(action, R"(node (\S+): NotReady)", &last_node_))
    return send(JsonObject{{"kind", "Node"}, {"name", last_node_}, {"subresource", "status"}}, step);
  if (action.starts_with("the newest ProvisioningRequest: ")) {
    return send(JsonObject{{"kind", "ProvisioningRequest"}, {"name", newest_request()}, {"subresource", "status"}},
                step);
  }
  const Json& target = member(targets_, action);
  if (!target.is_object()) throw std::runtime_error("no target is known for the action \"" + action + "\"");
  return send(target, step);
}

std::optional<Json> Actions::send(const Json& target, const Json& step) {
  std::string kind(string_at(target, {"kind"})), name(string_at(target, {"name"}));
  if (left_out_.on(kind + "/" + name)) return std::nullopt;
  if (const auto job = string_at(target, {"workloadOf"}); !job.empty()) {
    if (left_out_.name(job)) return std::nullopt;
    kind = "Workload";
    name = string_at(stage_.workload_of(job), {"metadata", "name"});
    if (name.empty()) throw std::runtime_error(std::string(job) + " has no workload");
  }
  auto request = stage_.site().request_for("", kind, stage_.ns(), name);
  if (!request) throw std::runtime_error(request.error().message);
  make_change(*request, target, step);
  if (request->subresource == "binding") wait_for_gates(name);
  request->body = stage_.resolved(request->body);
  Json answers = JsonObject();
  report(answers, kind + "/" + name, std::move(*request));
  return answers;
}

// A pod with scheduling gates cannot be bound. In real time they are removed a moment after its creation.
void Actions::wait_for_gates(const std::string& pod) {
  if (!stage_.site().real_time()) return;
  stage_.site().until([&] {
    const auto now = stage_.site().get("v1", "Pod", stage_.ns(), pod);
    return !now || array_at(*now, {"spec", "schedulingGates"}).empty();
  });
}

void Actions::report(Json& answers, const std::string& on, api::RestRequest request) {
  if (!webhooks_) {
    must(stage_.site().call(std::move(request)), on);
    return;
  }
  Json reported = send_and_report(stage_.site(), std::move(request));
  stage_.bind_workloads();
  if (!reported.get_object().empty()) answers.as_object()[stage_.reported(on)] = std::move(reported);
}

// The node controller removes the taint of new nodes when they are ready.
void Actions::become_ready(std::string_view node) {
  auto request = stage_.site().request_for("v1", "Node", {}, node).value();
  request.verb = api::Verb::kPatch;
  request.body = JsonObject{{"spec", JsonObject{{"taints", nullptr}}}};
  must(stage_.site().call(std::move(request)), "Node " + std::string(node));
}

std::string Actions::newest_request() {
  const auto all = stage_.list("autoscaling.x-k8s.io/v1", "ProvisioningRequest");
  if (all.empty()) throw std::runtime_error("there is no ProvisioningRequest");
  const auto newest = std::max_element(all.begin(), all.end(), [](const Json& a, const Json& b) {
    return string_at(a, {"metadata", "creationTimestamp"}) < string_at(b, {"metadata", "creationTimestamp"});
  });
  return std::string(string_at(*newest, {"metadata", "name"}));
}

void Actions::set_phases(int count, const std::string& name, const std::string& phase) {
  const std::string_view before = phase == "Running" ? "Pending" : "Running";
  int already = 0;
  for (const auto& pod : stage_.pods_of(name)) {
    if (string_at(pod, {"status", "phase"}) == phase) ++already;
    if (count == 0 || string_at(pod, {"status", "phase"}) != before ||
        find_path(pod, {"metadata", "deletionTimestamp"}) != nullptr)
      continue;
    --count;
    Json status = JsonObject{{"phase", phase}};
    if (phase == "Running") {
      status.as_object()["conditions"] = JsonArray{JsonObject{{"type", "Ready"}, {"status", "True"}}};
    }
    change_pod(pod, api::Verb::kPatch, "status", JsonObject{{"status", std::move(status)}});
  }
  if (count > already) throw std::runtime_error("there are not enough pods of " + name);
}

void Actions::change_pod(const Json& pod, api::Verb verb, std::string_view subresource, Json body) {
  const auto name = string_at(pod, {"metadata", "name"});
  auto request = stage_.site().request_for("v1", "Pod", stage_.ns(), name).value();
  request.verb = verb;
  request.subresource = subresource;
  request.body = std::move(body);
  must(stage_.site().call(std::move(request)), "Pod " + std::string(name));
}

void Actions::bind_pods(const std::string& name) {
  for (const auto& pod : stage_.pods_of(name)) {
    const auto node = string_at(pod, {"spec", "nodeSelector", "kubernetes.io/hostname"});
    if (node.empty() || !string_at(pod, {"spec", "nodeName"}).empty()) continue;
    change_pod(pod, api::Verb::kCreate, "binding",
               JsonObject{{"apiVersion", "v1"},
                          {"kind", "Binding"},
                          {"metadata", JsonObject{{"name", member(member(pod, "metadata"), "name")}}},
                          {"target", JsonObject{{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node}}}});
  }
}

void Actions::fail_pods_of(std::string_view node) {
  for (const auto& pod : stage_.list("v1", "Pod")) {
    if (string_at(pod, {"spec", "nodeName"}) == node)
      change_pod(pod, api::Verb::kPatch, "status", JsonObject{{"status", JsonObject{{"phase", "Failed"}}}});
  }
}

}  // namespace berth::conformance
