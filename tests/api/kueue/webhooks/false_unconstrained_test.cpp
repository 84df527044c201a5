// Kueue 0.20, TASRejectFalseUnconstrainedTopology: the annotation for unconstrained topology is true or absent. And
// where else annotations of pod templates are checked only with a gate.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "api/kueue/webhooks/admission.h"
#include "base/yaml.h"

namespace berth::api::kueue::false_unconstrained_test {
namespace {

const ObjectGetter kNothing = [](const GroupVersionResource&, std::string_view, std::string_view) { return JsonPtr(); };

struct Kind {
  std::string group, resource;
  std::string object;  // $: where the annotations of a pod are
  std::string path;    // of these, in errors
};
const Kind kKinds[] = {
    {"", "pods", "{metadata: {namespace: ns, labels: {kueue.x-k8s.io/queue-name: q}, annotations: $}}",
     "metadata.annotations"},
    {"batch", "jobs",
     "{metadata: {namespace: ns, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {suspend: true, template: {metadata: "
     "{annotations: $}}}}",
     "spec.template.metadata.annotations"},
    {"leaderworkerset.x-k8s.io", "leaderworkersets",
     "{metadata: {namespace: ns, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {leaderWorkerTemplate: {size: 2, "
     "workerTemplate: {metadata: {annotations: $}}}}}",
     "spec.leaderWorkerTemplate.workerTemplate.metadata.annotations"},
    {"leaderworkerset.x-k8s.io", "leaderworkersets",
     "{metadata: {namespace: ns, labels: {kueue.x-k8s.io/queue-name: q}}, spec: {leaderWorkerTemplate: {size: 2, "
     "leaderTemplate: {metadata: {annotations: $}}, workerTemplate: {}}}}",
     "spec.leaderWorkerTemplate.leaderTemplate.metadata.annotations"}};

Json object(const Kind& kind, std::string_view annotations) {
  std::string text = kind.object;
  text.replace(text.find('$'), 1, annotations);
  return parse_yaml(text).value().front();
}

std::string flag(std::string_view value) {
  return "{kueue.x-k8s.io/podset-unconstrained-topology: '" + std::string(value) + "'}";
}

class FalseUnconstrained : public testing::TestWithParam<Kind> {
 protected:
  std::string refusal(const Json& now, const Json* old = nullptr) {
    return to_string(admission_rules(GetParam().group, GetParam().resource).check(now, old, "", {kNothing, policy}));
  }
  AdmissionPolicy policy = [] {
    AdmissionPolicy all;
    all.manage_pods = all.manage_leader_worker_sets = all.labels.refuse_false_unconstrained = true;
    return all;
  }();
};

INSTANTIATE_TEST_SUITE_P(Kinds, FalseUnconstrained, testing::ValuesIn(kKinds),
                         [](const auto& kind) { return kind.param.resource + std::to_string(kind.index); });

TEST_P(FalseUnconstrained, IsRefusedOnCreation) {
  for (const std::string no : {"false", "0", "F"}) {
    EXPECT_EQ(refusal(object(GetParam(), flag(no))),
              GetParam().path + "[kueue.x-k8s.io/podset-unconstrained-topology]: Invalid value: \"" + no +
                  "\": must be true; without the annotation the pods ask for no places");
  }
  EXPECT_EQ(refusal(object(GetParam(), flag("true"))), "");
  EXPECT_EQ(refusal(object(GetParam(), "{}")), "");
  policy.labels.refuse_false_unconstrained = false;
  EXPECT_EQ(refusal(object(GetParam(), flag("false"))), "");
}

// What was there before the gate was switched on can be changed, stopped and deleted.
TEST_P(FalseUnconstrained, IsRefusedOnUpdatesThatBringIt) {
  const Json no = object(GetParam(), flag("false")), none = object(GetParam(), "{}");
  Json later = no;
  ensure_path(later, {"metadata", "labels", "team"}) = "a";
  EXPECT_EQ(refusal(later, &no), "");
  EXPECT_NE(refusal(no, &none), "");
  EXPECT_EQ(refusal(none, &no), "");
}

// TASTopologySpreading: at the same places.
TEST_P(FalseUnconstrained, SpreadingIsCheckedWithItsGate) {
  const Json alone = object(GetParam(), "{kueue.x-k8s.io/podset-topology-spreading: '{}'}");
  EXPECT_EQ(refusal(alone), "");
  policy.labels.check_spreading = true;
  EXPECT_EQ(refusal(alone), GetParam().path +
                                "[kueue.x-k8s.io/podset-topology-spreading]: Forbidden: may only be set together with "
                                "kueue.x-k8s.io/podset-required-topology");
  EXPECT_EQ(refusal(alone, &alone), "");
}

}  // namespace
}  // namespace berth::api::kueue::false_unconstrained_test
