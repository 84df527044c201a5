#include "conformance/kueue_player.h"

#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "api/status.h"
#include "conformance/kueue_shown.h"
#include "conformance/recording.h"
#include "source_dir.h"

namespace berth::conformance {
namespace {

const std::set<std::string_view> kClusterScoped = {
    "ResourceFlavor",        "ClusterQueue", "Cohort", "AdmissionCheck",
    "WorkloadPriorityClass", "Topology",     "Node",   "ProvisioningRequestConfig"};
constexpr std::string_view kRequestVersion = "autoscaling.x-k8s.io/v1";

std::string recording_path(const std::string& name) {
  return source_path("tests/conformance/") + name;
}

class Player {
 public:
  Player(Site& site, const std::string& name, const Satisfied& satisfied) : site_(site), satisfied_(satisfied) {
    recording_ = load_yaml_file(recording_path("recordings/kueue/" + name + ".yaml"));
    const Json targets = load_yaml_file(recording_path("kueue_targets.yaml"));
    targets_ = member(targets, name);
  }

  std::vector<StepResult> run() {
    std::vector<StepResult> results;
    for (const auto& step : array_at(recording_, {"steps"})) {
      if (const auto ns = string_at(step, {"namespace"}); !ns.empty()) {
        ns_ = ns;
        must(site_.create(JsonObject{
            {"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", JsonObject{{"name", ns_}}}}));
      } else if (find(step, "see") != nullptr) {
        results.push_back(look_until_satisfied(step));
      } else {
        act(step);
        site_.after_action();
      }
    }
    return results;
  }

 private:
  static void must(const Result<Json>& result) {
    if (!result) throw std::runtime_error(result.error().message);
  }

  void act(const Json& step) {
    const std::string action(string_at(step, {"do"}));
    if (const Json* objects = find(step, "objects")) {
      for (Json object : objects->as_array()) {
        if (!kClusterScoped.contains(string_at(object, {"kind"})))
          ensure_path(object, {"metadata", "namespace"}) = ns_;
        must(site_.create(object));
        if (string_at(object, {"kind"}) == "Node") become_ready(string_at(object, {"metadata", "name"}));
      }
      return;
    }
    int count = 0;
    std::string job, phase;
    if (RE2::FullMatch(action, R"((\d+) pods of (\S+) become (\S+))", &count, &job, &phase))
      return set_phases(count, job, phase);
    std::string node;
    if (RE2::FullMatch(action, R"(pods of (\S+) are bound to the node their selector names)", &job))
      return bind_pods(job);
    if (RE2::FullMatch(action, R"(its pods on (\S+) fail)", &node)) return fail_pods_of(node);
    if (action.starts_with("its pods fail")) return fail_pods_of(last_node_);
    if (RE2::FullMatch(action, R"(node (\S+) is deleted)", &last_node_))
      return send(JsonObject{{"kind", "Node"}, {"name", last_node_}, {"delete", true}}, nullptr);
    if (RE2::FullMatch(action, R"(node (\S+): NotReady)", &last_node_))
      return send(JsonObject{{"kind", "Node"}, {"name", last_node_}, {"subresource", "status"}},
                  member(step, "patch"));
    if (action.starts_with("the newest ProvisioningRequest: ")) {
      const Json target =
          JsonObject{{"kind", "ProvisioningRequest"}, {"name", newest_request()}, {"subresource", "status"}};
      return send(target, member(step, "patch"));
    }
    const Json& target = member(targets_, action);
    if (!target.is_object()) throw std::runtime_error("no target is known for the action \"" + action + "\"");
    send(target, member(step, "patch"));
  }

  // The node controller takes the taint of new nodes away when they are ready.
  void become_ready(std::string_view node) {
    auto request = site_.request_for("v1", "Node", {}, node).value();
    request.verb = api::Verb::kPatch;
    request.body = JsonObject{{"spec", JsonObject{{"taints", nullptr}}}};
    if (const auto response = site_.call(std::move(request)); !response.ok())
      throw std::runtime_error("Node " + std::string(node) + ": " +
                               std::string(api::status_message(response)));
  }

  std::string newest_request() {
    const auto all = list(kRequestVersion, "ProvisioningRequest");
    if (all.empty()) throw std::runtime_error("there is no ProvisioningRequest");
    const auto newest = std::max_element(all.begin(), all.end(), [](const Json& a, const Json& b) {
      return string_at(a, {"metadata", "creationTimestamp"}) <
             string_at(b, {"metadata", "creationTimestamp"});
    });
    return std::string(string_at(*newest, {"metadata", "name"}));
  }

