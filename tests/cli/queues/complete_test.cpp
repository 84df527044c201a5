// Completion of commands, flags and names.
#include "cli/queues/complete.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <sstream>

#include "cli/queues/commands.h"

namespace berth::cli::queues::complete_test {
namespace {

using Words = std::vector<std::string>;

// Has two objects of each resource, named after it and the namespace.
class Named final : public Server {
 public:
  api::RestResponse call(api::RestRequest request) override {
    JsonArray items;
    for (const char* end : {"-a", "-b"}) {
      const std::string name = request.resource.resource + (request.ns.empty() ? "" : "-" + request.ns) + end;
      items.push_back(JsonObject{{"metadata", JsonObject{{"name", name}}}});
    }
    return {200, JsonObject{{"items", std::move(items)}}, {}};
  }
  api::RestResponse get(const std::string& path) override {
    if (path == "/apis") return {200, JsonObject{{"groups", JsonArray()}}, {}};
    if (path != "/apis/batch/v1") return {404, Json(), {}};
    return {200,
            parse_json(R"({"resources": [{"name": "jobs", "singularName": "job", "kind": "Job", "namespaced": true}]})")
                .value(),
            {}};
  }
  Time now() const override { return {}; }
  void sleep(Duration) override {}
  std::string default_namespace() const override { return "home"; }
  std::string explain(const api::RestResponse&, const api::GroupVersionResource&) const override { return "no"; }
};

Words after(const Words& words, bool reachable = true) {
  std::ostringstream out;
  Session session;
  session.out = session.err = &out;
  CLI::App root{"", "berth"};
  const auto commands = add_commands(root, session);
  return complete(root, words, [reachable](const AccessFlags&) -> Result<std::unique_ptr<Server>> {
    if (!reachable) return fail("not reachable");
    return std::make_unique<Named>();
  });
}

TEST(Completion, OfCommands) {
  EXPECT_EQ(after({"st"}), Words({"stop"}));
  EXPECT_EQ(after({"list", ""}), Words({"clusterqueue", "localqueue", "pods", "resourceflavor", "workload"}));
  EXPECT_EQ(after({"resume", "cl"}), Words({"clusterqueue"}));
  EXPECT_EQ(after({}), Words());
}

TEST(Completion, OfFlagsAndTheirValues) {
  EXPECT_EQ(after({"list", "wl", "--sta"}), Words({"--status"}));
  EXPECT_EQ(after({"list", "wl", "--status", "q"}), Words({"quotareserved"}));
  EXPECT_EQ(after({"list", "wl", "--status=a"}), Words({"--status=admitted", "--status=all"}));
  EXPECT_EQ(after({"list", "wl", "--status", "=", "f"}), Words({"finished"})) << "as bash splits the words";
  EXPECT_EQ(after({"create", "cq", "x", "--queuing-strategy", "S"}), Words({"StrictFIFO"}));
  EXPECT_EQ(after({"create", "lq", "x", "-c", ""}), Words({"clusterqueues-a", "clusterqueues-b"}));
  EXPECT_EQ(after({"list", "wl", "-q", ""}), Words({"localqueues-home-a", "localqueues-home-b"}));
  EXPECT_EQ(after({"list", "wl", "-n", ""}), Words({"namespaces-a", "namespaces-b"}));
  EXPECT_EQ(after({"list", "pods", "--for", "j"}), Words({"job/"}));
  EXPECT_EQ(after({"list", "pods", "--for", "job/"}), Words({"job/jobs-home-a", "job/jobs-home-b"}));
  EXPECT_EQ(after({"list", "pods", "--for", "nothing/"}), Words());
}

TEST(Completion, OfNames) {
  EXPECT_EQ(after({"stop", "cq", ""}), Words({"clusterqueues-a", "clusterqueues-b"}));
  EXPECT_EQ(after({"delete", "workload", "-n", "lab", "workloads-lab-b"}), Words({"workloads-lab-b"}));
  EXPECT_EQ(after({"get", "rf", ""}), Words({"resourceflavors-a", "resourceflavors-b"}));
  EXPECT_EQ(after({"create", "cq", ""}), Words()) << "a new name";
}

TEST(Completion, OfQuestions) {
  for (const char* command : {"explain", "predict"}) {
    EXPECT_EQ(after({command, "w"}), Words({"workload"}));
    EXPECT_EQ(after({command, "workload", ""}), Words({"workloads-home-a", "workloads-home-b"}));
    EXPECT_EQ(after({command, "-n", "lab", "wl", "workloads-lab-b"}), Words({"workloads-lab-b"}));
    EXPECT_EQ(after({command, "workload", "lab/"}), Words({"lab/workloads-lab-a", "lab/workloads-lab-b"}));
    EXPECT_EQ(after({command, "cq", ""}), Words({"clusterqueues-a", "clusterqueues-b"}));
    EXPECT_EQ(after({command, "job", "jobs-home-b"}), Words({"jobs-home-b"}));
    EXPECT_EQ(after({command, "nothing", ""}), Words());
    EXPECT_EQ(after({command, "workload", "w", ""}), Words()) << "there is no third word";
    EXPECT_EQ(after({command, "workload", "--journal", "j", ""}), Words()) << "the cluster has other names";
    EXPECT_EQ(after({command, "workload", ""}, false), Words());
    EXPECT_EQ(after({command, "-n", "namespaces-b"}), Words({"namespaces-b"}));
  }
  EXPECT_EQ(after({"explain", "l"}), Words()) << "it knows no local queues";
  EXPECT_EQ(after({"predict", "l"}), Words({"localqueue"}));
  EXPECT_EQ(after({"predict", "lq", ""}), Words({"localqueues-home-a", "localqueues-home-b"}));
  EXPECT_EQ(after({"what-if", "--without", "n"}), Words({"node/"}));
  EXPECT_EQ(after({"what-if", "--without", "cq/clusterqueues-b"}), Words({"cq/clusterqueues-b"}));
}

TEST(Completion, WithoutAClusterKnowsNoNames) {
  EXPECT_EQ(after({"stop", "cq", ""}, false), Words());
  EXPECT_EQ(after({"stop", "cq", "--dry-run", "c"}, false), Words({"client"}));
}

}  // namespace
}  // namespace berth::cli::queues::complete_test
