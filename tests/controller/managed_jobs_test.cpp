// The controller manages exactly the Jobs that admission suspends.
#include <gtest/gtest.h>

#include "base/embedded.h"
#include "base/yaml.h"
#include "controller/controller.h"
#include "embedded/apiserver/kueue_webhooks.h"
#include "embedded/apiserver/server/harness.h"

namespace berth::controller::managed_jobs_test {
namespace {

class ManagedJobs : public apiserver::ServerTest {
 protected:
  ManagedJobs()
      : ServerTest({.seed = 7, .admission = apiserver::kueue_webhooks({.manage_jobs_without_queue_name = true})}) {
    for (const auto& file : embedded::crds()) {
      auto crd = request(api::Verb::kCreate, apiserver::kCrds, "");
      crd.body = parse_yaml(file.content).value().front();
      EXPECT_TRUE(call(std::move(crd)).ok()) << file.name;
    }
    ControllerOptions options;
    options.manage_jobs_without_queue_name = true;
    controller.emplace(*server, executor, options);
    controller->start();
    controller->lead();
    pass();
  }
  void pass() { executor.run_until(executor.now() + std::chrono::seconds(5)); }

  std::string job(const std::string& name, const std::string& metadata) {
    const auto made = create(
        apiserver::kJobs, "default",
        R"({"metadata":{"name":")" + name + "\"" + metadata +
            R"(},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})");
    EXPECT_TRUE(made.ok()) << made.body;
    return std::string(string_at(made.body, {"metadata", "uid"}));
  }
  static std::string owned_by(const std::string& api_version, const std::string& kind, const std::string& name,
                              const std::string& uid) {
    return R"(,"ownerReferences":[{"controller":true,"apiVersion":")" + api_version + R"(","kind":")" + kind +
           R"(","name":")" + name + R"(","uid":")" + uid + "\"}]";
  }
  bool suspended(const std::string& name) {
    return bool_at(get(apiserver::kJobs, "default", name).body, {"spec", "suspend"});
  }
  bool has_workload(const std::string& job) {
    const Json workloads = list({"kueue.x-k8s.io", "v1beta2", "workloads"}, "default").body;
    for (const Json& workload : array_at(workloads, {"items"})) {
      for (const Json& owner : array_at(workload, {"metadata", "ownerReferences"})) {
        if (string_at(owner, {"name"}) == job) return true;
      }
    }
    return false;
  }

  std::optional<Controller> controller;
};

TEST_F(ManagedJobs, ThoseOfOthersAreManagedAndThoseOfManagedJobsAreLeftToThem) {
  const auto owner = create(apiserver::kConfigMaps, "default", config_map("somebody"));
  job("of-another", owned_by("v1", "ConfigMap", "somebody", std::string(string_at(owner.body, {"metadata", "uid"}))));
  const std::string parent = job("parent", R"(,"labels":{"kueue.x-k8s.io/queue-name":"q"})");
  job("child", owned_by("batch/v1", "Job", "parent", parent));
  pass();
  for (const std::string name : {"of-another", "parent"}) {
    EXPECT_TRUE(suspended(name)) << name;
    EXPECT_TRUE(has_workload(name)) << name << " would wait for ever";
  }
  EXPECT_TRUE(suspended("child")) << "its parent waits";
  EXPECT_FALSE(has_workload("child"));
}

TEST_F(ManagedJobs, AParentWithoutAQueueIsManagedTooWhenAllJobsAre) {
  const std::string parent = job("parent", "");
  job("child", owned_by("batch/v1", "Job", "parent", parent));
  pass();
  EXPECT_TRUE(has_workload("parent"));
  EXPECT_TRUE(suspended("child")) << "its parent waits";
  EXPECT_FALSE(has_workload("child"));
}

}  // namespace
}  // namespace berth::controller::managed_jobs_test
