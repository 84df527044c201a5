#include "embedded/cluster/kubelet.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "api/core/pod_phase.h"
#include "api/object_condition.h"
#include "embedded/cluster/nodes.h"

namespace berth::cluster {
namespace {

constexpr std::string_view kRunFor = "berth.dev/run-for";
constexpr std::string_view kExitCode = "berth.dev/exit-code";
constexpr std::string_view kStopAfter = "berth.dev/stop-after";

Duration duration_of(const Json& pod, std::string_view annotation, Duration otherwise) {
  const auto text = string_at(pod, {"metadata", "annotations", annotation});
  if (text.empty()) return otherwise;
  const auto parsed = parse_duration(text);
  return parsed && *parsed >= Duration(0) ? *parsed : otherwise;
}

int exit_code(const Json& pod) {
  const auto text = string_at(pod, {"metadata", "annotations", kExitCode});
  int code = 0;
  std::from_chars(text.data(), text.data() + text.size(), code);
  return code;
}

// A pod that serves: it has no end, unless an annotation gives it one; then its containers start again.
bool runs_for_ever(const Json& pod) {
  return string_at(pod, {"spec", "restartPolicy"}) == "Always" &&
         string_at(pod, {"metadata", "annotations", kRunFor}).empty();
}

// Whether the pod is not ready because its node was not Ready (see node_life.h).
bool lost_its_node(const Json& pod) {
  const Json* ready = api::object_condition(pod, "Ready");
  return ready != nullptr && string_at(*ready, {"reason"}) == kNodeNotReady;
}

// One status per container of the spec, all in the same state.
Json container_statuses(const Json& pod, const Json& state, bool ready, std::int64_t restarts) {
  JsonArray statuses;
  for (const auto& container : array_at(pod, {"spec", "containers"})) {
    const auto name = string_at(container, {"name"});
    statuses.push_back(JsonObject{
        {"name", name},
        {"image", string_at(container, {"image"})},
        {"imageID", ""},
        {"containerID", "berth://" + std::string(string_at(pod, {"metadata", "uid"})) + "/" + std::string(name)},
        {"ready", ready},
        {"started", ready},
        {"restartCount", restarts},
        {"state", state}});
  }
  return statuses;
}

std::int64_t first_container_restarts(const Json& pod) {
  const auto& statuses = array_at(pod, {"status", "containerStatuses"});
  return statuses.empty() ? 0 : int_at(statuses[0], {"restartCount"});
}

}  // namespace

Kubelet::Kubelet(api::RestClient& client, Executor& executor, const kube::Informer& nodes, const kube::Informer& pods,
                 const PodsByNode& index)
    : executor_(executor), nodes_(nodes), pods_(pods), index_(index), writer_(client, executor) {}

Kubelet::~Kubelet() {
  for (const auto& [key, running] : running_) executor_.cancel(running.timer);
}

void Kubelet::forget(const std::string& key) {
  const auto it = running_.find(key);
  if (it == running_.end()) return;
  executor_.cancel(it->second.timer);
  running_.erase(it);
}

bool Kubelet::up(std::string_view node) const {
  const JsonPtr object = nodes_.get(node);
  return object && node_ready(*object);
}

void Kubelet::node_changed(const JsonPtr& old, const JsonPtr& now) {
  if ((old && node_ready(*old)) == (now && node_ready(*now))) return;
  for (const auto& key : index_.on(string_at(now ? *now : *old, {"metadata", "name"}))) look_again(key);
}

void Kubelet::look_again(const std::string& key) {
  forget(key);
  if (const JsonPtr pod = pods_.get(key)) pod_changed(nullptr, pod);
}

void Kubelet::pod_changed(const JsonPtr& old, const JsonPtr& now) {
  const std::string key = pod_key(now ? *now : *old);
  if (!now) return forget(key);
  if (const auto it = running_.find(key);
      it != running_.end() && it->second.uid != string_at(*now, {"metadata", "uid"}))
    forget(key);
  const auto node = string_at(*now, {"spec", "nodeName"});
  if (node.empty()) return;
  if (!up(node)) return forget(key);
  if (pod_terminating(*now)) return terminate(key, now);
  if (api::pod_ended(*now)) return forget(key);
  if (string_at(*now, {"status", "phase"}) == "Running") {
    watch_end(key, now);
  } else {
    start(key, now);
  }
}

// After a failed write the current pod decides what to write.
void Kubelet::patch_status(const JsonPtr& pod, Json status) {
  writer_.send(patch_pod_status(*pod, std::move(status)), [this, key = pod_key(*pod)] { look_again(key); });
}

void Kubelet::start(const std::string& key, const JsonPtr& pod) {
  if (running_.contains(key)) return;  // the start is not confirmed yet
  Running& running = running_[key];
  running.uid = string_at(*pod, {"metadata", "uid"});
  running.started = executor_.now();
  const std::string now = format_time(*running.started);
  const int address = next_address_++;
  const std::string ip = "10." + std::to_string(address >> 16 & 255) + "." + std::to_string(address >> 8 & 255) + "." +
                         std::to_string(address & 255);
  patch_status(
      pod,
      JsonObject{
          {"phase", "Running"},
          {"conditions", JsonArray{pod_condition("PodScheduled", true, now), pod_condition("Initialized", true, now),
                                   pod_condition("ContainersReady", true, now), pod_condition("Ready", true, now)}},
          {"hostIP", "127.0.0.1"},
          {"podIP", ip},
          {"podIPs", JsonArray{JsonObject{{"ip", ip}}}},
          {"startTime", now},
          {"containerStatuses", container_statuses(*pod, JsonObject{{"running", JsonObject{{"startedAt", now}}}}, true,
                                                   first_container_restarts(*pod))}});
}

// A running pod terminates when its run time since the start of its containers has passed, also when this process did
// not start it.
void Kubelet::watch_end(const std::string& key, const JsonPtr& pod) {
  Running& running = running_[key];
  running.uid = string_at(*pod, {"metadata", "uid"});
  if (running.timer != 0) return;
  if (lost_its_node(*pod)) {
    Json ready = pod_condition("Ready", true, format_time(executor_.now()));
    ready.as_object()["reason"] = nullptr;
    patch_status(pod, JsonObject{{"conditions", JsonArray{std::move(ready)}}});
  }
  const auto& statuses = array_at(*pod, {"status", "containerStatuses"});
  const auto started = statuses.empty() ? string_at(*pod, {"status", "startTime"})
                                        : string_at(statuses[0], {"state", "running", "startedAt"});
  if (runs_for_ever(*pod)) return;
  const Time since = running.started ? *running.started : parse_time(started).value_or(executor_.now());
  running.timer = executor_.at(since + duration_of(*pod, kRunFor, kDefaultRunFor), [this, key] { end(key); });
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
  const auto started =
      statuses.empty() ? std::string_view(now) : string_at(statuses[0], {"state", "running", "startedAt"}, now);
  if (policy == "Always" || (policy == "OnFailure" && code != 0)) {
    it->second.started = executor_.now();
    patch_status(pod, JsonObject{{"containerStatuses",
                                  container_statuses(*pod, JsonObject{{"running", JsonObject{{"startedAt", now}}}},
                                                     true, first_container_restarts(*pod) + 1)}});
    return;
  }
  const Json terminated = JsonObject{{"terminated", JsonObject{{"exitCode", code},
                                                               {"reason", code == 0 ? "Completed" : "Error"},
                                                               {"startedAt", started},
                                                               {"finishedAt", now}}},
                                     {"running", nullptr}};
  const std::string_view reason = code == 0 ? "PodCompleted" : "PodFailed";
  patch_status(pod, JsonObject{{"phase", code == 0 ? "Succeeded" : "Failed"},
                               {"conditions", JsonArray{pod_condition("ContainersReady", false, now, reason),
                                                        pod_condition("Ready", false, now, reason)}},
                               {"containerStatuses",
                                container_statuses(*pod, terminated, false, first_container_restarts(*pod))}});
}

// A deleted pod stops within its grace period, becomes Failed unless it has terminated, and is removed.
void Kubelet::terminate(const std::string& key, const JsonPtr& pod) {
  Running& running = running_[key];
  running.uid = string_at(*pod, {"metadata", "uid"});
  if (std::exchange(running.terminating, true)) return;
  executor_.cancel(running.timer);
  const Duration grace = std::chrono::seconds(int_at(*pod, {"metadata", "deletionGracePeriodSeconds"}));
  const Time end = parse_time(string_at(*pod, {"metadata", "deletionTimestamp"})).value_or(executor_.now());
  const Duration takes =
      api::pod_ended(*pod) ? Duration(0) : std::min(grace, duration_of(*pod, kStopAfter, Duration(0)));
  if (end - grace + takes <= executor_.now()) return stop(key);
  running.timer = executor_.at(end - grace + takes, [this, key] { stop(key); });
}

void Kubelet::stop(const std::string& key) {
  const JsonPtr pod = pods_.get(key);
  if (!pod) return;
  if (!api::pod_ended(*pod)) {
    const std::string now = format_time(executor_.now());
    const Json terminated = JsonObject{
        {"terminated", JsonObject{{"exitCode", 143}, {"reason", "Error"}, {"finishedAt", now}}}, {"running", nullptr}};
    patch_status(pod, JsonObject{{"phase", "Failed"},
                                 {"conditions", JsonArray{pod_condition("ContainersReady", false, now, "PodFailed"),
                                                          pod_condition("Ready", false, now, "PodFailed")}},
                                 {"containerStatuses",
                                  container_statuses(*pod, terminated, false, first_container_restarts(*pod))}});
  }
  writer_.send(delete_pod(*pod, 0), [this, key] { look_again(key); });
}

}  // namespace berth::cluster