  void send(const Json& target, Json patch) {
    std::string kind(string_at(target, {"kind"})), name(string_at(target, {"name"}));
    if (const auto job = string_at(target, {"workloadOf"}); !job.empty()) {
      kind = "Workload";
      name = string_at(workload_of(job), {"metadata", "name"});
    }
    auto request = site_.request_for("", kind, ns_, name);
    if (!request) throw std::runtime_error(request.error().message);
    if (bool_at(target, {"delete"})) {
      request->verb = api::Verb::kDelete;
      request->body = JsonObject{{"propagationPolicy", "Background"}};
    } else {
      request->verb = api::Verb::kPatch;
      request->subresource = string_at(target, {"subresource"});
      request->body = with_times(std::move(patch));
    }
    const auto response = site_.call(std::move(*request));
    if (!response.ok())
      throw std::runtime_error(kind + " " + name + ": " + std::string(api::status_message(response)));
  }

  Json with_times(Json value) {
    if (value.is_string() && view(value.as_string()) == "<time>")
      return Json(format_time(site_.now()));
    if (auto* object = value.if_object()) {
      for (auto& [key, item] : *object) item = with_times(std::move(item));
    } else if (auto* array = value.if_array()) {
      for (auto& item : *array) item = with_times(std::move(item));
    }
    return value;
  }

  std::vector<Json> list(std::string_view api_version, std::string_view kind, bool everywhere = false) {
    auto request = site_.request_for(api_version, kind, ns_, {}).value();
    request.verb = api::Verb::kList;
    if (everywhere) request.ns.clear();
    const auto response = site_.call(std::move(request));
    std::vector<Json> items;
    for (const auto& item : array_at(response.body, {"items"})) items.push_back(item);
    return items;
  }

  // The workload of a job by that name: the present one, or the last that was seen.
  Json workload_of(std::string_view job) {
    for (const auto& workload : list("kueue.x-k8s.io/v1beta2", "Workload")) {
      for (const auto& owner : array_at(workload, {"metadata", "ownerReferences"})) {
        if (string_at(owner, {"name"}) == job) return workload;
      }
    }
    return nullptr;
  }

  std::vector<Json> pods_of(std::string_view job) {
    std::vector<Json> mine;
    for (const auto& pod : list("v1", "Pod")) {
      if (string_at(pod, {"metadata", "labels", "job-name"}) == job) mine.push_back(pod);
    }
    return mine;
  }

