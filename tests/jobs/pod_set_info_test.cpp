// What admission and admission checks add to the pods of a job.
#include "jobs/pod_set_info.h"

#include "jobs/provisioning_support.h"

namespace berth::jobs::pod_set_info_test {
namespace {

using namespace provisioning_test;

const api::kueue::ResourceFlavor* flavor(std::string_view name) {
  static const auto gpu = [] {
    api::kueue::ResourceFlavor f;
    f.node_labels = {{"pool", "gpu"}};
    return f;
  }();
  return name == "gpu" ? &gpu : nullptr;
}

// The workload with a Ready check that has the podSetUpdate `update`.
api::kueue::Workload with_update(std::string_view update) {
  auto w = workload(R"({status: {admissionChecks: [{name: chk, state: Ready, message: "",
    lastTransitionTime: "2026-01-01T00:00:00Z", podSetUpdates: [)" +
                    std::string(update) + "]}]}}");
  return w;
}

TEST(PodSetInfos, HaveWhatReadyChecksAskFor) {
  const auto infos = pod_set_infos(with_update(R"({name: main,
      annotations: {autoscaling.x-k8s.io/consume-provisioning-request: wl-chk-1}, labels: {l: v},
      nodeSelector: {node-pool: p7}, tolerations: [{key: t, operator: Exists}]})"),
                                   flavor);
  ASSERT_TRUE(infos) << infos.error().message;
  Json pod_template = *workload().pod_sets[0].template_;
  ASSERT_TRUE(merge_into_template(pod_template, infos->at(0)));
  EXPECT_EQ(string_at(pod_template, {"metadata", "annotations", "autoscaling.x-k8s.io/consume-provisioning-request"}),
            "wl-chk-1");
  EXPECT_EQ(string_at(pod_template, {"metadata", "annotations", "a"}), "b");
  EXPECT_EQ(string_at(pod_template, {"metadata", "labels", "l"}), "v");
  EXPECT_EQ(canonical_json(*find_path(pod_template, {"spec", "nodeSelector"})),
            R"({"node-pool":"p7","own":"1","pool":"gpu"})");
  EXPECT_EQ(array_at(pod_template, {"spec", "tolerations"}).size(), 1u);
}

TEST(PodSetInfos, AreForThePodSetThatIsNamed) {
  const auto infos = pod_set_infos(with_update("{name: other, annotations: {a: x}}"), flavor);
  ASSERT_TRUE(infos);
  EXPECT_FALSE(infos->at(0).annotations.contains("a"));
}

TEST(PodSetInfos, NameTheCheckThatContradictsTheFlavor) {
  const auto infos = pod_set_infos(with_update("{name: main, nodeSelector: {pool: cpu}}"), flavor);
  ASSERT_FALSE(infos);
  EXPECT_EQ(infos.error().message,
            "in admission check \"chk\": invalid admission check PodSetUpdate: conflict for nodeSelector: "
            "conflict for key=pool, value1=gpu, value2=cpu");
}

TEST(FlavorInfo, HasNothingButTheFlavors) {
  const auto w = with_update("{name: main, annotations: {a: x}}");
  const auto info = flavor_info(w.status.admission->pod_set_assignments[0], flavor);
  ASSERT_TRUE(info);
  EXPECT_EQ(info->node_selector, (api::StringMap{{"pool", "gpu"}}));
  EXPECT_TRUE(info->annotations.empty());
  EXPECT_TRUE(info->labels.empty());
}

}  // namespace
}  // namespace berth::jobs::pod_set_info_test
