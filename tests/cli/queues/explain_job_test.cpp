// Objects whose workloads cannot be explained: what is said in their place.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/queues/run_command.h"

namespace berth::cli::queues::explain_job_test {
namespace {

// A server with the Deployment "web" and the Cohort "lab", and no workload.
class NoWorkload final : public Server {
 public:
  api::RestResponse get(const std::string& path) override {
    if (path == "/apis")
      return json(R"({"groups": [{"name": "kueue.x-k8s.io", "preferredVersion": {"groupVersion":
          "kueue.x-k8s.io/v1beta2"}}]})");
    if (path == "/apis/apps/v1")
      return json(R"({"resources": [{"name": "deployments", "singularName": "deployment", "kind": "Deployment",
          "namespaced": true}]})");
    if (path == "/apis/kueue.x-k8s.io/v1beta2")
      return json(R"({"resources": [{"name": "cohorts", "singularName": "cohort", "kind": "Cohort"}]})");
    return {404, Json(), {}};
  }
  api::RestResponse call(api::RestRequest request) override {
    if (request.verb == api::Verb::kList) return json(R"({"items": []})");
    return json(R"({"metadata": {"name": "x", "uid": "u", "labels": {"kueue.x-k8s.io/queue-name": "q"}}})");
  }
  Time now() const override { return {}; }
  void sleep(Duration) override {}
  std::string default_namespace() const override { return "default"; }
  std::string explain(const api::RestResponse&, const api::GroupVersionResource&) const override { return "refused"; }

 private:
  static api::RestResponse json(const char* text) { return {200, parse_json(text).value(), {}}; }
};

testing_support::Ran run(const std::vector<std::string>& words) {
  return testing_support::run_command(
      words, [](const AccessFlags&) -> Result<std::unique_ptr<Server>> { return std::make_unique<NoWorkload>(); });
}

TEST(ExplainJob, OfADeploymentNamesItsPods) {
  const std::string hint = "each pod of a Deployment has a Workload of its own: berth explain pod NAME\n";
  const auto explained = run({"explain", "deployment", "web"});
  EXPECT_EQ(explained.code, 1);
  EXPECT_EQ(explained.said, "berth: deployment/web has no workload: " + hint);
  const auto listed = run({"list", "workload", "--for", "deployment/web"});
  EXPECT_EQ(listed.code, 0);
  EXPECT_EQ(listed.said, hint + "No resources found in default namespace.\n");
}

TEST(ExplainJob, TypeAndNameMayBeOneWord) {
  for (const char* command : {"explain", "predict"}) {
    EXPECT_EQ(run({command, "deployment/web"}).said, run({command, "deployment", "web"}).said);
    const auto nameless = run({command, "deployment"});
    EXPECT_EQ(nameless.code, 2);
    EXPECT_NE(nameless.said.find("TYPE/NAME"), std::string::npos) << nameless.said;
  }
}

TEST(ExplainJob, OfWhatIsNoJobNamesTheTypes) {
  for (const char* command : {"explain", "predict"}) {
    const auto ran = run({command, "cohort", "lab"});
    EXPECT_EQ(ran.code, 1);
    EXPECT_EQ(ran.said,
              "berth: cohort/lab: Cohort is no kind of job; expected workload, clusterqueue, localqueue, or a kind of "
              "job: job, pod, rayjob, ...\n");
  }
}

}  // namespace
}  // namespace berth::cli::queues::explain_job_test
