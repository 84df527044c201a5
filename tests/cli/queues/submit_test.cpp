// berth submit creates jobs, or says what would become of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/yaml.h"
#include "cli/queues/run_command.h"
#include "support/scratch_dir.h"

namespace berth::cli::queues::submit_test {
namespace {

using testing::HasSubstr;
using testing::Not;

Json yaml(const std::string& text) { return parse_yaml(text).value().front(); }

// A namespace with the queues main, where the job waits, and spare, where it starts.
class Queues final : public Server {
 public:
  Queues(std::vector<api::RestRequest>& seen, bool namespace_only) : seen_(seen), namespace_only_(namespace_only) {}
  api::RestResponse get(const std::string& path) override {
    if (path == "/apis/batch/v1")
      return json("{resources: [{name: jobs, singularName: job, kind: Job, namespaced: true}]}");
    if (path == "/api/v1")
      return json("{resources: [{name: nodes, singularName: node, kind: Node, namespaced: false}]}");
    return {404, Json(), {}};
  }
  api::RestResponse call(api::RestRequest request) override {
    seen_.push_back(request);
    if (request.resource.resource == "localqueues")
      return json("{items: [{metadata: {name: main}}, {metadata: {name: spare}}]}");
    if (request.resource.resource == "jobs") return {201, request.body, {}};
    if (request.resource.resource == "whatifs" && namespace_only_) return {403, Json(), {}};
    if (request.resource.resource == "localwhatifs")
      return json(
          "{status: {arrivals: [{workload: default/w, got: main 2 x gpu}], preempted: [], otherNamespaces: {preempted: "
          "3}}}");
    const Json& job = array_at(request.body, {"spec", "apply"}).at(0);
    if (string_at(job, {"metadata", "labels", "kueue.x-k8s.io/queue-name"}) == "spare")
      return json(
          "{status: {admitted: [{workload: default/another, after: main 9 x cpu}, {workload: default/w, after: main 2 "
          "x "
          "gpu}], arrivals: [{workload: default/w, got: main 2 x gpu}], preempted: [{workload: default/v, "
          "text: Preempted by priority}]}}");
    return json(
        "{status: {waiting: [{workload: default/w, text: no cpu}], arrivals: [{workload: default/w, prediction: "
        "{summary: it starts at noon}, explanation: {summary: Quota is missing., changes: [{text: Raise it.}]}}]}}");
  }
  Time now() const override { return {}; }
  void sleep(Duration) override {}
  std::string default_namespace() const override { return "default"; }
  std::string explain(const api::RestResponse&, const api::GroupVersionResource&) const override { return "refused"; }

