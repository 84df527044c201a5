#include "embedded/cluster/binder.h"

#include <chrono>
#include <string_view>
#include <utility>

#include "api/core/pod_phase.h"
#include "api/meta.h"
#include "api/object_condition.h"
#include "api/resources.h"
#include "embedded/cluster/shared/pod_writes.h"

namespace berth::cluster {
namespace {

constexpr std::string_view kSchedulerName = "default-scheduler";
constexpr Duration kReportedAgain = std::chrono::seconds(30);

kube::EventRecorderOptions scheduler_events() {
  kube::EventRecorderOptions options;
  options.controller = kSchedulerName;
  options.instance = kSchedulerName;
  return options;
}

bool may_be_bound(const Json& pod) {
  return string_at(pod, {"spec", "nodeName"}).empty() && array_at(pod, {"spec", "schedulingGates"}).empty() &&
         !api::pod_ended(pod) && !pod_terminating(pod);
}

}  // namespace

Binder::Binder(api::RestClient& client, Executor& executor, const kube::Informer& pods, devices::Claims& claims)
    : client_(client),
      executor_(executor),
      pods_(pods),
      claims_(claims),
      recorder_(client, executor, scheduler_events()) {}

void Binder::pod_changed(const JsonPtr& old, const JsonPtr& now) {
  const std::string key = pod_key(now ? *now : *old);
  const std::string_view node = now ? string_at(*now, {"spec", "nodeName"}) : std::string_view();
  if (!now || api::pod_ended(*now)) {
    forget(key);
    capacity_.unplace(key);
  } else if (!node.empty()) {
    forget(key);
    if (!capacity_.placed_on(key, node))
      capacity_.place(key, std::string(node), api::pod_requests(*find(*now, "spec")));
    return;  // there is less free capacity now: no waiting pod can profit
  } else if (may_be_bound(*now)) {
    waiting_.insert(key);
  } else {
    forget(key);
  }
  round_soon();
}

void Binder::forget(const std::string& key) {
  waiting_.erase(key);
  reported_.erase(key);
}

void Binder::node_changed(const JsonPtr& old, const JsonPtr& now) {
  if (!now) return capacity_.remove_node(string_at(*old, {"metadata", "name"}));
  capacity_.set_node(*now);
  round_soon();
}

void Binder::round_soon() {
  if (waiting_.empty() || std::exchange(round_posted_, true)) return;
  executor_.post(lifetime_.guard([this] { round(); }));
}

// Whether a node has the devices that the pod claims; empty: it claims none.
FreeCapacity::Also Binder::devices_of(const Json& pod) {
  if (!devices::has_claims(pod)) return {};
  return [this, &pod](const std::string& name, const auto& labels) { return claims_.fits(pod, {name, labels}); };
}

void Binder::round() {
  round_posted_ = false;
  const std::set<std::string> keys = waiting_;
  for (const auto& key : keys) {
    const JsonPtr pod = pods_.get(key);
    if (!pod || !may_be_bound(*pod) || capacity_.placed(key)) continue;
    const Json& spec = *find(*pod, "spec");
    api::ResourceList requests = api::pod_requests(spec);
    const std::string* node = capacity_.choose(requests, api::decode_node_constraints(spec), devices_of(*pod));
    if (node != nullptr) {
      waiting_.erase(key);
      place(key, pod, *node, std::move(requests));
    } else {
      report_unschedulable(key, *pod, requests);
    }
  }
}

void Binder::place(const std::string& key, const JsonPtr& pod, const std::string& node, api::ResourceList requests) {
  capacity_.place(key, node, std::move(requests));
  const auto labels = capacity_.labels_of(node);
  claims_.allocate(*pod, {node, labels},
                   lifetime_.guard([this, key, pod, node](bool ok) { ok ? bind(key, pod, node) : try_again(key); }));
}

void Binder::try_again(const std::string& key) {
  capacity_.unplace(key);
  if (const JsonPtr again = pods_.get(key); again && may_be_bound(*again)) {
    waiting_.insert(key);
    round_soon();
  }
}

void Binder::bind(const std::string& key, const JsonPtr& pod, const std::string& node) {
  api::RestRequest request;
  request.verb = api::Verb::kCreate;
  request.resource = api::kPods;
  request.ns = string_at(*pod, {"metadata", "namespace"});
  request.name = string_at(*pod, {"metadata", "name"});
  request.subresource = "binding";
  request.body = JsonObject{
      {"apiVersion", "v1"},
      {"kind", "Binding"},
      {"metadata",
       JsonObject{{"name", request.name}, {"namespace", request.ns}, {"uid", string_at(*pod, {"metadata", "uid"})}}},
      {"target", JsonObject{{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node}}}};
  client_.call(std::move(request), lifetime_.guard([this, key](const api::RestResponse& response) {
    if (!response.ok()) try_again(key);
  }));
}

void Binder::report_unschedulable(const std::string& key, const Json& pod, const api::ResourceList& requests) {
  const Time now = executor_.now();
  const auto [reported, first] = reported_.try_emplace(key, now);
  if (!first && now - reported->second < kReportedAgain) return;
  const std::string message =
      capacity_.why_none(requests, api::decode_node_constraints(*find(pod, "spec")), devices_of(pod));
  const Json* scheduled = api::object_condition(pod, "PodScheduled");
  if (scheduled != nullptr && string_at(*scheduled, {"message"}) == message) return;
  reported->second = now;
  api::RestRequest request;
  request.verb = api::Verb::kPatch;
  request.patch_type = api::PatchType::kStrategicMerge;
  request.resource = api::kPods;
  request.ns = string_at(pod, {"metadata", "namespace"});
  request.name = string_at(pod, {"metadata", "name"});
  request.subresource = "status";
  const std::string uid(string_at(pod, {"metadata", "uid"}));
  request.body = JsonObject{
      {"metadata", JsonObject{{"uid", uid}}},
      {"status", JsonObject{{"conditions", JsonArray{JsonObject{{"type", "PodScheduled"},
                                                                {"status", "False"},
                                                                {"reason", "Unschedulable"},
                                                                {"message", message},
                                                                {"lastTransitionTime", format_time(now)}}}}}}};
  kube::EventText text{true, "FailedScheduling", message, "Scheduling", std::string(kSchedulerName)};
  text.by_note = true;
  recorder_.record({"v1", "Pod", request.ns, request.name, uid}, std::move(text));
  client_.call(std::move(request), [](const api::RestResponse&) {});
}

}  // namespace berth::cluster
