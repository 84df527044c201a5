// A Job and its pods, on which the steps of the Job controller are carried out at once.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "embedded/cluster/job_sync.h"
#include "embedded/cluster/yaml.h"

namespace berth::cluster::job_sync_tests {

using testing_support::yaml;

// A Job and its pods; each step succeeds at once.
class Bench {
 public:
  explicit Bench(std::string_view spec) {
    job_ = yaml(
        "{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: n, uid: job-uid}, spec: "
        "{parallelism: 1, "
        "completions: 1, template: {metadata: {labels: {l: m}}, spec: {restartPolicy: Never, containers: "
        "[{name: "
        "c, image: i}]}}}}");
    const Json given = yaml(spec);
    for (const auto& [key, value] : given.as_object()) {
      std::string_view name(key.data(), key.size());
      if (value.is_null()) {
        erase_path(job_, {"spec", name});
      } else {
        ensure_path(job_, {"spec", name}) = value;
      }
    }
    run();
  }

  // Runs steps until nothing is left to do.
  void run() {
    for (int i = 0; i < 100; ++i) {
      const auto step = plan();
      wake = step.wake;
      if (step.kind == JobStep::Kind::kNothing) return;
      if (step.kind == JobStep::Kind::kDeleteJob) {
        deleted = true;
        return;
      }
      carry_out(step);
    }
    FAIL() << "the job does not come to rest";
  }

  JobStep plan() {
    std::vector<JobPod> pods;
    for (const auto& [name, pod] : pods_) pods.emplace_back(std::make_shared<const Json>(pod));
    return next_step({job_, pods, backoff_, now, may_create});
  }

  void carry_out(const JobStep& step) {
    if (step.kind == JobStep::Kind::kWriteStatus) {
      ensure_path(job_, {"status"}) = step.status;
      if (step.backoff) backoff_ = *step.backoff;
      for (const auto& event : step.events) events.push_back(event.reason);
      ++status_writes;
      return;
    }
    for (const auto& pod : step.release) erase_path(pods_.at(pod.name), {"metadata", "finalizers"});
    for (const auto& pod : step.remove)
      ensure_path(pods_.at(pod.name), {"metadata", "deletionTimestamp"}) = format_time(now);
    drop_deleted();
    for (Json pod : step.create) {
      const std::string name = std::string(string_at(pod, {"metadata", "generateName"})) + std::to_string(++made);
      ensure_path(pod, {"metadata", "name"}) = name;
      ensure_path(pod, {"metadata", "uid"}) = "uid-" + std::to_string(made);
      ensure_path(pod, {"metadata", "creationTimestamp"}) = format_time(now);
      ensure_path(pod, {"status", "phase"}) = "Pending";
      pods_.emplace(name, std::move(pod));
    }
  }

  // Removes deleted pods without finalizers. With `linger` they stay, as when a kubelet still stops them.
  void drop_deleted() {
    if (linger) return;
    std::erase_if(pods_, [](const auto& entry) {
      return find_path(entry.second, {"metadata", "deletionTimestamp"}) != nullptr &&
             array_at(entry.second, {"metadata", "finalizers"}).empty();
    });
  }

  std::vector<std::string> active() const {
    std::vector<std::string> out;
    for (const auto& [name, pod] : pods_) {
      const auto phase = string_at(pod, {"status", "phase"});
      if (phase != "Succeeded" && phase != "Failed" && find_path(pod, {"metadata", "deletionTimestamp"}) == nullptr) {
        out.push_back(name);
      }
    }
    return out;
  }
  Json& pod(const std::string& name) { return pods_.at(name); }

  void finish(const std::string& name, int exit_code) {
    Json& status = ensure_path(pods_.at(name), {"status"});
    ensure_path(status, {"phase"}) = exit_code == 0 ? "Succeeded" : "Failed";
    ensure_path(status, {"containerStatuses"}) = JsonArray{
        {{"name", "c"}, {"state", {{"terminated", {{"exitCode", exit_code}, {"finishedAt", format_time(now)}}}}}}};
    run();
  }
  void erase(const std::string& name) {
    ensure_path(pods_.at(name), {"metadata", "deletionTimestamp"}) = format_time(now);
    run();
    drop_deleted();
    run();
  }
  void spec(std::string_view key, Json value) {
    ensure_path(job_, {"spec", key}) = std::move(value);
    run();
  }
  void pass(int seconds) {
    now += std::chrono::seconds(seconds);
    run();
  }

  const Json& status() const { return *find(job_, "status"); }
  std::int64_t count(std::string_view what) const { return int_at(job_, {"status", what}); }
  // Conditions that are True, with their reasons: "SuccessCriteriaMet/CompletionsReached
  // Complete/CompletionsReached".
  std::string conditions() const {
    std::string out;
    for (const auto& c : array_at(job_, {"status", "conditions"})) {
      if (string_at(c, {"status"}) != "True") continue;
      out +=
          (out.empty() ? "" : " ") + std::string(string_at(c, {"type"})) + "/" + std::string(string_at(c, {"reason"}));
    }
    return out;
  }

  Time now{std::chrono::seconds(1'763'715'600)};
  bool may_create = true, linger = false, deleted = false;
  int made = 0, status_writes = 0;
  std::optional<Time> wake;
  std::vector<std::string> events;
  std::map<std::string, Json> pods_;
  Json job_;

 private:
  JobBackoff backoff_;
};

}  // namespace berth::cluster::job_sync_tests
