#include "cluster/kubelet.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "api/meta.h"

namespace berth::cluster {
namespace {

const api::GroupVersionResource kPods{"", "v1", "pods"};
constexpr std::string_view kRunFor = "berth.dev/run-for";
constexpr std::string_view kExitCode = "berth.dev/exit-code";
constexpr Duration kRetry = std::chrono::seconds(1);

std::string key_of(const Json& pod) {
  return api::object_key(string_at(pod, {"metadata", "namespace"}), string_at(pod, {"metadata", "name"}));
}

Duration run_for(const Json& pod) {
  const auto text = string_at(pod, {"metadata", "annotations", kRunFor});
  if (text.empty()) return kDefaultRunFor;
  const auto parsed = parse_duration(text);
  return parsed && *parsed >= Duration(0) ? *parsed : kDefaultRunFor;
}

int exit_code(const Json& pod) {
  const auto text = string_at(pod, {"metadata", "annotations", kExitCode});
  int code = 0;
  std::from_chars(text.data(), text.data() + text.size(), code);
  return code;
}

Json condition(std::string_view type, bool status, const std::string& now, std::string_view reason = {}) {
  JsonObject c{{"type", type}, {"status", status ? "True" : "False"}, {"lastTransitionTime", now}};
  if (!reason.empty()) c["reason"] = reason;
  return c;
}

// One status per container of the spec, all in the same state.
Json container_statuses(const Json& pod, const Json& state, bool ready, std::int64_t restarts) {
  JsonArray statuses;
  for (const auto& container : array_at(pod, {"spec", "containers"})) {
    const auto name = string_at(container, {"name"});
    statuses.push_back(
        JsonObject{{"name", name},
                   {"image", string_at(container, {"image"})},
                   {"imageID", ""},
                   {"containerID",
                    "berth://" + std::string(string_at(pod, {"metadata", "uid"})) + "/" + std::string(name)},
                   {"ready", ready},
                   {"started", ready},
                   {"restartCount", restarts},
                   {"state", state}});
  }
  return statuses;
}

std::int64_t restarts_of(const Json& pod) {
  const auto& statuses = array_at(pod, {"status", "containerStatuses"});
  return statuses.empty() ? 0 : int_at(statuses[0], {"restartCount"});
}

}  // namespace

Kubelet::Kubelet(api::RestClient& client, Executor& executor, const kube::Informer& pods)
    : client_(client), executor_(executor), pods_(pods) {}

Kubelet::~Kubelet() {
  *alive_ = false;
  for (const auto& [key, running] : running_) executor_.cancel(running.timer);
}

void Kubelet::forget(const std::string& key) {
  const auto it = running_.find(key);
  if (it == running_.end()) return;
  executor_.cancel(it->second.timer);
  running_.erase(it);
}

void Kubelet::pod_changed(const JsonPtr& old, const JsonPtr& now) {
  const std::string key = key_of(now ? *now : *old);
  if (!now) return forget(key);
  if (const auto it = running_.find(key);
      it != running_.end() && it->second.uid != string_at(*now, {"metadata", "uid"}))
    forget(key);
  if (string_at(*now, {"spec", "nodeName"}).empty()) return;
  if (find_path(*now, {"metadata", "deletionTimestamp"}) != nullptr) return terminate(key, now);
  const auto phase = string_at(*now, {"status", "phase"});
  if (phase == "Succeeded" || phase == "Failed") return forget(key);
  if (phase == "Running") {
    watch_end(key, now);
  } else {
    start(key, now);
  }
}

void Kubelet::patch_status(const JsonPtr& pod, Json status) {
  api::RestRequest request;
  request.verb = api::Verb::kPatch;
  request.patch_type = api::PatchType::kStrategicMerge;
  request.resource = kPods;
  request.ns = string_at(*pod, {"metadata", "namespace"});
  request.name = string_at(*pod, {"metadata", "name"});
  request.subresource = "status";
  request.body = JsonObject{{"metadata", JsonObject{{"uid", string_at(*pod, {"metadata", "uid"})}}},
                            {"status", std::move(status)}};
  const std::string key = key_of(*pod);
  client_.call(std::move(request), [this, alive = alive_, key](const api::RestResponse& response) {
    if (!*alive || response.ok() || response.code == 404 || response.code == 409) return;
    executor_.after(kRetry, [this, alive, key] {  // the pod as it is then decides what is missing
      if (!*alive) return;
      forget(key);
      if (const JsonPtr again = pods_.get(key)) pod_changed(nullptr, again);
    });
  });
}

void Kubelet::start(const std::string& key, const JsonPtr& pod) {
  if (running_.contains(key)) return;  // the start is under way
  Running& running = running_[key];
  running.uid = string_at(*pod, {"metadata", "uid"});
  running.started = executor_.now();
  const std::string now = format_time(*running.started);
  const int address = next_address_++;
  const std::string ip = "10." + std::to_string(address >> 16 & 255) + "." +
                         std::to_string(address >> 8 & 255) + "." + std::to_string(address & 255);
  patch_status(
      pod, JsonObject{{"phase", "Running"},
                      {"conditions",
                       JsonArray{condition("PodScheduled", true, now), condition("Initialized", true, now),
                                 condition("ContainersReady", true, now), condition("Ready", true, now)}},
                      {"hostIP", "127.0.0.1"},
                      {"podIP", ip},
                      {"podIPs", JsonArray{JsonObject{{"ip", ip}}}},
                      {"startTime", now},
                      {"containerStatuses",
                       container_statuses(*pod, JsonObject{{"running", JsonObject{{"startedAt", now}}}}, true,
                                          restarts_of(*pod))}});
}

// A running pod ends when it has run long enough since its containers started, also when this process did not
// see the start.
void Kubelet::watch_end(const std::string& key, const JsonPtr& pod) {
  Running& running = running_[key];
  running.uid = string_at(*pod, {"metadata", "uid"});
  if (running.timer != 0) return;
  const auto& statuses = array_at(*pod, {"status", "containerStatuses"});
  const auto started = statuses.empty() ? string_at(*pod, {"status", "startTime"})
                                        : string_at(statuses[0], {"state", "running", "startedAt"});
  const Time since = running.started ? *running.started : parse_time(started).value_or(executor_.now());
  running.timer = executor_.at(since + run_for(*pod), [this, key] { end(key); });
}

void Kubelet::end(const std::string& key) {
  const auto it = running_.find(key);
  const JsonPtr pod = pods_.get(key);
  if (it == running_.end() || !pod) return;
  it->second.timer = 0;
  const std::string now = format_time(executor_.now());
  const int code = exit_code(*pod);
  const auto policy = string_at(*pod, {"spec", "restartPolicy"});
  const auto& statuses = array_at(*pod, {"status", "containerStatuses"});
  const auto started = statuses.empty() ? std::string_view(now)
                                        : string_at(statuses[0], {"state", "running", "startedAt"}, now);
  if (policy == "Always" || (policy == "OnFailure" && code != 0)) {
    it->second.started = executor_.now();
    patch_status(pod,
                 JsonObject{{"containerStatuses",
                             container_statuses(*pod, JsonObject{{"running", JsonObject{{"startedAt", now}}}},
                                                true, restarts_of(*pod) + 1)}});
    return;
  }
  const Json terminated = JsonObject{{"terminated", JsonObject{{"exitCode", code},
                                                               {"reason", code == 0 ? "Completed" : "Error"},
                                                               {"startedAt", started},
                                                               {"finishedAt", now}}},
                                     {"running", nullptr}};
  const std::string_view reason = code == 0 ? "PodCompleted" : "PodFailed";
  patch_status(
      pod, JsonObject{{"phase", code == 0 ? "Succeeded" : "Failed"},
                      {"conditions", JsonArray{condition("ContainersReady", false, now, reason),
                                               condition("Ready", false, now, reason)}},
                      {"containerStatuses", container_statuses(*pod, terminated, false, restarts_of(*pod))}});
}

// A deleted pod stops within its grace period (here: at once), is seen as Failed when it had not ended, and
// is removed.
void Kubelet::terminate(const std::string& key, const JsonPtr& pod) {
  Running& running = running_[key];
  running.uid = string_at(*pod, {"metadata", "uid"});
  if (std::exchange(running.terminating, true)) return;
  executor_.cancel(running.timer);
  running.timer = 0;
  const auto phase = string_at(*pod, {"status", "phase"});
  if (phase != "Succeeded" && phase != "Failed") {
    const std::string now = format_time(executor_.now());
    const Json terminated =
        JsonObject{{"terminated", JsonObject{{"exitCode", 143}, {"reason", "Error"}, {"finishedAt", now}}},
                   {"running", nullptr}};
    patch_status(
        pod,
        JsonObject{{"phase", "Failed"},
                   {"conditions", JsonArray{condition("ContainersReady", false, now, "PodFailed"),
                                            condition("Ready", false, now, "PodFailed")}},
                   {"containerStatuses", container_statuses(*pod, terminated, false, restarts_of(*pod))}});
  }
  api::RestRequest request;
  request.verb = api::Verb::kDelete;
  request.resource = kPods;
  request.ns = string_at(*pod, {"metadata", "namespace"});
  request.name = string_at(*pod, {"metadata", "name"});
  request.body = JsonObject{{"gracePeriodSeconds", 0},
                            {"preconditions", JsonObject{{"uid", string_at(*pod, {"metadata", "uid"})}}}};
  client_.call(std::move(request), [this, alive = alive_, key](const api::RestResponse& response) {
    if (!*alive || response.ok() || response.code == 404 || response.code == 409) return;
    executor_.after(kRetry, [this, alive, key] {
      if (!*alive) return;
      forget(key);
      if (const JsonPtr again = pods_.get(key)) pod_changed(nullptr, again);
    });
  });
}

}  // namespace berth::cluster
