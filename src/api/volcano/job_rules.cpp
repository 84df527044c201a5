#include "api/volcano/job_rules.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/devices.h"
#include "api/core/pod_amounts.h"
#include "api/volcano/names.h"

namespace berth::api::volcano {
namespace {

constexpr std::array<std::string_view, 8> kActions{"AbortJob",         "RestartJob",   "RestartTask", "RestartPod",
                                                   "RestartPartition", "TerminateJob", "CompleteJob", "ResumeJob"};
// Only Volcano's job controller itself uses these events.
constexpr std::array<std::string_view, 4> kInternalEvents{"OutOfSync", "CommandIssued", "JobUpdated", "TaskFailed"};
constexpr std::array<std::string_view, 8> kPlugins{"env",        "svc", "ssh", "pytorch",
                                                   "tensorflow", "mpi", "ray", "hcclrank"};
constexpr std::size_t kMaxPodName = 63;

template <std::size_t N>
bool one_of(std::string_view text, const std::array<std::string_view, N>& all) {
  return std::find(all.begin(), all.end(), text) != all.end();
}

std::string task_name(const Json& task, std::size_t index) {
  const std::string_view name = string_at(task, {"name"});
  return name.empty() ? std::string(kDefaultQueue) + std::to_string(index) : std::string(name);
}

std::int64_t least_of(const Json& task) {
  if (const auto least = optional_int_at(task, {"minAvailable"})) return *least;
  const std::int64_t partitions = int_at(task, {"partitionPolicy", "minPartitions"});
  return partitions > 0 ? partitions * int_at(task, {"partitionPolicy", "partitionSize"}) : int_at(task, {"replicas"});
}

// Checks one policy of a list: its action, and its events or exit code, each of which may occur only once in the
// list.
void check_policy(const Json& policy, const std::string& path, std::set<std::string>& seen, FieldErrors& errors) {
  const std::string_view action = string_at(policy, {"action"});
  if (!one_of(action, kActions))
    errors.push_back(
        not_supported(path + ".action", Json(action), std::vector<std::string_view>(kActions.begin(), kActions.end())));
  std::vector<std::string> causes;
  if (const std::string_view event = string_at(policy, {"event"}); !event.empty()) causes.emplace_back(event);
  for (const Json& event : array_at(policy, {"events"}))
    if (event.is_string()) causes.emplace_back(view(event.get_string()));
  const auto exit_code = optional_int_at(policy, {"exitCode"});
  if (causes.empty() == !exit_code.has_value()) {
    errors.push_back(invalid_without_value(path, "must name either events or an exitCode"));
    return;
  }
  if (exit_code == 0)
    errors.push_back(
        invalid_value(path + ".exitCode", Json(0), "must not be 0: a container that ends so has succeeded"));
  if (exit_code) causes.push_back("exitCode " + std::to_string(*exit_code));
  for (const std::string& cause : causes) {
    if (one_of(cause, kInternalEvents))
      errors.push_back(
          invalid_value(path + ".event", Json(cause), "nobody outside Volcano's controllers may wait for it"));
    if (!seen.insert(cause).second) errors.push_back(duplicate(path, Json(cause)));
  }
}

void check_policies(const Json& owner, const std::string& path, FieldErrors& errors) {
  std::set<std::string> seen;
  const JsonArray& policies = array_at(owner, {"policies"});
  for (std::size_t i = 0; i < policies.size(); ++i) check_policy(policies[i], index_path(path, i), seen, errors);
  if (seen.contains("*") && seen.size() > 1)
    errors.push_back(invalid_without_value(path, "\"*\" stands for every event: leave out the others or it"));
}

void check_task(const Json& object, const Json& task, std::size_t index, FieldErrors& errors) {
  const std::string path = index_path("spec.tasks", index);
  const std::int64_t replicas = int_at(task, {"replicas"}), least = least_of(task);
  if (least > replicas)
    errors.push_back(invalid_value(path + ".minAvailable", Json(least),
                                   "must be at most the " + std::to_string(replicas) + " replicas of the task"));
  const std::string pod = std::string(string_at(object, {"metadata", "name"})) + "-" + task_name(task, index) + "-" +
                          std::to_string(std::max<std::int64_t>(replicas - 1, 0));
  if (pod.size() > kMaxPodName)
    errors.push_back(invalid_value(path + ".name", Json(task_name(task, index)),
                                   "the pod " + pod + " would have a name of more than " + std::to_string(kMaxPodName) +
                                       " characters: shorten the job's or the task's"));
  check_policies(task, path + ".policies", errors);
}

using TaskOrder = std::map<std::string, std::vector<std::string>>;  // the tasks that each task waits for

// The first task that waits in a circle, or for a circle; empty when there is none. Tasks that wait for nobody go, and
// then those that waited only for them.
std::string task_in_circle(const TaskOrder& waits_for) {
  std::map<std::string_view, std::size_t> left;
  std::map<std::string_view, std::vector<std::string_view>> waiters;
  std::vector<std::string_view> ready;
  for (const auto& [task, before] : waits_for) {
    for (const std::string& name : before) {
      if (!waits_for.contains(name)) continue;
      ++left[task];
      waiters[name].push_back(task);
    }
    if (!left.contains(task)) ready.push_back(task);
  }
  while (!ready.empty()) {
    const std::string_view gone = ready.back();
    ready.pop_back();
    for (const std::string_view waiter : waiters[gone]) {
      if (--left[waiter] > 0) continue;
      left.erase(waiter);
      ready.push_back(waiter);
    }
  }
  return left.empty() ? std::string() : std::string(left.begin()->first);
}

// Reports unknown names in dependsOn, and tasks that wait for each other.
void check_order_of_tasks(const JsonArray& tasks, FieldErrors& errors) {
  TaskOrder waits_for;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    auto& before = waits_for[task_name(tasks[i], i)];
    for (const Json& name : array_at(tasks[i], {"dependsOn", "name"}))
      if (name.is_string()) before.emplace_back(view(name.get_string()));
  }
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const JsonArray& before = array_at(tasks[i], {"dependsOn", "name"});
    for (std::size_t k = 0; k < before.size(); ++k) {
      if (before[k].is_string() && waits_for.contains(std::string(view(before[k].get_string())))) continue;
      errors.push_back(invalid_value(index_path(index_path("spec.tasks", i) + ".dependsOn.name", k), before[k],
                                     "there is no task of that name"));
    }
  }
  if (const std::string task = task_in_circle(waits_for); !task.empty())
    errors.push_back(invalid_value("spec.tasks", Json(task),
                                   "tasks must not wait for each other in a circle: change dependsOn of one of them"));
}

