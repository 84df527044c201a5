#include "embedded/cluster/vcjob_pods.h"

#include <charconv>
#include <utility>

#include "api/meta.h"
#include "api/volcano/names.h"

namespace berth::cluster {
namespace {

using api::volcano::Job;
using api::volcano::Task;

// Annotations of pods. kGroupToo is the newer name of kGroup.
constexpr std::string_view kGroup = "scheduling.k8s.io/group-name";
constexpr std::string_view kGroupToo = "scheduling.volcano.sh/group-name";
constexpr std::string_view kJobVersion = "volcano.sh/job-version";
constexpr std::string_view kTemplateOf = "volcano.sh/template-uid";
// Both label and annotation.
constexpr std::string_view kJobName = "volcano.sh/job-name";
constexpr std::string_view kQueueOfJob = "volcano.sh/queue-name";
constexpr std::string_view kTaskName = "volcano.sh/task-spec";
constexpr std::string_view kTaskIndex = "volcano.sh/task-index";
// A label.
constexpr std::string_view kJobNamespace = "volcano.sh/job-namespace";

constexpr std::string_view kScheduler = "volcano";

std::int64_t failed_with(const Json& pod) {
  for (const Json& status : array_at(pod, {"status", "containerStatuses"})) {
    if (const std::int64_t code = int_at(status, {"state", "terminated", "exitCode"}); code != 0) return code;
  }
  return 0;
}

std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

std::string group_key_of(const Json& pod) {
  std::string_view name = string_at(pod, {"metadata", "annotations", kGroup});
  if (name.empty()) name = string_at(pod, {"metadata", "annotations", kGroupToo});
  return name.empty() ? std::string() : api::object_key(string_at(pod, {"metadata", "namespace"}), name);
}

VcJobPod::VcJobPod(const JsonPtr& pod)
    : object(pod),
      name(string_at(*pod, {"metadata", "name"})),
      task(string_at(*pod, {"metadata", "annotations", kTaskName})),
      phase(string_at(*pod, {"status", "phase"})),
      version(number(string_at(*pod, {"metadata", "annotations", kJobVersion}))),
      exit_code(failed_with(*pod)),
      deleting(find_path(*pod, {"metadata", "deletionTimestamp"}) != nullptr) {}

std::string vcjob_pod_name(const Job& job, const Task& task, std::int32_t index) {
  return job.meta.name + "-" + task.name + "-" + std::to_string(index);
}

Json make_vcjob_pod(const Job& job, const Task& task, std::int32_t index, std::string_view group, bool gated) {
  Json meta = JsonObject(), spec = JsonObject();
  for (std::string_view member : {"labels", "annotations"}) {
    if (const auto& given = object_at(*task.template_, {"metadata", member}); !given.empty())
      ensure_path(meta, {member}) = given;
    ensure_path(meta, {member, kJobName}) = job.meta.name;
    ensure_path(meta, {member, kQueueOfJob}) = job.queue;
    ensure_path(meta, {member, kTaskName}) = task.name;
    ensure_path(meta, {member, kTaskIndex}) = std::to_string(index);
  }
  ensure_path(meta, {"labels", kJobNamespace}) = job.meta.ns;
  ensure_path(meta, {"annotations", kGroup}) = group;
  ensure_path(meta, {"annotations", kJobVersion}) = std::to_string(job.status.version);
  ensure_path(meta, {"annotations", kTemplateOf}) = job.meta.name + "-" + task.name;
  ensure_path(meta, {"name"}) = vcjob_pod_name(job, task, index);
  ensure_path(meta, {"namespace"}) = job.meta.ns;
  ensure_path(meta, {"ownerReferences"}) = JsonArray{JsonObject{
      {"apiVersion", std::string(api::volcano::kBatchGroup) + "/" + std::string(api::volcano::kBatchVersion)},
      {"kind", "Job"},
      {"name", job.meta.name},
      {"uid", job.meta.uid},
      {"controller", true},
      {"blockOwnerDeletion", true}}};
  if (const Json* given = find(*task.template_, "spec")) spec = *given;
  if (string_at(spec, {"schedulerName"}).empty())
    ensure_path(spec, {"schedulerName"}) = job.scheduler_name.empty() ? std::string(kScheduler) : job.scheduler_name;
  if (gated) {
    JsonArray gates = array_at(spec, {"schedulingGates"});
    gates.push_back(JsonObject{{"name", std::string(api::volcano::kAllocationGate)}});
    ensure_path(spec, {"schedulingGates"}) = std::move(gates);
  }
  if (string_at(spec, {"priorityClassName"}).empty() && !job.priority_class_name.empty())
    ensure_path(spec, {"priorityClassName"}) = job.priority_class_name;
  return JsonObject{{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", std::move(meta)}, {"spec", std::move(spec)}};
}

}  // namespace berth::cluster
