// Reading Volcano's objects and writing their statuses.
#include <array>

#include "api/core/pod_amounts.h"
#include "api/volcano/names.h"
#include "api/volcano/types.h"

namespace berth::api::volcano {
namespace {

template <typename Enum>
struct Name {
  std::string_view text;
  Enum value;
};
template <typename Enum, std::size_t N>
using Names = std::array<Name<Enum>, N>;

constexpr Names<QueueState, 4> kQueueStates{{{"Open", QueueState::kOpen},
                                             {"Closing", QueueState::kClosing},
                                             {"Closed", QueueState::kClosed},
                                             {"Unknown", QueueState::kUnknown}}};
constexpr Names<DequeueStrategy, 2> kDequeueStrategies{
    {{"traverse", DequeueStrategy::kTraverse}, {"fifo", DequeueStrategy::kFifo}}};
constexpr Names<TopologyMode, 2> kTopologyModes{{{"hard", TopologyMode::kHard}, {"soft", TopologyMode::kSoft}}};
constexpr Names<PodGroupPhase, 5> kPodGroupPhases{{{"Pending", PodGroupPhase::kPending},
                                                   {"Inqueue", PodGroupPhase::kInqueue},
                                                   {"Running", PodGroupPhase::kRunning},
                                                   {"Unknown", PodGroupPhase::kUnknown},
                                                   {"Completed", PodGroupPhase::kCompleted}}};
constexpr Names<JobPhase, 10> kJobPhases{{{"Pending", JobPhase::kPending},
                                          {"Aborting", JobPhase::kAborting},
                                          {"Aborted", JobPhase::kAborted},
                                          {"Running", JobPhase::kRunning},
                                          {"Restarting", JobPhase::kRestarting},
                                          {"Completing", JobPhase::kCompleting},
                                          {"Completed", JobPhase::kCompleted},
                                          {"Terminating", JobPhase::kTerminating},
                                          {"Terminated", JobPhase::kTerminated},
                                          {"Failed", JobPhase::kFailed}}};

template <typename Enum, std::size_t N>
std::string_view text_of(const Names<Enum, N>& names, Enum value) {
  for (const auto& name : names)
    if (name.value == value) return name.text;
  return {};
}

// Reads one object and keeps the first error; later reads return defaults.
class Reader {
 public:
  using Keys = std::initializer_list<std::string_view>;

  Reader(std::string_view kind, const Json& object) : kind_(kind), object_(object), meta_(decode_meta(object)) {}

  ObjectMeta take_meta() { return std::move(meta_); }

  template <typename Enum, std::size_t N>
  Enum choice(const Json& value, Keys keys, const Names<Enum, N>& names, Enum otherwise) {
    const std::string_view text = string_at(value, keys);
    if (text.empty()) return otherwise;
    for (const auto& name : names)
      if (name.text == text) return name.value;
    fail_at(keys, "unsupported value \"" + std::string(text) + "\"");
    return otherwise;
  }

  ResourceList resources(Keys keys) {
    const Json* value = find_path(object_, keys);
    if (value == nullptr || value->is_null()) return {};
    auto list = decode_resource_list(*value);
    if (!list) fail_at(keys, list.error().message);
    return at_least_zero(list.value_or(ResourceList()));
  }

  std::optional<NetworkTopology> topology(Keys keys) {
    const Json* value = find_path(object_, keys);
    if (value == nullptr || !value->is_object()) return std::nullopt;
    NetworkTopology out;
    out.mode = choice(*value, {"mode"}, kTopologyModes, out.mode);
    if (const auto tier = optional_int_at(*value, {"highestTierAllowed"}))
      out.highest_tier_allowed = static_cast<std::int32_t>(*tier);
    out.highest_tier_name = string_at(*value, {"highestTierName"});
    return out;
  }

  template <typename T>
  Result<T> finish(T value) {
    if (error_) return tl::unexpected(std::move(*error_));
    value.meta = take_meta();
    return value;
  }

 private:
  void fail_at(Keys keys, std::string_view why) {
    if (error_) return;
    std::string path;
    for (const std::string_view key : keys) path += (path.empty() ? "" : ".") + std::string(key);
    error_ = Error{std::string(kind_) + " " + object_key(meta_) + ": " + path + ": " + std::string(why)};
  }

