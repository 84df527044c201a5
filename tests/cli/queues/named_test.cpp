// Names in flags that name nothing.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/queues/run_command.h"

namespace berth::cli::queues::named_test {
namespace {

// A server with three ClusterQueues, the namespaces lab and team-a, two LocalQueues and the Job "train" in lab; no
// workload.
class Quiet final : public Server {
 public:
  api::RestResponse get(const std::string& path) override {
    if (path == "/apis")
      return json(R"({"groups": [{"name": "batch", "preferredVersion": {"groupVersion": "batch/v1"}}]})");
    if (path == "/apis/batch/v1")
      return json(R"({"resources": [{"name": "jobs", "singularName": "job", "kind": "Job", "namespaced": true}]})");
    return {404, Json(), {}};
  }
  api::RestResponse call(api::RestRequest request) override {
    const std::string& what = request.resource.resource;
    const bool lab = request.ns == "lab";
    if (request.verb == api::Verb::kList) {
      if (what == "clusterqueues") return names({"gpu", "cpu", "research"});
      if (what == "namespaces") return names({"lab", "team-a"});
      if (what == "localqueues" && lab) return names({"gpu-queue", "cpu-queue"});
      if (what == "jobs" && lab) return names({"train"});
      return names({});
    }
    const bool there = (what == "namespaces" && (request.name == "lab" || request.name == "team-a")) ||
                       (what == "jobs" && lab && request.name == "train");
    return there ? json(R"({"metadata": {"name": "x", "uid": "u"}})") : api::RestResponse{404, Json(), {}};
  }
  Time now() const override { return {}; }
  void sleep(Duration) override {}
  std::string default_namespace() const override { return "lab"; }
  std::string explain(const api::RestResponse&, const api::GroupVersionResource&) const override { return "refused"; }

 private:
  static api::RestResponse json(const char* text) { return {200, parse_json(text).value(), {}}; }
  static api::RestResponse names(const std::vector<std::string>& list) {
    JsonArray items;
    for (const std::string& each : list) items.push_back(JsonObject{{"metadata", JsonObject{{"name", each}}}});
    return {200, JsonObject{{"items", std::move(items)}}, {}};
  }
};

testing_support::Ran run(const std::vector<std::string>& words) {
  return testing_support::run_command(
      words, [](const AccessFlags&) -> Result<std::unique_ptr<Server>> { return std::make_unique<Quiet>(); });
}

void expect_refused(const std::vector<std::string>& words, const std::string& why) {
  const auto ran = run(words);
  EXPECT_EQ(ran.code, 1) << why;
  EXPECT_EQ(ran.said, "berth: " + why + "\n");
}

TEST(NamedNothing, IsAnErrorThatNamesTheNearest) {
  expect_refused({"list", "workload", "-c", "gpus"},
                 "-c gpus: there is no ClusterQueue gpus; nearest: gpu, cpu, research");
  expect_refused({"list", "workload", "-q", "gpu"},
                 "-q gpu: there is no LocalQueue gpu in namespace lab; nearest: gpu-queue, cpu-queue");
  expect_refused({"list", "workload", "-q", "gpu", "-n", "team-a"},
                 "-q gpu: there is no LocalQueue gpu in namespace team-a; there is none at all");
  expect_refused({"list", "workload", "-n", "labs"}, "-n labs: there is no namespace labs; nearest: lab, team-a");
  expect_refused({"list", "localqueue", "-n", "labs"}, "-n labs: there is no namespace labs; nearest: lab, team-a");
  expect_refused({"list", "localqueue", "-c", "gpus"},
                 "-c gpus: there is no ClusterQueue gpus; nearest: gpu, cpu, research");
  for (const char* listed : {"workload", "pods"}) {
    expect_refused({"list", listed, "--for", "job/trian"},
                   "--for trian: there is no Job trian in namespace lab; nearest: train");
    expect_refused({"list", listed, "--for", "job/train", "-n", "labs"},
                   "-n labs: there is no namespace labs; nearest: lab, team-a");
  }
}

TEST(NamedNothing, AnEmptyListOfWhatExistsIsNoError) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"list", "workload", "-c", "gpu"},
                                                {"list", "workload", "-q", "gpu-queue"},
                                                {"list", "workload", "-n", "team-a"},
                                                {"list", "workload", "-A"},
                                                {"list", "workload", "--for", "job/train"},
                                                {"list", "pods", "--for", "job/train"},
                                                {"list", "localqueue", "-n", "team-a"}}) {
    EXPECT_EQ(run(words).code, 0) << words.back();
  }
}

}  // namespace
}  // namespace berth::cli::queues::named_test