 private:
  static api::RestResponse json(const std::string& text) { return {200, yaml(text), {}}; }
  std::vector<api::RestRequest>& seen_;
  const bool namespace_only_;  // the user has no rights in the cluster
};

class Submit : public testing::Test {
 protected:
  ~Submit() override { std::filesystem::remove_all(scratch_); }
  testing_support::Ran run(const std::string& manifest, std::vector<std::string> flags) {
    const std::string file = scratch_ + "/job.yaml";
    std::ofstream(file) << manifest;
    flags.insert(flags.begin(), {"submit", "-f", file});
    return testing_support::run_command(std::move(flags),
                                        [this](const AccessFlags&) -> Result<std::unique_ptr<Server>> {
                                          return std::make_unique<Queues>(seen_, namespace_only);
                                        });
  }
  static std::string job(const std::string& labels) {
    return "{apiVersion: batch/v1, kind: Job, metadata: {name: train, labels: {" + labels + "}}}";
  }
  std::vector<api::RestRequest> seen_;
  bool namespace_only = false;
  std::string scratch_ = berth::testing_support::make_scratch_dir("submit");
};

TEST_F(Submit, ADryRunSaysWhatBecomesOfTheJobInEachQueue) {
  const auto ran = run(job("kueue.x-k8s.io/queue-name: main"), {"--dry-run"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.said, HasSubstr("jobs.batch/train in LocalQueue default/main waits; it starts at noon\n"
                                  "  why: Quota is missing.\n"
                                  "  each of these changes alone starts it now:\n"
                                  "  - Raise it.\n"));
  EXPECT_THAT(ran.said, HasSubstr("spare              starts now: main 2 x gpu"));
  for (const auto& request : seen_) {
    if (request.resource.resource == "jobs") EXPECT_TRUE(request.dry_run);
  }
}

TEST_F(Submit, ADryRunNamesWhomTheJobPreempts) {
  const auto ran = run(job("kueue.x-k8s.io/queue-name: spare"), {"--dry-run"});
  EXPECT_THAT(ran.said, HasSubstr("in LocalQueue default/spare starts now: main 2 x gpu\n"
                                  "  it preempts default/v: Preempted by priority\n"));
}

TEST_F(Submit, WithRightsInOneNamespaceADryRunAsksThere) {
  namespace_only = true;
  const auto ran = run(job("kueue.x-k8s.io/queue-name: main"), {"--dry-run"});
  EXPECT_EQ(ran.code, 0) << ran.said;
  EXPECT_THAT(ran.said, HasSubstr("in LocalQueue default/main starts now: main 2 x gpu\n"
                                  "  it preempts 3 workloads of other namespaces\n"));
  EXPECT_EQ(seen_.back().resource.resource, "localwhatifs");
  EXPECT_EQ(seen_.back().ns, "default");
  EXPECT_EQ(string_at(seen_.back().body, {"kind"}), "LocalWhatIf");
}

TEST_F(Submit, WhatIsNotQueuedIsNoSuccess) {
  const auto ran = run(job(""), {"--dry-run"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.said, HasSubstr("it is not queued; the LocalQueues of namespace default: main or spare"));
  const auto node = run("{apiVersion: v1, kind: Node, metadata: {name: n}}", {"--dry-run"});
  EXPECT_EQ(node.code, 1);
  EXPECT_THAT(node.said, HasSubstr("Node is no kind of job"));
}

TEST_F(Submit, ANamespaceOfTheManifestThatIsAnotherIsRefused) {
  const std::string theirs = "{apiVersion: batch/v1, kind: Job, metadata: {name: train, namespace: blue}}";
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--dry-run"}}) {
    std::vector<std::string> flags{"-n", "red"};
    flags.insert(flags.end(), more.begin(), more.end());
    const auto ran = run(theirs, flags);
    EXPECT_EQ(ran.code, 1);
    EXPECT_THAT(ran.said, HasSubstr("Job train names the namespace blue, and -n names red"));
  }
  EXPECT_TRUE(seen_.empty()) << "nothing is sent";
  EXPECT_EQ(run(theirs, {"-n", "blue"}).code, 0);
  EXPECT_EQ(run(theirs, {}).code, 0);
}

TEST_F(Submit, CreatesTheJob) {
  const auto ran = run(job("kueue.x-k8s.io/queue-name: main"), {});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.said, "jobs.batch/train created; follow it with: berth watch jobs.batch/train -n default\n");
  EXPECT_FALSE(seen_.back().dry_run);
  EXPECT_EQ(run(job(""), {"-o", "json"}).code, 2) << "only a dry run has an answer";
}

TEST_F(Submit, ADryRunIsADocument) {
  const auto ran = run(job("kueue.x-k8s.io/queue-name: main"), {"--dry-run", "-o", "json"});
  const Json document = parse_json(ran.said).value();
  const Json& item = array_at(document, {"items"}).at(0);
  EXPECT_EQ(string_at(item, {"queue"}), "main");
  EXPECT_EQ(array_at(item, {"status", "arrivals"}).size(), 1U);
  EXPECT_EQ(string_at(array_at(item, {"otherQueues"}).at(0), {"queue"}), "spare");
}

}  // namespace
}  // namespace berth::cli::queues::submit_test
