#include "embedded/cluster/taint_eviction.h"

#include "api/core/pod_phase.h"

#include <algorithm>
#include <utility>

namespace berth::cluster {
namespace {

constexpr std::string_view kNoExecute = "NoExecute";

bool has_no_execute(const Json& node) {
  const auto& taints = array_at(node, {"spec", "taints"});
  return std::any_of(taints.begin(), taints.end(),
                     [](const Json& taint) { return string_at(taint, {"effect"}) == kNoExecute; });
}

}  // namespace

TaintEviction::TaintEviction(api::RestClient& client, Executor& executor, const kube::Informer& nodes,
                             const kube::Informer& pods, const PodsByNode& index)
    : executor_(executor), nodes_(nodes), pods_(pods), index_(index), writer_(client, executor) {}

TaintEviction::~TaintEviction() {
  for (const auto& [key, waiting] : waiting_) executor_.cancel(waiting.timer);
}

void TaintEviction::node_changed(const JsonPtr& old, const JsonPtr& now) {
  if (!(old && has_no_execute(*old)) && !(now && has_no_execute(*now))) return;
  for (const auto& key : index_.on(string_at(now ? *now : *old, {"metadata", "name"}))) look_at(key);
}

void TaintEviction::pod_changed(const JsonPtr& old, const JsonPtr& now) { look_at(pod_key(now ? *now : *old)); }

void TaintEviction::forget(const std::string& key) {
  const auto it = waiting_.find(key);
  if (it == waiting_.end()) return;
  executor_.cancel(it->second.timer);
  waiting_.erase(it);
}

// The time when the first of the pod's tolerations ends, or the start of a taint that it does not tolerate. None when
// it tolerates all taints without limit.
std::optional<Time> TaintEviction::end_of_toleration(const Json& pod, const Json& node, Time since) const {
  const Json* list = find_path(pod, {"spec", "tolerations"});
  const auto tolerations = list ? api::decode_tolerations(*list) : std::vector<api::Toleration>();
  std::optional<Time> end;
  for (const auto& object : array_at(node, {"spec", "taints"})) {
    const api::Taint taint{std::string(string_at(object, {"key"})), std::string(string_at(object, {"value"})),
                           std::string(string_at(object, {"effect"}))};
    if (taint.effect != kNoExecute) continue;
    const Time begin = parse_time(string_at(object, {"timeAdded"})).value_or(since);
    if (!api::tolerates(tolerations, taint)) return begin;
    for (const auto& toleration : tolerations) {
      if (!toleration.toleration_seconds || !api::tolerates(toleration, taint)) continue;
      const Time until = begin + std::chrono::seconds(std::max<std::int64_t>(0, *toleration.toleration_seconds));
      end = end ? std::min(*end, until) : until;
    }
  }
  return end;
}

void TaintEviction::look_at(const std::string& key) {
  const JsonPtr pod = pods_.get(key);
  const JsonPtr node = pod ? nodes_.get(string_at(*pod, {"spec", "nodeName"})) : nullptr;
  if (!node || api::pod_ended(*pod) || pod_terminating(*pod) || !has_no_execute(*node)) return forget(key);
  const auto uid = string_at(*pod, {"metadata", "uid"});
  if (const auto it = waiting_.find(key); it != waiting_.end() && it->second.uid != uid) forget(key);
  Waiting& waiting = waiting_.try_emplace(key, Waiting{std::string(uid), executor_.now(), 0}).first->second;
  executor_.cancel(std::exchange(waiting.timer, 0));
  const auto end = end_of_toleration(*pod, *node, waiting.since);
  if (end) waiting.timer = executor_.at(*end, [this, key] { evict(key); });
}

void TaintEviction::evict(const std::string& key) {
  waiting_.erase(key);
  const JsonPtr pod = pods_.get(key);
  if (!pod || api::pod_ended(*pod) || pod_terminating(*pod)) return;
  const auto again = [this, key] { look_at(key); };
  writer_.send(
      patch_pod_status(*pod, JsonObject{{"conditions",
                                         JsonArray{pod_condition("DisruptionTarget", true, format_time(executor_.now()),
                                                                 "DeletionByTaintManager",
                                                                 "Taint manager: deleting due to NoExecute taint")}}}),
      [] {});
  writer_.send(delete_pod(*pod), again);
}

}  // namespace berth::cluster