void check_volumes(const Json& object, FieldErrors& errors) {
  std::set<std::string> places;
  const JsonArray& volumes = array_at(object, {"spec", "volumes"});
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    const std::string path = index_path("spec.volumes", i);
    if (!places.emplace(string_at(volumes[i], {"mountPath"})).second)
      errors.push_back(duplicate(path + ".mountPath", *find(volumes[i], "mountPath")));
    const bool named = !string_at(volumes[i], {"volumeClaimName"}).empty(),
               made = find(volumes[i], "volumeClaim") != nullptr;
    if (named == made) errors.push_back(invalid_without_value(path, "must have either volumeClaimName or volumeClaim"));
  }
}

// The spec without the fields that may change.
Json fixed_part(const Json& object) {
  const Json* spec = find(object, "spec");
  Json out = spec == nullptr ? Json(JsonObject()) : *spec;
  erase_path(out, {"minAvailable"});
  erase_path(out, {"priorityClassName"});
  if (!array_at(out, {"tasks"}).empty()) {
    for (Json& task : ensure_path(out, {"tasks"}).get_array()) {
      erase_path(task, {"replicas"});
      erase_path(task, {"minAvailable"});
    }
  }
  return out;
}

// The amounts of its pods, and what nobody would count.
void check_template(const Json& task, const std::string& path, FieldErrors& errors) {
  const Json* spec = find_path(task, {"template", "spec"});
  if (spec == nullptr) return;
  const std::string at = path + ".template.spec";
  check_pod_amounts(*spec, at, errors);
  if (uses_devices(*spec)) errors.push_back(forbidden_field(at + ".resourceClaims", kUncountedDevices));
}

// Everything but the templates: these cannot change, so they are checked on creation only.
FieldErrors validate_parts(const Json& object) {
  FieldErrors errors;
  const JsonArray& tasks = array_at(object, {"spec", "tasks"});
  if (tasks.empty()) return {required("spec.tasks", "a job has at least one task")};
  std::set<std::string> names;
  std::int64_t replicas = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (!names.insert(task_name(tasks[i], i)).second)
      errors.push_back(duplicate(index_path("spec.tasks", i) + ".name", Json(task_name(tasks[i], i))));
    replicas += int_at(tasks[i], {"replicas"});
    check_task(object, tasks[i], i, errors);
  }
  if (const std::int64_t least = int_at(object, {"spec", "minAvailable"}); least > replicas)
    errors.push_back(invalid_value("spec.minAvailable", Json(least),
                                   "must be at most the " + std::to_string(replicas) + " replicas of all tasks"));
  if (const Json* spec = find(object, "spec")) check_policies(*spec, "spec.policies", errors);
  for (const auto& [plugin, arguments] : object_at(object, {"spec", "plugins"})) {
    if (!one_of(plugin, kPlugins))
      errors.push_back(not_supported(field_path("spec.plugins", plugin), Json(plugin),
                                     std::vector<std::string_view>(kPlugins.begin(), kPlugins.end())));
  }
  check_volumes(object, errors);
  check_order_of_tasks(tasks, errors);
  return errors;
}

}  // namespace

void default_job(Json& object) {
  if (array_at(object, {"spec", "tasks"}).empty()) return;
  std::int64_t sum = 0;
  JsonArray& tasks = ensure_path(object, {"spec", "tasks"}).get_array();
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (string_at(tasks[i], {"name"}).empty()) ensure_path(tasks[i], {"name"}) = task_name(tasks[i], i);
    ensure_path(tasks[i], {"minAvailable"}) = least_of(tasks[i]);
    sum += least_of(tasks[i]);
  }
  if (int_at(object, {"spec", "minAvailable"}) == 0) ensure_path(object, {"spec", "minAvailable"}) = sum;
}

FieldErrors validate_job(const Json& object) {
  FieldErrors errors = validate_parts(object);
  const JsonArray& tasks = array_at(object, {"spec", "tasks"});
  for (std::size_t i = 0; i < tasks.size(); ++i) check_template(tasks[i], index_path("spec.tasks", i), errors);
  return errors;
}

FieldErrors validate_job_update(const Json& object, const Json& old) {
  FieldErrors errors = validate_parts(object);
  if (array_at(object, {"spec", "tasks"}).size() != array_at(old, {"spec", "tasks"}).size()) {
    errors.push_back(forbidden_field("spec.tasks", "tasks cannot be added or removed: create another job"));
  } else if (!json_equal(fixed_part(object), fixed_part(old))) {
    errors.push_back(forbidden_field(
        "spec",
        "only minAvailable, priorityClassName and replicas and minAvailable of tasks may change: create another job"));
  }
  return errors;
}

}  // namespace berth::api::volcano
