#include "embedded/simulate/kind_audit.h"

#include <algorithm>
#include <utility>

#include "api/kueue/types.h"
#include "api/meta.h"
#include "api/resources.h"
#include "embedded/apiserver/server/api_server.h"
#include "embedded/cluster/operators/described_pods.h"
#include "embedded/simulate/kind_installers.h"
#include "jobs/kinds/read/shipped.h"

namespace berth::simulation {
namespace {

constexpr std::string_view kWorkloadVersion = "kueue.x-k8s.io/v1beta2";
// A client may delete the workload of a running job, resume a job by hand, or write a status that lies. Berth stops the
// job and its operator the pods within this time, while requests fail and processes die.
constexpr Duration kLongestWithoutItsQuota = std::chrono::minutes(5);

std::string shown(Json object) {
  erase_path(object, {"metadata", "managedFields"});
  return to_string(object);
}

std::string owner_of(const Json& object) {
  for (const Json& owner : array_at(object, {"metadata", "ownerReferences"})) {
    if (bool_at(owner, {"controller"})) return std::string(string_at(owner, {"uid"}));
  }
  return {};
}

api::Conditions conditions_in(const Json& object) {
  return api::decode_conditions(Json(array_at(object, {"status", "conditions"})));
}

bool has_quota(const Json& workload) {
  const auto conditions = conditions_in(workload);
  return api::is_true(conditions, "QuotaReserved") && !api::is_true(conditions, "Finished");
}

bool runs(const Json& pod) {
  const auto phase = string_at(pod, {"status", "phase"});
  return phase != "Succeeded" && phase != "Failed";
}

bool is_of_a_job(const Json& pod) { return find_path(pod, {"metadata", "labels", cluster::kJobKindLabel}) != nullptr; }

// Nobody but an admission adds node selectors to the jobs of these worlds.
bool is_bound(const std::vector<api::kueue::PodSet>& pod_sets) {
  return std::ranges::any_of(
      pod_sets, [](const auto& pod_set) { return find_path(*pod_set.template_, {"spec", "nodeSelector"}) != nullptr; });
}

std::string uid_of(const Json& object) { return std::string(string_at(object, {"metadata", "uid"})); }

}  // namespace

KindAudit::KindAudit(Storm& storm) : storm_(storm) {
  const auto get = [this](const api::GroupVersionResource& resource, std::string_view ns, std::string_view name) {
    return storm_.world().server().objects().get(resource, ns, name);
  };
  for (const auto& kind : jobs::kinds::shipped_job_kinds())
    kinds_.push_back({kind, jobs::kinds::DescribedJob(kind, get)});
}

// Pods of a job with a queue run only while its workload holds quota, and no more of them than it holds quota for.
void KindAudit::look() {
  const auto& list = storm_.world().server().objects().list;
  const Time now = storm_.world().executor().now();
  std::map<std::string, JsonPtr> workload_of;  // by the uid of the job
  for (const auto& workload : list(api::kWorkloads, "")) {
    if (has_quota(*workload)) workload_of[owner_of(*workload)] = workload;
  }
  std::set<std::string> with_queue;
  for (const auto& kind : kinds_) {
    for (const auto& job : list(kind.spec->resource, "")) {
      if (!string_at(*job, {"metadata", "labels", "kueue.x-k8s.io/queue-name"}).empty())
        with_queue.insert(uid_of(*job));
    }
  }
  check_owners();
  std::map<std::string, Time> since;
  for (const auto& pod : list(api::kPods, "")) {
    const std::string job = owner_of(*pod), uid = uid_of(*pod);
    if (!is_of_a_job(*pod) || !runs(*pod) || !with_queue.contains(job)) continue;
    const auto workload = workload_of.find(job);
    if (workload != workload_of.end()) {
      ran_.insert(uid);
      continue;
    }
    const auto it = without_quota_since_.find(uid);
    since[uid] = it == without_quota_since_.end() ? now : it->second;
    if (since[uid] + kLongestWithoutItsQuota < now)
      storm_.complain("a pod of a job goes on without quota: " + shown(*pod));
  }
  without_quota_since_ = std::move(since);
}

// Only a job that is gone ends its workload as one without an owner: one whose kind is served in another version only
// is there.
void KindAudit::check_owners() {
  const auto& list = storm_.world().server().objects().list;
  std::set<std::string> jobs;
  for (const auto& kind : kinds_) {
    auto later = kind.spec->resource;
    later.version = kLaterVersion;
    for (const auto& version : {kind.spec->resource, later}) {
      for (const auto& job : list(version, "")) {
        if (find_path(*job, {"metadata", "deletionTimestamp"}) == nullptr) jobs.insert(uid_of(*job));
      }
    }
  }
  for (const auto& workload : list(api::kWorkloads, "")) {
    const auto conditions = conditions_in(*workload);
    const auto* finished = api::find_condition(conditions, "Finished");
    if (finished != nullptr && finished->reason == "OwnerNotFound" && jobs.contains(owner_of(*workload)))
      storm_.complain("a workload ended as if its job were gone: " + shown(*workload));
  }
}

void KindAudit::look_at_rest() {
  auto& world = storm_.world();
  const auto workloads = list_all(world, kWorkloadVersion, "Workload");
  const auto pods = list_all(world, "v1", "Pod");
  std::map<std::string, const Json*> workload_of;
  for (const Json& json : workloads) {
    workload_of[owner_of(json)] = &json;
    const auto workload = api::kueue::decode_workload(json).value();
    for (const auto& eviction : workload.status.evictions) evictions_ += static_cast<std::uint64_t>(eviction.count);
  }
  std::map<std::string, std::vector<const Json*>> pods_of;
  for (const Json& pod : pods) {
    if (is_of_a_job(pod)) pods_of[owner_of(pod)].push_back(&pod);
  }
  for (const auto& kind : kinds_) {
    for (const Json& job : list_all(world, kind.spec->api_version(), kind.spec->kind)) {
      const auto workload = workload_of.find(uid_of(job));
      check_job(kind, job, workload == workload_of.end() ? nullptr : workload->second, pods_of[uid_of(job)]);
      pods_of.erase(uid_of(job));
    }
  }
  for (const auto& [job, orphans] : pods_of) storm_.complain("a pod has no job: " + shown(*orphans.front()));
  check_quota(workloads);
}

// A job has ended, or runs with quota, or waits and says why.
void KindAudit::check_job(const Kind& kind, const Json& job, const Json* workload,
                          const std::vector<const Json*>& pods) {
  const auto running = std::ranges::count_if(pods, [](const Json* pod) { return runs(*pod); });
  const std::string reported = shown(job) + (workload != nullptr ? " " + shown(*workload) : "");
  if (find_path(job, {"metadata", "deletionTimestamp"}) != nullptr)
    return storm_.complain("a deleted job stays: " + reported);
  if (kind.adapter.finished(job)) {
    ++finished_;
    if (running > 0) storm_.complain("pods of a finished job run: " + reported);
    if (workload != nullptr && has_quota(*workload)) storm_.complain("a finished job holds quota: " + reported);
    return;
  }
  if (string_at(job, {"metadata", "labels", "kueue.x-k8s.io/queue-name"}).empty()) return;
  if (workload == nullptr) return storm_.complain("a job has no workload: " + reported);
  if (!has_quota(*workload)) {
    const auto conditions = conditions_in(*workload);
    const api::Condition* quota = api::find_condition(conditions, "QuotaReserved");
    if (quota == nullptr || quota->message.empty()) storm_.complain("a job waits and does not say why: " + reported);
    if (!kind.adapter.suspended(job)) storm_.complain("a job that waits is not suspended: " + reported);
    // A JobSet keeps its pods that have succeeded.
    const auto over = [](const Json* pod) { return string_at(*pod, {"status", "phase"}) == "Succeeded"; };
    if (!std::ranges::all_of(pods, over)) storm_.complain("a job that waits has pods: " + reported);
    if (is_bound(kind.adapter.pod_sets(job))) storm_.complain("a job that waits keeps a node selector: " + reported);
    return;
  }
  if (kind.adapter.suspended(job)) return storm_.complain("a job with quota is suspended: " + reported);
  if (!kind.spec->pretend.serves) return storm_.complain("a job with quota does not end: " + reported);
  std::int64_t wanted = 0;
  for (const auto& pod_set : kind.adapter.pod_sets(job)) wanted += pod_set.count;
  if (running != wanted || !kind.adapter.pods_ready(job))
    storm_.complain("a job that serves has " + std::to_string(running) + " pods that run: " + reported);
}

void KindAudit::check_quota(const std::vector<Json>& workloads) {
  std::map<std::string, Amount> reserved;
  for (const Json& workload : workloads) {
    if (!has_quota(workload)) continue;
    for (const auto& one : array_at(workload, {"status", "admission", "podSetAssignments"})) {
      const std::int64_t given = int_at(one, {"count"});
      std::int64_t held = given;
      for (const auto& done : array_at(workload, {"status", "reclaimablePods"})) {
        if (string_at(done, {"name"}) == string_at(one, {"name"})) held -= int_at(done, {"count"});
      }
      const auto usage = Quantity::parse(string_at(one, {"resourceUsage", "cpu"}, "0")).value();
      if (given > 0)
        reserved[std::string(string_at(workload, {"status", "admission", "clusterQueue"}))] +=
            Amount::of(to_amount("cpu", usage).count() / given * held);
    }
  }
  for (const auto& queue : list_all(storm_.world(), kWorkloadVersion, "ClusterQueue")) {
    Amount reported;
    for (const auto& flavor : array_at(queue, {"status", "flavorsReservation"})) {
      for (const auto& resource : array_at(flavor, {"resources"})) {
        if (string_at(resource, {"name"}) == "cpu")
          reported += to_amount("cpu", Quantity::parse(string_at(resource, {"total"})).value());
      }
    }
    const std::string name(string_at(queue, {"metadata", "name"}));
    if (!(reserved[name] == reported))
      storm_.complain("ClusterQueue " + name + " tells " + format_amount("cpu", reported) +
                      " reserved, its workloads hold " + format_amount("cpu", reserved[name]));
  }
}

void KindAudit::look_at_the_end() {
  for (const auto& kind : kinds_) {
    for (const Json& job : list_all(storm_.world(), kind.spec->api_version(), kind.spec->kind))
      storm_.complain("a deleted job stays: " + shown(job));
  }
  for (const Json& pod : list_all(storm_.world(), "v1", "Pod")) storm_.complain("a pod stays: " + shown(pod));
  const auto workloads = list_all(storm_.world(), kWorkloadVersion, "Workload");
  for (const Json& workload : workloads) {
    if (has_quota(workload)) storm_.complain("a workload holds quota, and its job is gone: " + shown(workload));
  }
  check_quota(workloads);
}

}  // namespace berth::simulation
