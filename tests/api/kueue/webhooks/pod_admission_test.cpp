// The webhook rules for plain pods with what is stored in the cluster: owners, the default queue, the policy.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "api/kueue/pods.h"
#include "api/kueue/webhooks/admission.h"
#include "api/meta.h"
#include "api/resources.h"

namespace berth::api::kueue::pod_admission_test {
namespace {

using pod_tests::errors_of;
using pod_tests::kQueued;
using pod_tests::object;
using pod_tests::pod;

class PodAdmission : public testing::Test {
 protected:
  const AdmissionRules& rules = admission_rules("", "pods");
  std::map<std::string, Json> jobs;
  bool default_queue = false;
  int looks = 0;
  ObjectGetter get = [this](const GroupVersionResource& gvr, std::string_view, std::string_view name) -> JsonPtr {
    ++looks;
    if (gvr == kLocalQueues && default_queue) return std::make_shared<const Json>(JsonObject());
    const auto job = jobs.find(std::string(name));
    if (gvr != kJobs || job == jobs.end()) return nullptr;
    return std::make_shared<const Json>(job->second);
  };
  AdmissionPolicy policy{.manage_pods = true};

  static Json of_job(Json object, std::string_view name) {
    ensure_path(object, {"metadata", "ownerReferences"}) = JsonArray{
        JsonObject{{"apiVersion", "batch/v1"}, {"kind", "Job"}, {"name", name}, {"uid", "u"}, {"controller", true}}};
    return object;
  }
  bool gated(Json pod) {
    const AdmissionContext context{get, policy};
    const bool expected = rules.mutates(pod, context);
    const Json before = pod;
    rules.mutate(pod, context);
    EXPECT_EQ(pod != before, expected);
    return has_scheduling_gate(pod, "kueue.x-k8s.io/admission");
  }
};

TEST_F(PodAdmission, NothingHappensWhileTheFrameworkIsOff) {
  EXPECT_TRUE(gated(pod(kQueued)));
  const Json wrong = pod("{kueue.x-k8s.io/queue-name: Bad_Name}");
  EXPECT_NE(errors_of(rules.check(wrong, nullptr, "", {get, policy})), "");
  EXPECT_EQ(errors_of(rules.check(wrong, nullptr, "status", {get, policy})), "");
  policy.manage_pods = false;
  EXPECT_FALSE(gated(pod(kQueued)));
  EXPECT_EQ(errors_of(rules.check(wrong, nullptr, "", {get, policy})), "");
}

TEST_F(PodAdmission, PodsOfJobsAreQueuedWithTheirJob) {
  jobs["managed"] = object("{metadata: {namespace: a, uid: u, labels: {kueue.x-k8s.io/queue-name: q}}}");
  jobs["free"] = object("{metadata: {namespace: a, uid: u}}");
  EXPECT_FALSE(gated(of_job(pod(kQueued), "managed")));
  EXPECT_TRUE(gated(of_job(pod(kQueued), "free")));
  EXPECT_FALSE(gated(of_job(pod("{}"), "free")));
  default_queue = true;
  EXPECT_TRUE(gated(pod("{}")));
  EXPECT_FALSE(gated(of_job(pod("{}"), "free"))) << "a Job answers for the queue of its pods";
  policy.manage_jobs_without_queue_name = true;
  EXPECT_FALSE(gated(of_job(pod(kQueued), "free")));
}

TEST_F(PodAdmission, OwnersInACircleEnd) {
  jobs["a"] = of_job(object("{metadata: {namespace: a, uid: u}}"), "b");
  jobs["b"] = of_job(object("{metadata: {namespace: a, uid: u}}"), "a");
  EXPECT_TRUE(gated(of_job(pod(kQueued), "a")));
  EXPECT_LE(looks, 50);
}

}  // namespace
}  // namespace berth::api::kueue::pod_admission_test