  void set_phases(int count, const std::string& job, const std::string& phase) {
    const std::string_view before = phase == "Running" ? "Pending" : "Running";
    int already = 0;
    for (const auto& pod : pods_of(job)) {
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
    if (count > already) throw std::runtime_error("there are not enough pods of " + job);
  }

  void change_pod(const Json& pod, api::Verb verb, std::string_view subresource, Json body) {
    auto request = site_.request_for("v1", "Pod", ns_, string_at(pod, {"metadata", "name"})).value();
    request.verb = verb;
    request.subresource = subresource;
    request.body = std::move(body);
    const auto response = site_.call(std::move(request));
    if (!response.ok()) throw std::runtime_error(std::string(api::status_message(response)));
  }

  void bind_pods(std::string_view job) {
    for (const auto& pod : pods_of(job)) {
      const auto node = string_at(pod, {"spec", "nodeSelector", "kubernetes.io/hostname"});
      if (node.empty() || !string_at(pod, {"spec", "nodeName"}).empty()) continue;
      change_pod(pod, api::Verb::kCreate, "binding",
                 JsonObject{{"apiVersion", "v1"},
                            {"kind", "Binding"},
                            {"metadata", JsonObject{{"name", member(member(pod, "metadata"), "name")}}},
                            {"target", JsonObject{{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node}}}});
    }
  }

  void fail_pods_of(std::string_view node) {
    for (const auto& pod : list("v1", "Pod")) {
      if (string_at(pod, {"spec", "nodeName"}) == node)
        change_pod(pod, api::Verb::kPatch, "status", JsonObject{{"status", JsonObject{{"phase", "Failed"}}}});
    }
  }

  // Each look starts from what was known before the first of them.
  StepResult look_until_satisfied(const Json& step) {
    const Bindings bindings = bindings_;
    const std::set<std::string> seen_events = seen_events_;
    StepResult result;
    site_.until([&] {
      bindings_ = bindings;
      seen_events_ = seen_events;
      result = {std::string(string_at(step, {"see"})), look(step)};
      return satisfied_(result);
    });
    return result;
  }

  std::vector<Difference> look(const Json& step) {
    bind_names(step);
    Json expected = JsonObject(), actual = JsonObject();
    const auto part = [&](std::string_view key, Json wanted, Json is) {
      expected.as_object()[key] = std::move(wanted);
      actual.as_object()[key] = std::move(is);
    };
    part("workloads", wanted_workloads(step), workloads(step));
    part("jobs", member(step, "jobs"), jobs(step));
    part("clusterQueues", member(step, "clusterQueues"),
         queues(member(step, "clusterQueues"), "ClusterQueue"));
    part("localQueues", member(step, "localQueues"), queues(member(step, "localQueues"), "LocalQueue"));
    if (find(step, "pods") != nullptr) part("pods", wanted_pods(step), pods(step));
    if (find(step, "provisioningRequests") != nullptr) {
      part("provisioningRequests", member(step, "provisioningRequests"),
           shown_by_name(kRequestVersion, "ProvisioningRequest", step, "provisioningRequests"));
      part("podTemplates", member(step, "podTemplates"),
           shown_by_name("v1", "PodTemplate", step, "podTemplates"));
    }
    part("newEvents", wanted_events(step), new_events());
    return compare(expected, actual, bindings_);
  }

  void bind_names(const Json& step) {
    const auto bind = [this](const Json& workload, std::string_view job) {
      const std::string placeholder = "<workload of " + std::string(job) + ">";
      if (workload.is_object() && !bindings_.bound(placeholder))
        bindings_.bind(placeholder, std::string(string_at(workload, {"metadata", "name"})));
    };
    for (const auto& job : array_at(step, {"jobs"})) {
      const auto name = string_at(job, {"name"});
      bind(workload_of(name), name);
    }
  }

  // With what the bound placeholders stand for.
  Json substituted(const Json& value) {
    if (value.is_string()) return Json(bindings_.substitute(view(value.as_string())));
    Json copy = value;
    if (auto* object = copy.if_object()) {
      for (auto& [key, item] : *object) item = substituted(item);
    } else if (auto* array = copy.if_array()) {
      for (auto& item : *array) item = substituted(item);
    }
    return copy;
  }

  // By job; placeholders are replaced first, so that both sides sort alike.
  Json wanted_pods(const Json& step) {
    Json result = JsonObject();
    for (const auto& [job, recorded] : object_at(step, {"pods"}))
      result.as_object()[job] = recorded_pods(substituted(recorded).as_array());
    return result;
  }

  Json pods(const Json& step) {
    Json result = JsonObject();
    for (const auto& [job, recorded] : object_at(step, {"pods"}))
      result.as_object()[job] = shown_pods(pods_of(job));
    return result;
  }

  // The objects of a kind in the recording's order, with the members that it shows; then those that should
  // not be there.
  Json shown_by_name(std::string_view api_version, std::string_view kind, const Json& step,
                     std::string_view section) {
    std::map<std::string, Json> present;
    for (auto& object : list(api_version, kind))
      present.emplace(string_at(object, {"metadata", "name"}), std::move(object));
    JsonArray result;
    for (const auto& expected : array_at(step, {section})) {
      const auto it = present.find(name_of(expected));
      if (it == present.end()) {
        result.push_back(nullptr);
        continue;
      }
      result.push_back(shown_object(it->second, expected));
      present.erase(it);
    }
    for (auto& [name, object] : present) result.push_back(JsonObject{{"unexpected", name}});
    return result;
  }

  std::string name_of(const Json& expected) {
    return bindings_.substitute(string_at(expected, {"metadata", "name"}));
  }

  Json wanted_workloads(const Json& step) {
    Json wanted = member(step, "workloads");
    if (!wanted.is_array()) return JsonArray();
    for (auto& workload : wanted.as_array()) {
      sort_conditions(workload);
      forget_durations(workload);
    }
    return wanted;
  }

  // In the recording's order, with the parts that it shows; then those that should not be there.
  Json workloads(const Json& step) {
    std::map<std::string, Json> present;
    for (auto& workload : list("kueue.x-k8s.io/v1beta2", "Workload"))
      present.emplace(string_at(workload, {"metadata", "name"}), std::move(workload));
    JsonArray result;
    for (const auto& expected : array_at(step, {"workloads"})) {
      const auto it = present.find(name_of(expected));
      if (it == present.end()) {
        result.push_back(nullptr);
        continue;
      }
      Json shown =
          JsonObject{{"metadata", restricted(member(it->second, "metadata"), member(expected, "metadata"))},
                     {"spec", restricted(member(it->second, "spec"), member(expected, "spec"))},
                     {"status", member(it->second, "status")}};
      if (find(expected, "spec") == nullptr) shown.as_object().erase("spec");
      sort_conditions(shown);
      forget_durations(shown);
      result.push_back(std::move(shown));
      present.erase(it);
    }
    for (auto& [name, workload] : present) result.push_back(JsonObject{{"unexpected", name}});
    return result;
  }

  Json jobs(const Json& step) {
    JsonArray result;
    for (const auto& expected : array_at(step, {"jobs"})) {
      const auto job = site_.get("batch/v1", "Job", ns_, string_at(expected, {"name"}));
      result.push_back(job ? shown_job(*job, expected) : Json());
      if (job && site_.real_time()) forgive_a_missed_suspension(result.back(), expected);
    }
    return result;
  }

  // A Job controller that comes after the job was let go never says that it was suspended.
  static void forgive_a_missed_suspension(Json& shown, const Json& expected) {
    const JsonArray& wanted = array_at(expected, {"conditions"});
    Json* conditions = shown.as_object().if_contains("conditions");
    if (conditions == nullptr || wanted.empty() || wanted[0] != "Suspended=False") return;
    JsonArray& present = conditions->as_array();
    if (present.empty() || !view(present[0].get_string()).starts_with("Suspended=")) present.insert(present.begin(), wanted[0]);
  }

  Json queues(const Json& expected, std::string_view kind) {
    Json result = JsonObject();
    if (!expected.is_object()) return result;
    for (const auto& [name, status] : expected.as_object()) {
      const auto queue = site_.get("kueue.x-k8s.io/v1beta2", kind, ns_, name);
      result.as_object()[name] = queue ? member(*queue, "status") : Json();
    }
    return result;
  }

  // --- Events: a set, since their order within a look and their repetition depend on timing.

  static Json event_text(std::string_view on, std::string_view type, std::string_view reason,
                         std::string_view controller, std::string note) {
    RE2::GlobalReplace(&note, R"(was (\d+|<n>)s)", "was <n>s");
    return JsonObject{
        {"on", on}, {"type", type}, {"reason", reason}, {"controller", controller}, {"note", note}};
  }

  static Json as_set(std::map<std::string, Json> events) {
    JsonArray list;
    for (auto& [key, event] : events) list.push_back(std::move(event));
    return list;
  }

  Json wanted_events(const Json& step) {
    std::map<std::string, Json> events;
    for (const auto& event : array_at(step, {"newEvents"})) {
      if (!member(event, "controller").is_string()) continue;  // of the Job controller
      Json text = event_text(bindings_.substitute(string_at(event, {"on"})), string_at(event, {"type"}),
                             string_at(event, {"reason"}), string_at(event, {"controller"}),
                             bindings_.substitute(string_at(event, {"note"})));
      events.emplace(sort_key(text), text);
    }
    return as_set(std::move(events));
  }

  Json new_events() {
    std::map<std::string, Json> events;
    for (const auto& event : list("events.k8s.io/v1", "Event")) {
      const std::string controller(string_at(event, {"reportingController"}));
      if (!controller.starts_with("kueue-") && controller != "batch/job-kueue-controller") continue;
      const std::string version = std::string(string_at(event, {"metadata", "uid"})) + "@" +
                                  std::string(string_at(event, {"metadata", "resourceVersion"}));
      if (!seen_events_.insert(version).second) continue;
      Json text = event_text(std::string(string_at(event, {"regarding", "kind"})) + "/" +
                                 std::string(string_at(event, {"regarding", "name"})),
                             string_at(event, {"type"}), string_at(event, {"reason"}), controller,
                             std::string(string_at(event, {"note"})));
      events.emplace(sort_key(text), text);
    }
    return as_set(std::move(events));
  }

  // Without uids, which are placeholders on one side.
  static std::string sort_key(const Json& event) {
    std::string key = canonical_json(event);
    RE2::GlobalReplace(&key, R"([0-9a-f]{8}-[0-9a-f-]{27}|<uid\d+>)", "#");
    return key;
  }

  Site& site_;
  const Satisfied& satisfied_;
  Json recording_, targets_;
  std::string ns_, last_node_;
  Bindings bindings_;
  std::set<std::string> seen_events_;
};

}  // namespace

std::vector<StepResult> play_kueue(Site& site, const std::string& name, const Satisfied& satisfied) {
  return Player(site, name, satisfied).run();
}

}  // namespace berth::conformance
