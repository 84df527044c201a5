// Local queues that the controller makes in each namespace (KEP-7610, Configuration: defaultLocalQueues).
#include "controller/default_queues.h"

#include <gmock/gmock.h>

#include "api/resources.h"
#include "controller/pods_fixture.h"

namespace berth::controller::default_queues_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class DefaultQueuesTest : public QueueTest {
 protected:
  DefaultQueuesTest() : QueueTest({}, {}) {}

  static ControllerOptions with(const std::string& name = "default") {
    ControllerOptions options;
    options.default_local_queues.enabled = true;
    options.default_local_queues.name = name;
    return options;
  }
  void ns(const std::string& name, const std::string& labels) {
    make(apiserver::kNamespaces, "Namespace", "", "{metadata: {name: " + name + ", labels: {" + labels + "}}}");
  }
  void cluster_queue(const std::string& name, const std::string& selector) {
    make(api::kClusterQueues, "ClusterQueue", "", "{metadata: {name: " + name + "}, spec: {" + selector + "}}");
  }
  // "namespace/name of its cluster queue", of all that were made here. Those of kube-public and kube-node-lease, which
  // every cluster has, are left out.
  std::vector<std::string> made() {
    std::vector<std::string> out;
    for (const Json& one : items(api::kLocalQueues, "")) {
      if (string_at(one, {"metadata", "labels", "kueue.x-k8s.io/auto-generated"}) == "true" &&
          !api::object_key(one).starts_with("kube-"))
        out.push_back(api::object_key(one) + " of " + std::string(string_at(one, {"spec", "clusterQueue"})));
    }
    std::ranges::sort(out);
    return out;
  }
  std::vector<std::string> events(std::string_view reason) {
    std::vector<std::string> out;
    for (const Json& one : items(apiserver::kEvents, "")) {
      const auto note = string_at(one, {"note"}, string_at(one, {"message"}));
      const bool counts =
          string_at(one, {"reason"}) == reason && note.find("namespace kube-") == std::string_view::npos;
      if (counts) out.emplace_back(note);
    }
    std::ranges::sort(out);
    return out;
  }
};

TEST_F(DefaultQueuesTest, AreNotMadeUnlessTheConfigurationSaysSo) {
  ns("lab", "team: lab");
  lead();
  EXPECT_THAT(made(), IsEmpty());
}

TEST_F(DefaultQueuesTest, EachSelectedNamespaceGetsOne) {
  ns("lab", "team: lab");
  ns("bureau", "team: bureau");
  cluster_queue("of-labs", "namespaceSelector: {matchLabels: {team: lab}}");
  cluster_queue("of-none", "");
  remove(api::kClusterQueues, "", "cq");
  lead(with());
  EXPECT_THAT(made(), ElementsAre("lab/default of of-labs"));
  EXPECT_THAT(events("LocalQueueCreated"), ElementsAre("Created LocalQueue default in namespace lab"));
  ns("lab-2", "team: lab");
  pass();
  EXPECT_THAT(made(), ElementsAre("lab-2/default of of-labs", "lab/default of of-labs"));
  patch(apiserver::kNamespaces, "", "bureau", R"({"metadata":{"labels":{"team":"lab"}}})", api::PatchType::kMerge);
  pass();
  EXPECT_THAT(made(), ElementsAre("bureau/default of of-labs", "lab-2/default of of-labs", "lab/default of of-labs"));
  remove(api::kLocalQueues, "lab", "default");
  pass();
  EXPECT_THAT(made(), testing::Contains("lab/default of of-labs")) << "it is made again";
  remove(apiserver::kNamespaces, "", "lab");
  pass(60);
  EXPECT_FALSE(exists(apiserver::kNamespaces, "", "lab")) << "a namespace that goes gets none";
}

TEST_F(DefaultQueuesTest, ANameThatAnotherQueueHasIsLeftToIt) {
  ns("lab", "team: lab");
  make(api::kLocalQueues, "LocalQueue", "lab", "{metadata: {name: default}, spec: {clusterQueue: elsewhere}}");
  lead(with());
  EXPECT_THAT(made(), ElementsAre("default/default of cq"));
  EXPECT_THAT(events("LocalQueueExists"),
              ElementsAre("No LocalQueue is made in namespace lab: LocalQueue default there belongs to ClusterQueue "
                          "elsewhere"));
}

TEST_F(DefaultQueuesTest, OfSeveralClusterQueuesTheFirstByNameGetsTheName) {
  cluster_queue("a", "namespaceSelector: {}");
  lead(with());
  EXPECT_THAT(made(), ElementsAre("default/default of a"));
  EXPECT_THAT(
      events("LocalQueueExists"),
      ElementsAre("No LocalQueue is made in namespace default: LocalQueue default there belongs to ClusterQueue "
                  "a"));
}

TEST_F(DefaultQueuesTest, OrEachHasTheNameOfItsClusterQueue) {
  cluster_queue("a", "namespaceSelector: {}");
  lead(with(""));
  EXPECT_THAT(made(), ElementsAre("default/a of a", "default/cq of cq"));
  EXPECT_THAT(events("LocalQueueExists"), IsEmpty());
}

TEST_F(DefaultQueuesTest, NamespacesWhoseJobsAreNotManagedGetNone) {
  ns("systems", "role: system");
  ControllerOptions options = with();
  options.default_local_queues.namespaces =
      api::LabelSelector::from_json(parse_json(R"({"matchLabels":{"role":"system"}})").value()).value();
  lead(options);
  EXPECT_THAT(made(), ElementsAre("systems/default of cq"));
}

}  // namespace
}  // namespace berth::controller::default_queues_test
