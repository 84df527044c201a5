// The pods in a ProvisioningRequest: managed resources, counts, templates and merging; and the names of requests and
// templates.
#include "jobs/provisioning_pods.h"

#include "base/digest.h"
#include "jobs/provisioning_names.h"
#include "jobs/provisioning_support.h"

namespace berth::jobs::provisioning_pods_test {
namespace {

using namespace provisioning_test;

const api::kueue::ResourceFlavor* flavor(std::string_view name) {
  static const auto make = [](std::string_view which, std::string_view toleration) {
    api::kueue::ResourceFlavor f;
    f.meta.name = which;
    f.node_labels = {{"pool", std::string(which)}};
    f.tolerations = {{std::string(toleration), "Exists", "", "NoSchedule", {}}};
    return f;
  };
  static const auto gpu = make("gpu", "gpu"), cpu = make("cpu", "cpu");
  return name == "gpu" ? &gpu : name == "cpu" ? &cpu : nullptr;
}

// A workload with the pod sets `a`, `b`, ..., which have these templates and the flavor "gpu".
api::kueue::Workload pod_sets(const std::vector<std::pair<int, std::string>>& sets) {
  auto w = workload();
  w.pod_sets.clear();
  w.status.admission->pod_set_assignments.clear();
  char name = 'a';
  for (const auto& [count, spec] : sets) {
    api::kueue::PodSet set;
    set.name = std::string(1, name++);
    set.count = count;
    set.template_ = std::make_shared<const Json>(JsonObject{{"spec", yaml(spec)}});
    api::kueue::PodSetAssignment assignment;
    assignment.name = set.name;
    assignment.count = count;
    assignment.flavors = {{"cpu", "gpu"}};
    w.pod_sets.push_back(std::move(set));
    w.status.admission->pod_set_assignments.push_back(std::move(assignment));
  }
  return w;
}

std::string text(const std::vector<RequestedPodSet>& requested) {
  std::string out;
  for (const auto& set : requested) out += (out.empty() ? "" : " ") + set.name + "=" + std::to_string(set.count);
  return out;
}

std::string requested(const api::kueue::Workload& w, std::string_view conf = "{}") {
  const auto sets = requested_pod_sets(w, *config(conf), flavor);
  return sets ? text(*sets) : sets.error().message;
}

constexpr std::string_view kTemplates = "{podSetMergePolicy: IdenticalPodTemplates}";
constexpr std::string_view kNeeds = "{podSetMergePolicy: IdenticalWorkloadSchedulingRequirements}";
const std::string kPlain = "{containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}]}";
const std::string kRenamed = "{containers: [{name: d, image: j, resources: {requests: {cpu: 1000m}}}]}";

TEST(NeededPodSets, HaveTheAdmittedCount) {
  auto w = pod_sets({{5, kPlain}, {2, kPlain}});
  w.status.admission->pod_set_assignments[0].count = 3;  // partial admission
  EXPECT_EQ(requested(w), "a=3 b=2");
}

TEST(NeededPodSets, LeaveOutThoseWithoutPods) {
  EXPECT_EQ(requested(pod_sets({{0, kPlain}, {2, kPlain}})), "b=2");
  EXPECT_TRUE(needed_pod_sets(pod_sets({{0, kPlain}}), *config()).empty());
}

TEST(NeededPodSets, UseAManagedResource) {
  const std::string gpu = "{containers: [{resources: {requests: {nvidia.com/gpu: 1}}}]}";
  const std::string init = "{initContainers: [{resources: {requests: {nvidia.com/gpu: 1}}}], containers: [{}]}";
  const std::string limit = "{containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]}";
  const auto w = pod_sets({{1, kPlain}, {2, gpu}, {3, init}, {4, limit}});
  EXPECT_EQ(requested(w, "{managedResources: [nvidia.com/gpu, other]}"), "b=2 c=3 d=4");
  EXPECT_EQ(requested(w, "{managedResources: [other]}"), "");
  EXPECT_EQ(requested(w, "{managedResources: []}"), "a=1 b=2 c=3 d=4");
}

TEST(RequestedPodSets, HaveWhatTheFlavorAddsAndRequestsForLimits) {
  const auto sets = requested_pod_sets(workload(), *config(), flavor);
  ASSERT_TRUE(sets);
  ASSERT_EQ(sets->size(), 1u);
  EXPECT_TRUE(json_equal(sets->front().pod_template, yaml(R"(
metadata: {labels: {app: x}, annotations: {a: b}}
spec:
  nodeSelector: {own: "1", pool: gpu}
  tolerations: [{key: gpu, operator: Exists, effect: NoSchedule}]
  containers: [{name: c, image: i, resources: {requests: {cpu: "1", memory: 1Gi}, limits: {cpu: "2", memory: 1Gi}}}]
)"))) << to_string(sets->front().pod_template);
}

TEST(RequestedPodSets, SayWhatIsWrongWithAFlavor) {
  auto w = pod_sets({{1, kPlain}});
  w.status.admission->pod_set_assignments[0].flavors = {{"cpu", "none"}};
  EXPECT_EQ(requested(w), "ResourceFlavor none does not exist");
  EXPECT_EQ(requested(pod_sets({{1, "{nodeSelector: {pool: other}, containers: []}"}})),
            "pod set a: the pod template already has the node selector \"pool\" with the value \"other\", "
            "admission needs \"gpu\"");
}

TEST(MergedPodSets, AreNoneWithoutAPolicy) { EXPECT_EQ(requested(pod_sets({{1, kPlain}, {2, kPlain}})), "a=1 b=2"); }

TEST(MergedPodSets, AreThoseWithIdenticalTemplates) {
  EXPECT_EQ(requested(pod_sets({{1, kPlain}, {4, kRenamed}, {2, kPlain}, {8, kRenamed}}), kTemplates), "a=3 b=12");
}

TEST(MergedPodSets, AreThoseWithIdenticalNeeds) {
  EXPECT_EQ(requested(pod_sets({{1, kPlain}, {4, kRenamed}, {2, kPlain}}), kNeeds), "a=7");
}

TEST(MergedPodSets, DifferInWhateverDecidesWhereTheyFit) {
  const std::string others[] = {
      "{containers: [{resources: {requests: {cpu: '2'}}}]}",
      "{containers: [{resources: {requests: {cpu: '1'}}}, {}]}",
      "{initContainers: [{}], containers: [{resources: {requests: {cpu: '1'}}}]}",
      "{resources: {requests: {cpu: '1'}}, containers: [{resources: {requests: {cpu: '1'}}}]}",
      "{nodeSelector: {a: b}, containers: [{resources: {requests: {cpu: '1'}}}]}",
      "{tolerations: [{key: a, operator: Exists}], containers: [{resources: {requests: {cpu: '1'}}}]}",
      "{affinity: {nodeAffinity: {}}, containers: [{resources: {requests: {cpu: '1'}}}]}",
      "{resourceClaims: [{name: a}], containers: [{resources: {requests: {cpu: '1'}}}]}",
  };
  for (const auto& other : others)
    EXPECT_EQ(requested(pod_sets({{1, kPlain}, {2, other}}), kNeeds), "a=1 b=2") << other;
  EXPECT_EQ(requested(pod_sets({{1, kPlain},
                                {2,
                                 "{affinity: {}, tolerations: [], containers: "
                                 "[{resources: {requests: {cpu: '1'}}}]}"}}),
                      kNeeds),
            "a=3");
}

TEST(MergedPodSets, WereGivenTheSameFlavors) {
  auto w = pod_sets({{1, kPlain}, {2, kPlain}});
  w.status.admission->pod_set_assignments[1].flavors = {{"cpu", "cpu"}};
  EXPECT_EQ(requested(w, kTemplates), "a=1 b=2");
  EXPECT_EQ(requested(w, kNeeds), "a=1 b=2");
}

// --- Names.

TEST(ProvisioningNames, AreMadeOfTheirParts) {
  EXPECT_EQ(provisioning_request_name("wl", "chk", 2), "wl-chk-2");
  EXPECT_EQ(pod_template_name("wl-chk-2", "main"), "ppt-wl-chk-2-main");
}

// Kueue writes the tolerations of several flavors in any order.
TEST(ProvisioningPods, TemplatesNeedTheSameInWhateverOrderTheirTolerationsAre) {
  const Json ab = yaml("{spec: {tolerations: [{key: a, operator: Exists}, {operator: Exists, key: b}]}}"),
             ba = yaml("{spec: {tolerations: [{key: b, operator: Exists}, {key: a, operator: Exists}]}}"),
             a = yaml("{spec: {tolerations: [{key: a, operator: Exists}]}}");
  EXPECT_TRUE(need_the_same(ab, ba));
  EXPECT_FALSE(need_the_same(ab, a));
  EXPECT_FALSE(need_the_same(a, yaml("{spec: {}}")));
}

TEST(ProvisioningNames, AreCutAt247BytesWithAHash) {
  const std::string just(247, 'a'), longer(248, 'a');
  EXPECT_EQ(limited_name(just), just);
  EXPECT_EQ(limited_name(longer), just + "-" + sha1_digits(longer, 5));
  EXPECT_EQ(limited_name(longer).size(), 253u);
}

TEST(ProvisioningNames, TellTheirAttempt) {
  EXPECT_EQ(attempt_of("wl-chk-1", "wl", "chk", 1), 1);
  EXPECT_EQ(attempt_of("wl-chk-12", "wl", "chk", 1), 12);
  EXPECT_EQ(attempt_of("wl-chk-1-1", "wl", "chk-1", 1), 1);
  for (const auto other : {"wl-chk-1-1", "wl-chk-", "wl-chk-0", "wl-chk-01", "wl-chk-1x", "wl-chk--1", "wl-other-1",
                           "awl-chk-1", "wl-chk-99999999999"})
    EXPECT_EQ(attempt_of(other, "wl", "chk", 9), std::nullopt) << other;
}

TEST(ProvisioningNames, ThatWereCutAreRecognizedWhileTheyAreRecent) {
  const std::string workload(246, 'w');
  const auto third = provisioning_request_name(workload, "chk", 3);
  EXPECT_EQ(third.size(), 253u);
  EXPECT_EQ(attempt_of(third, workload, "chk", 3), 3);
  EXPECT_EQ(attempt_of(third, workload, "chk", 4), 3);
  EXPECT_EQ(attempt_of(third, workload, "other", 4), std::nullopt);
  EXPECT_EQ(attempt_of(third, workload, "chk", 3 + 16), std::nullopt);
}

}  // namespace
}  // namespace berth::jobs::provisioning_pods_test
