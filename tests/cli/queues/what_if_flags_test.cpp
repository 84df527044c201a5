// What berth what-if makes of --without and --drain, and how it names them in refusals.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/status.h"
#include "cli/queues/run_command.h"

namespace berth::cli::queues::what_if_flags_test {
namespace {

using Words = std::vector<std::string>;

// A server with the Job "train" and its workload. It keeps the question of a what-if.
class OneJob final : public Server {
 public:
  OneJob(std::string refusal, Json& asked) : refusal_(std::move(refusal)), asked_(asked) {}
  api::RestResponse get(const std::string& path) override {
    if (path == "/apis")
      return json(R"({"groups": [{"name": "kueue.x-k8s.io", "preferredVersion": {"groupVersion":
          "kueue.x-k8s.io/v1beta2"}}]})");
    if (path == "/apis/batch/v1")
      return json(R"({"resources": [{"name": "jobs", "singularName": "job", "kind": "Job", "namespaced": true}]})");
    if (path == "/api/v1")
      return json(R"({"resources": [{"name": "nodes", "singularName": "node", "kind": "Node"},
          {"name": "namespaces", "singularName": "namespace", "kind": "Namespace"}]})");
    if (path == "/apis/kueue.x-k8s.io/v1beta2")
      return json(R"({"resources": [{"name": "topologies", "singularName": "topology", "kind": "Topology"}]})");
    return {404, Json(), {}};
  }
  api::RestResponse call(api::RestRequest request) override {
    if (request.verb == api::Verb::kList)
      return json(R"({"items": [
          {"metadata": {"name": "job-train-1", "namespace": "default", "ownerReferences": [{"uid": "u"}]}},
          {"metadata": {"name": "job-train-0", "namespace": "default", "ownerReferences": [{"uid": "u"}]},
           "status": {"conditions": [{"type": "Finished", "status": "True"}]}},
          {"metadata": {"name": "other", "namespace": "default", "ownerReferences": [{"uid": "v"}]}}]})");
    if (request.verb == api::Verb::kGet) {
      if (request.name != "train") return {404, Json(), {}};
      return json(R"({"metadata": {"name": "train", "namespace": "default", "uid": "u"}})");
    }
    asked_ = request.body;
    if (refusal_.empty()) return json(R"({"status": {}})");
    return {400, JsonObject{{"message", refusal_}}, {}};
  }
  Time now() const override { return {}; }
  void sleep(Duration) override {}
  std::string default_namespace() const override { return "default"; }
  std::string explain(const api::RestResponse& response, const api::GroupVersionResource&) const override {
    return std::string(string_at(response.body, {"message"}));
  }

 private:
  static api::RestResponse json(const char* text) { return {200, parse_json(text).value(), {}}; }
  const std::string refusal_;
  Json& asked_;
};

class WhatIfFlags : public testing::Test {
 protected:
  testing_support::Ran what_if(Words flags, const std::string& refusal = "") {
    flags.insert(flags.begin(), "what-if");
    return testing_support::run_command(flags, [&](const AccessFlags&) -> Result<std::unique_ptr<Server>> {
      return std::make_unique<OneJob>(refusal, asked);
    });
  }
  Json asked;
};

TEST_F(WhatIfFlags, WithoutAJobIsWithoutItsWorkload) {
  const auto ran = what_if({"--without", "job/train", "--without", "node/n1", "--without", "topology/racks"});
  EXPECT_EQ(ran.code, 0) << ran.said;
  EXPECT_EQ(to_string(*find_path(asked, {"spec", "delete"})),
            R"([{"kind":"Workload","name":"job-train-1","namespace":"default"},)"
            R"({"kind":"Node","name":"n1"},{"kind":"Topology","name":"racks"}])");
}

TEST_F(WhatIfFlags, RefusalsNameTheFlagAndItsValue) {
  const struct {
    Words flags;
    std::string refusal, said;
  } cases[] = {
      {{"--without", "node/n1", "--without", "node/n2"},
       "spec.delete[1]: Node n2 does not exist",
       "--without \"node/n2\": Node n2 does not exist"},
      {{"--drain", "a=b"}, "spec.drain[0]: no node has the label a=b", "--drain \"a=b\": no node has the label a=b"},
      {{"--drain", "a=b"}, "spec.drain[7]: of something else", "spec.drain[7]: of something else"},
      {{"--without", "node/n1"}, "spec.delete[x]: no number", "spec.delete[x]: no number"},
      {{"--without", "job/none"}, "", "--without \"job/none\": job/none does not exist in namespace default"},
      {{"--without", "namespace/train"},
       "",
       "--without \"namespace/train\": namespace/train: Namespace is no kind of job; expected workload, clusterqueue, "
       "localqueue, or a kind of job: job, pod, rayjob, ..."},
      {{"--without", "jbo/train"}, "", "--without \"jbo/train\": the server does not have a resource type \"jbo\""},
  };
  for (const auto& c : cases) {
    const auto ran = what_if(c.flags, c.refusal);
    EXPECT_EQ(ran.code, 1) << ran.said;
    EXPECT_EQ(ran.said, "berth: " + c.said + "\n");
  }
}

TEST_F(WhatIfFlags, ThatCannotBeReadAreWrongUsage) {
  for (const auto& [flag, value, said] :
       {std::tuple("--drain", "foo", "--drain \"foo\": expected LABEL=VALUE of nodes"),
        std::tuple("--drain", "=foo", "--drain \"=foo\": expected LABEL=VALUE of nodes"),
        std::tuple("--without", "train",
                   "--without \"train\": expected TYPE[.API-GROUP]/NAME, such as job/train or "
                   "rayjob.ray.io/train")}) {
    const auto ran = what_if({flag, value});
    EXPECT_EQ(ran.code, 2) << ran.said;
    EXPECT_EQ(ran.said, "berth: " + std::string(said) + "\n");
  }
  EXPECT_TRUE(asked.is_null()) << "no server was asked";
}

}  // namespace
}  // namespace berth::cli::queues::what_if_flags_test
