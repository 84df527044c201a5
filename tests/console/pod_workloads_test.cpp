#include "console/pod_workloads.h"

#include <gtest/gtest.h>

#include "base/yaml.h"
#include "console/node_use.h"

namespace berth::console::pod_workloads_test {
namespace {

Json object(const std::string& yaml) { return parse_yaml(yaml).value().at(0); }

Json workload_of(const std::string& uid) {
  return object("{metadata: {name: w, namespace: a, ownerReferences: [{uid: other}, {uid: " + uid +
                ", controller: true}]}}");
}
Json pod(const std::string& metadata) {
  return object("{metadata: {name: p, namespace: a, uid: u-pod" + metadata + "}, spec: {nodeName: n}}");
}

TEST(PodWorkloads, AreFoundByWhatThePodSaysOrByItsOwners) {
  PodWorkloads workloads;
  const auto name = [&](const Json& of, const char* ns = "a") { return workloads.name(ns, PodOrigin::of(of)); };
  EXPECT_EQ(name(pod(", annotations: {kueue.x-k8s.io/workload: said}")), "said");
  EXPECT_EQ(name(pod(", labels: {kueue.x-k8s.io/pod-group-name: group}")), "group");
  const Json of_job = pod(", ownerReferences: [{uid: u-job, controller: true}]");
  EXPECT_EQ(name(of_job), "");
  const Json first = workload_of("u-job");
  EXPECT_EQ(workloads.workload_changed("a/w", &first), std::vector<std::string>{"u-job"});
  EXPECT_TRUE(workloads.workload_changed("a/w", &first).empty());
  EXPECT_EQ(name(of_job), "w");
  EXPECT_EQ(name(of_job, "b"), "") << "an owner in another namespace is no owner";
  const Json single = workload_of("u-pod"), set = workload_of("u-set");
  workloads.workload_changed("a/single", &single);
  workloads.workload_changed("a/set", &set);
  EXPECT_EQ(name(pod("")), "single");
  EXPECT_EQ(workloads.workload_changed("a/single", nullptr), std::vector<std::string>{"u-pod"});
  EXPECT_EQ(name(pod(", labels: {jobset.sigs.k8s.io/jobset-uid: u-set}")), "set");
}

TEST(PodWorkloads, AWorkloadThatComesLaterTakesThePlaceOfTheOneBefore) {
  PodWorkloads workloads;
  const Json same = workload_of("u-job");
  workloads.workload_changed("a/old", &same);
  workloads.workload_changed("a/new", &same);
  EXPECT_TRUE(workloads.workload_changed("a/old", nullptr).empty());
  EXPECT_EQ(workloads.name("a", PodOrigin::of(pod(", ownerReferences: [{uid: u-job, controller: true}]"))), "new");
}

TEST(PodWorkloads, AreFoundAboveTheOwnersOfTheirOwners) {
  PodWorkloads workloads;
  const auto owned = [](const std::string& uid, const std::string& above) {
    return object("{metadata: {name: o, namespace: a, uid: " + uid + ", ownerReferences: [{uid: " + above +
                  ", controller: true}]}}");
  };
  const Json of_cluster = pod(", ownerReferences: [{uid: u-raycluster, controller: true}]");
  const Json of_set =
      pod(", ownerReferences: [{uid: u-job, controller: true}], labels: {jobset.sigs.k8s.io/jobset-uid: u-set}");
  const auto name = [&](const Json& of) { return workloads.name("a", PodOrigin::of(of)); };
  const Json ray = workload_of("u-rayjob"), train = workload_of("u-trainjob");
  workloads.workload_changed("a/ray", &ray);
  EXPECT_EQ(name(of_cluster), "");
  const Json cluster = owned("u-raycluster", "u-rayjob"), set = owned("u-set", "u-trainjob"),
             job = owned("u-job", "u-set");
  EXPECT_EQ(workloads.owner_changed("clusters a/o", &cluster), std::vector<std::string>{"u-raycluster"});
  EXPECT_TRUE(workloads.owner_changed("clusters a/o", &cluster).empty());
  EXPECT_EQ(name(of_cluster), "ray");
  workloads.owner_changed("jobs a/o", &job);
  EXPECT_EQ(workloads.owner_changed("sets a/o", &set), (std::vector<std::string>{"u-set", "u-job"}));
  EXPECT_EQ(workloads.workload_changed("a/train", &train), (std::vector<std::string>{"u-trainjob", "u-set", "u-job"}));
  EXPECT_EQ(name(of_set), "train");
  EXPECT_EQ(workloads.owner_changed("clusters a/o", nullptr), std::vector<std::string>{"u-raycluster"});
  EXPECT_EQ(name(of_cluster), "");
}

TEST(PodWorkloads, OwnersInACircleEnd) {
  PodWorkloads workloads;
  const Json one = object("{metadata: {uid: u1, ownerReferences: [{uid: u2, controller: true}]}}");
  const Json two = object("{metadata: {uid: u2, ownerReferences: [{uid: u1, controller: true}]}}");
  workloads.owner_changed("k one", &one);
  EXPECT_EQ(workloads.owner_changed("k two", &two), (std::vector<std::string>{"u2", "u1"}));
  EXPECT_EQ(workloads.name("a", PodOrigin::of(pod(", ownerReferences: [{uid: u1, controller: true}]"))), "");
  const Json itself = object("{metadata: {uid: u1, ownerReferences: [{uid: u1, controller: true}]}}");
  workloads.owner_changed("k one", &itself);
  EXPECT_EQ(workloads.owner_changed("k one", nullptr), (std::vector<std::string>{"u1", "u2"}));
}

TEST(PodWorkloads, APodThatIsSeenBeforeItsWorkloadGetsItLater) {
  Collection nodes("nodes"), placements("placements");
  NodeUse use(nodes, placements);
  const Json of_job = pod(", ownerReferences: [{uid: u-job, controller: true}]");
  use.pod_changed("a/p", &of_job);
  use.flush();
  const auto row = [&] {
    Collection::Cursor cursor;
    const auto part = placements.next_part({true, {}}, cursor);
    return part == nullptr ? std::string() : *part;
  };
  EXPECT_NE(row().find(R"([["",)"), std::string::npos) << row();
  const Json workload = workload_of("u-job");
  use.workload_changed("a/w", &workload);
  use.flush();
  EXPECT_NE(row().find(R"([["w",)"), std::string::npos) << row();
  use.workload_changed("a/w", nullptr);
  use.pod_changed("a/p", nullptr);
  use.flush();
}

}  // namespace
}  // namespace berth::console::pod_workloads_test
