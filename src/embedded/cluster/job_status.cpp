#include "embedded/cluster/job_status.h"

#include <utility>

namespace berth::cluster {
namespace {

void read_uids(const JsonArray& list, std::set<std::string, std::less<>>& out) {
  for (const auto& uid : list) {
    if (uid.is_string()) out.emplace(view(uid.get_string()));
  }
}

JsonArray write_uids(const std::set<std::string, std::less<>>& uids) {
  JsonArray out;
  for (const auto& uid : uids) out.push_back(Json(uid));
  return out;
}

void put(JsonObject& object, std::string_view key, Json value, bool present) {
  if (present) {
    object[key] = std::move(value);
  } else if (const auto at = object.find(key); at != object.end()) {
    object.stable_erase(at);
  }
}

}  // namespace

JobStatus::JobStatus(const Json& job, const JobSpec& spec)
    : base_(object_at(job, {"status"})), conditions_(array_at(base_, {"conditions"})), indexed_(spec.indexed) {
  start_time = api::time_at(base_, {"startTime"});
  completion_time = api::time_at(base_, {"completionTime"});
  active = int_at(base_, {"active"});
  ready = int_at(base_, {"ready"});
  terminating = int_at(base_, {"terminating"});
  succeeded = int_at(base_, {"succeeded"});
  failed = int_at(base_, {"failed"});
  completed_indexes = IndexSet::parse(string_at(base_, {"completedIndexes"}), spec.index_limit());
  failed_indexes = IndexSet::parse(string_at(base_, {"failedIndexes"}), spec.index_limit());
  tracks_failed_indexes = spec.backoff_limit_per_index.has_value();
  read_uids(array_at(base_, {"uncountedTerminatedPods", "succeeded"}), uncounted_succeeded);
  read_uids(array_at(base_, {"uncountedTerminatedPods", "failed"}), uncounted_failed);
}

bool JobStatus::records(const JobPod& pod) const {
  return uncounted_succeeded.contains(pod.uid) || uncounted_failed.contains(pod.uid) ||
         (pod.succeeded() && pod.index && completed_indexes.contains(*pod.index));
}

Json JobStatus::encode() const {
  Json out = base_;
  auto& status = out.get_object();
  put(status, "conditions", conditions_, !conditions_.empty());
  put(status, "startTime", start_time ? Json(format_time(*start_time)) : Json(), start_time.has_value());
  put(status, "completionTime", completion_time ? Json(format_time(*completion_time)) : Json(),
      completion_time.has_value());
  put(status, "active", active, active > 0);
  put(status, "succeeded", succeeded, succeeded > 0);
  put(status, "failed", failed, failed > 0);
  status["terminating"] = terminating;
  const std::string completed = completed_indexes.to_string();
  put(status, "completedIndexes", Json(completed), indexed_ && !completed.empty());
  put(status, "failedIndexes", Json(failed_indexes.to_string()), tracks_failed_indexes);
  JsonObject uncounted;
  if (!uncounted_succeeded.empty()) uncounted["succeeded"] = write_uids(uncounted_succeeded);
  if (!uncounted_failed.empty()) uncounted["failed"] = write_uids(uncounted_failed);
  status["uncountedTerminatedPods"] = std::move(uncounted);
  status["ready"] = ready;
  return out;
}

const Json* JobStatus::get(std::string_view condition) const {
  for (const auto& c : conditions_) {
    if (string_at(c, {"type"}) == condition && string_at(c, {"status"}) == "True") return &c;
  }
  return nullptr;
}

bool JobStatus::has(std::string_view condition) const { return get(condition) != nullptr; }

bool JobStatus::set(std::string_view condition, bool status, std::string_view reason, std::string_view message,
                    Time now) {
  const std::string_view text = status ? "True" : "False";
  JsonObject made{{"type", condition},
                  {"status", text},
                  {"lastProbeTime", format_time(now)},
                  {"lastTransitionTime", format_time(now)},
                  {"reason", reason},
                  {"message", message}};
  for (auto& c : conditions_) {
    if (string_at(c, {"type"}) != condition) continue;
    if (string_at(c, {"status"}) == text) return false;
    c = std::move(made);
    return true;
  }
  if (!status) return false;
  conditions_.push_back(std::move(made));
  return true;
}

}  // namespace berth::cluster