  std::string_view kind_;
  const Json& object_;
  ObjectMeta meta_;
  std::optional<Error> error_;
};

std::int32_t int32_at(const Json& value, Reader::Keys keys, std::int32_t otherwise = 0) {
  return static_cast<std::int32_t>(int_at(value, keys, otherwise));
}
std::optional<std::int32_t> optional_int32(const Json& value, Reader::Keys keys) {
  const auto number = optional_int_at(value, keys);
  return number ? std::optional(static_cast<std::int32_t>(*number)) : std::nullopt;
}
std::string text_at(const Json& value, Reader::Keys keys) { return std::string(string_at(value, keys)); }

PodGroupCondition decode_condition(const Json& value) {
  return {.type = text_at(value, {"type"}),
          .status = string_at(value, {"status"}) == "True",
          .transition_id = text_at(value, {"transitionID"}),
          .reason = text_at(value, {"reason"}),
          .message = text_at(value, {"message"}),
          .last_transition = parse_time(string_at(value, {"lastTransitionTime"})).value_or(Time{})};
}

Task decode_task(const Json& value, std::size_t index) {
  Task task;
  task.name = string_at(value, {"name"});
  if (task.name.empty()) task.name = std::string(kDefaultQueue) + std::to_string(index);
  task.replicas = int32_at(value, {"replicas"});
  task.min_available = optional_int32(value, {"minAvailable"});
  const Json* pod_template = find(value, "template");
  task.template_ = std::make_shared<const Json>(pod_template != nullptr ? *pod_template : Json(JsonObject()));
  return task;
}

void put(JsonObject& out, std::string_view key, std::int32_t value) {
  if (value != 0) out[boost::json::string_view(key.data(), key.size())] = value;
}
void put(JsonObject& out, std::string_view key, std::string_view value) {
  if (!value.empty())
    out[boost::json::string_view(key.data(), key.size())] = boost::json::string_view(value.data(), value.size());
}

}  // namespace

Result<Queue> decode_queue(const Json& object) {
  Reader reader("Queue", object);
  Queue q;
  q.parent = string_at(object, {"spec", "parent"});
  q.capability = reader.resources({"spec", "capability"});
  q.deserved = reader.resources({"spec", "deserved"});
  q.guarantee = reader.resources({"spec", "guarantee", "resource"});
  q.weight = int32_at(object, {"spec", "weight"}, 1);
  q.priority = int32_at(object, {"spec", "priority"});
  q.reclaimable = bool_at(object, {"spec", "reclaimable"}, true);
  q.dequeue_strategy = reader.choice(object, {"spec", "dequeueStrategy"}, kDequeueStrategies, q.dequeue_strategy);
  q.status.state = reader.choice(object, {"status", "state"}, kQueueStates, q.status.state);
  q.status.allocated = reader.resources({"status", "allocated"});
  q.status.pending = int32_at(object, {"status", "pending"});
  q.status.running = int32_at(object, {"status", "running"});
  q.status.unknown = int32_at(object, {"status", "unknown"});
  q.status.inqueue = int32_at(object, {"status", "inqueue"});
  q.status.completed = int32_at(object, {"status", "completed"});
  return reader.finish(std::move(q));
}

Result<PodGroup> decode_pod_group(const Json& object) {
  Reader reader("PodGroup", object);
  PodGroup g;
  g.min_member = int32_at(object, {"spec", "minMember"});
  for (const auto& [task, count] : object_at(object, {"spec", "minTaskMember"}))
    if (count.is_int64()) g.min_task_member.emplace(task, static_cast<std::int32_t>(count.get_int64()));
  const Json* min_resources = find_path(object, {"spec", "minResources"});
  if (min_resources != nullptr && !min_resources->is_null())
    g.min_resources = reader.resources({"spec", "minResources"});
  g.queue = string_at(object, {"spec", "queue"}, kDefaultQueue);
  g.priority_class_name = string_at(object, {"spec", "priorityClassName"});
  g.network_topology = reader.topology({"spec", "networkTopology"});
  g.status.phase = reader.choice(object, {"status", "phase"}, kPodGroupPhases, g.status.phase);
  for (const Json& condition : array_at(object, {"status", "conditions"}))
    g.status.conditions.push_back(decode_condition(condition));
  g.status.running = int32_at(object, {"status", "running"});
  g.status.succeeded = int32_at(object, {"status", "succeeded"});
  g.status.failed = int32_at(object, {"status", "failed"});
  return reader.finish(std::move(g));
}

Result<Command> decode_command(const Json& object) {
  Reader reader("Command", object);
  Command c;
  c.action = string_at(object, {"action"});
  c.target.api_version = string_at(object, {"target", "apiVersion"});
  c.target.kind = string_at(object, {"target", "kind"});
  c.target.name = string_at(object, {"target", "name"});
  c.target.uid = string_at(object, {"target", "uid"});
  c.target.controller = bool_at(object, {"target", "controller"});
  c.target.block_owner_deletion = bool_at(object, {"target", "blockOwnerDeletion"});
  c.reason = string_at(object, {"reason"});
  c.message = string_at(object, {"message"});
  return reader.finish(std::move(c));
}

Result<Job> decode_job(const Json& object) {
  Reader reader("Job", object);
  Job j;
  for (const Json& task : array_at(object, {"spec", "tasks"})) j.tasks.push_back(decode_task(task, j.tasks.size()));
  j.scheduler_name = string_at(object, {"spec", "schedulerName"});
  j.min_available = optional_int32(object, {"spec", "minAvailable"});
  j.queue = string_at(object, {"spec", "queue"}, kDefaultQueue);
  j.priority_class_name = string_at(object, {"spec", "priorityClassName"});
  j.max_retry = int32_at(object, {"spec", "maxRetry"}, j.max_retry);
  j.network_topology = reader.topology({"spec", "networkTopology"});
  JobStatus& s = j.status;
  s.phase = reader.choice(object, {"status", "state", "phase"}, kJobPhases, s.phase);
  s.reason = string_at(object, {"status", "state", "reason"});
  s.message = string_at(object, {"status", "state", "message"});
  s.last_transition = parse_time(string_at(object, {"status", "state", "lastTransitionTime"})).value_or(Time{});
  s.min_available = int32_at(object, {"status", "minAvailable"});
  s.pending = int32_at(object, {"status", "pending"});
  s.running = int32_at(object, {"status", "running"});
  s.succeeded = int32_at(object, {"status", "succeeded"});
  s.failed = int32_at(object, {"status", "failed"});
  s.terminating = int32_at(object, {"status", "terminating"});
  s.unknown = int32_at(object, {"status", "unknown"});
  s.version = int32_at(object, {"status", "version"});
  s.retry_count = int32_at(object, {"status", "retryCount"});
  return reader.finish(std::move(j));
}

Json encode_queue_status(const QueueStatus& status) {
  JsonObject out;
  put(out, "state", name_of(status.state));
  if (!status.allocated.empty()) out["allocated"] = encode_resource_list(status.allocated);
  put(out, "pending", status.pending);
  put(out, "running", status.running);
  put(out, "unknown", status.unknown);
  put(out, "inqueue", status.inqueue);
  put(out, "completed", status.completed);
  return out;
}

Json encode_pod_group_status(const PodGroupStatus& status) {
  JsonObject out;
  put(out, "phase", name_of(status.phase));
  JsonArray conditions;
  for (const PodGroupCondition& condition : status.conditions) {
    JsonObject one;
    put(one, "type", condition.type);
    one["status"] = condition.status ? "True" : "False";
    put(one, "transitionID", condition.transition_id);
    one["lastTransitionTime"] = format_time(condition.last_transition);
    put(one, "reason", condition.reason);
    put(one, "message", condition.message);
    conditions.push_back(std::move(one));
  }
  if (!conditions.empty()) out["conditions"] = std::move(conditions);
  put(out, "running", status.running);
  put(out, "succeeded", status.succeeded);
  put(out, "failed", status.failed);
  return out;
}

Json encode_job_status(const JobStatus& status) {
  JsonObject out, state;
  put(state, "phase", name_of(status.phase));
  put(state, "reason", status.reason);
  put(state, "message", status.message);
  // Another client may write a time without a phase.
  if (status.phase != JobPhase::kNone || status.last_transition != Time{})
    state["lastTransitionTime"] = format_time(status.last_transition);
  if (!state.empty()) out["state"] = std::move(state);
  put(out, "minAvailable", status.min_available);
  put(out, "pending", status.pending);
  put(out, "running", status.running);
  put(out, "succeeded", status.succeeded);
  put(out, "failed", status.failed);
  put(out, "terminating", status.terminating);
  put(out, "unknown", status.unknown);
  put(out, "version", status.version);
  put(out, "retryCount", status.retry_count);
  return out;
}

std::string_view name_of(QueueState state) { return text_of(kQueueStates, state); }
std::string_view name_of(PodGroupPhase phase) { return text_of(kPodGroupPhases, phase); }
std::string_view name_of(JobPhase phase) { return text_of(kJobPhases, phase); }

}  // namespace berth::api::volcano
