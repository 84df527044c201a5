#include "embedded/simulate/elastic_audit.h"

#include <algorithm>
#include <limits>

#include "api/kueue/names.h"
#include "api/kueue/slices.h"
#include "api/kueue/types.h"
#include "api/meta.h"

namespace berth::simulation {
namespace {

using api::kueue::Workload;

std::string key_of(const Json& object) { return api::object_key(object); }

bool is_true(const Workload& w, std::string_view type) { return api::is_true(w.status.conditions, type); }

// By the key of their job.
std::map<std::string, std::vector<Workload>> slices_by_job(const std::vector<JsonPtr>& workloads) {
  std::map<std::string, std::vector<Workload>> out;
  for (const auto& json : workloads) {
    auto w = api::kueue::decode_workload(*json);
    if (!w || !w->meta.annotations.contains(api::kueue::kSliceName)) continue;
    for (const auto& owner : w->meta.owners) {
      if (owner.controller) out[api::object_key(w->meta.ns, owner.name)].push_back(*w);
    }
  }
  return out;
}

bool ended(const Json& pod) {
  const auto phase = string_at(pod, {"status", "phase"});
  return phase == "Succeeded" || phase == "Failed";
}

std::map<std::string, std::vector<JsonPtr>> pods_by_job(const std::vector<JsonPtr>& pods) {
  std::map<std::string, std::vector<JsonPtr>> out;
  for (const auto& pod : pods) {
    const auto job = string_at(*pod, {"metadata", "labels", "batch.kubernetes.io/job-name"});
    if (!job.empty()) out[api::object_key(string_at(*pod, {"metadata", "namespace"}), job)].push_back(pod);
  }
  return out;
}

bool is_let_go(const Json& pod) { return array_at(pod, {"spec", "schedulingGates"}).empty() && !ended(pod); }

// The most pods for which quota was granted: one that shrank may have pods that are about to be deleted.
std::int64_t granted(const std::vector<Workload>& slices) {
  std::int64_t most = 0;
  for (const auto& w : slices) {
    if (!w.status.admission || !is_true(w, api::kueue::kQuotaReserved) || is_true(w, api::kueue::kFinished)) continue;
    for (const auto& each : w.status.admission->pod_set_assignments) most = std::max<std::int64_t>(most, each.count);
  }
  return most;
}

std::int64_t size_of(const Json& job) {
  return std::min(int_at(job, {"spec", "parallelism"}, 1), int_at(job, {"spec", "completions"}, 1));
}

}  // namespace

void ElasticAudit::asked(const std::string& job, std::int64_t size) {
  const auto [at, is_new] = least_.emplace(job, size);
  if (!is_new) at->second = std::min(at->second, size);
}

std::vector<std::string> ElasticAudit::look(const Moment& now) {
  std::vector<std::string> broken;
  const auto slices = slices_by_job(now.workloads);
  const auto pods = pods_by_job(now.pods);
  for (const auto& [job, all] : slices) {
    for (const auto& w : all) {
      const auto* finished = api::find_condition(w.status.conditions, api::kueue::kFinished);
      if (finished != nullptr && finished->status && finished->reason == api::kueue::kSliceReplaced)
        replaced_.insert(w.meta.uid);
    }
  }
  for (const auto& job : now.jobs) {
    const std::string key = key_of(*job);
    const auto mine = slices.find(key);
    if (mine == slices.end() || find_path(*job, {"metadata", "deletionTimestamp"}) != nullptr) continue;
    Seen seen;
    seen.start_time = string_at(*job, {"status", "startTime"});
    seen.suspended = bool_at(*job, {"spec", "suspend"});
    const auto of_job = pods.find(key);
    std::set<std::string> there;
    std::int64_t running = 0;
    for (const auto& pod : of_job == pods.end() ? std::vector<JsonPtr>() : of_job->second) {
      there.emplace(string_at(*pod, {"metadata", "uid"}));
      if (!is_let_go(*pod)) continue;
      const bool leaves = find_path(*pod, {"metadata", "deletionTimestamp"}) != nullptr;
      if (!leaves) ++running;
      if (!leaves) seen.running.emplace(string_at(*pod, {"metadata", "uid"}));
    }
    // Pods beyond the size are about to be deleted.
    if (running > granted(mine->second) && running <= size_of(*job))
      broken.push_back("job " + key + " has " + std::to_string(running) +
                       " pods that were let go, quota was granted for " + std::to_string(granted(mine->second)));
    const std::int64_t now_wanted = size_of(*job);
    const auto least = least_.find(key);
    seen.least = now_wanted;
    if (const auto before = seen_.find(key); before != seen_.end()) {
      const Seen& then = before->second;
      const std::int64_t smallest =
          std::min({now_wanted, then.least, least == least_.end() ? now_wanted : least->second});
      const bool same_run = !then.suspended && !seen.suspended && then.start_time == seen.start_time;
      if (same_run && smallest >= static_cast<std::int64_t>(then.running.size())) {
        for (const auto& uid : then.running) {
          if (!there.contains(uid)) broken.push_back("job " + key + " lost the running pod " + uid);
        }
      }
    }
    least_.erase(key);
    seen_[key] = std::move(seen);
  }
  return broken;
}

std::vector<std::string> ElasticAudit::look_at_rest(const Moment& now) {
  std::vector<std::string> broken;
  const auto slices = slices_by_job(now.workloads);
  const auto pods = pods_by_job(now.pods);
  for (const auto& job : now.jobs) {
    const std::string key = key_of(*job);
    bool over = find_path(*job, {"metadata", "deletionTimestamp"}) != nullptr;
    for (const auto& condition : array_at(*job, {"status", "conditions"}))
      over = over || (string_at(condition, {"status"}) == "True" &&
                      (string_at(condition, {"type"}) == "Complete" || string_at(condition, {"type"}) == "Failed"));
    const auto mine = slices.find(key);
    if (mine == slices.end()) continue;
    std::string state;
    int holding = 0;
    std::int64_t count = -1;
    for (const auto& w : mine->second) {
      if (is_true(w, api::kueue::kFinished)) continue;
      state += " " + w.meta.name + "(" + std::to_string(w.pod_sets[0].count) +
               (is_true(w, api::kueue::kAdmitted) ? ", admitted)" : ")");
      if (is_true(w, api::kueue::kAdmitted)) ++holding, count = w.pod_sets[0].count;
    }
    if (over) {
      if (!state.empty()) broken.push_back("job " + key + " has ended, its slices have not:" + state);
      continue;
    }
    if (holding != 1 || count != size_of(*job))
      broken.push_back("job " + key + " wants " + std::to_string(size_of(*job)) + " pods, its slices are:" + state);
    std::int64_t running = 0;
    for (const auto& pod : pods.contains(key) ? pods.at(key) : std::vector<JsonPtr>())
      running += is_let_go(*pod) ? 1 : 0;
    const std::int64_t left = int_at(*job, {"spec", "completions"}, 1) - int_at(*job, {"status", "succeeded"});
    if (running != std::min(size_of(*job), left))
      broken.push_back("job " + key + " wants " + std::to_string(size_of(*job)) + " pods, " + std::to_string(running) +
                       " run");
  }
  return broken;
}

}  // namespace berth::simulation
