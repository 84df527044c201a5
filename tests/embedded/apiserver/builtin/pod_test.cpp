#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "embedded/apiserver/builtin/pod_defaults.h"
#include "embedded/apiserver/builtin/pod_resources.h"
#include "embedded/apiserver/builtin/support.h"

namespace berth::apiserver::pod_test {
namespace {

using testing::HasSubstr;

std::string pod_with(std::string_view spec) {
  return R"({"metadata":{"name":"p","namespace":"ns"},"spec":)" + std::string(spec) + "}";
}
std::string container_with(std::string_view members) {
  return pod_with(R"({"containers":[{"name":"c","image":"i",)" + std::string(members) + "}]}");
}

TEST(PullPolicy, FollowsTheTag) {
  const std::pair<const char*, const char*> kCases[] = {
      {"i", "Always"},
      {"i:latest", "Always"},
      {"i:v1", "IfNotPresent"},
      {"reg:5000/i", "Always"},
      {"reg:5000/i:v2", "IfNotPresent"},
      {"i@sha256:abc", "IfNotPresent"},
      {"i:latest@sha256:abc", "Always"},
  };
  for (const auto& [image, policy] : kCases) EXPECT_EQ(default_pull_policy(image), policy) << image;
}

TEST(QosClass, FollowsRequestsAndLimits) {
  const std::pair<const char*, const char*> kCases[] = {
      {R"({"containers":[{}]})", "BestEffort"},
      {R"({"containers":[{"resources":{"requests":{"nvidia.com/gpu":"1"}}}]})", "BestEffort"},
      {R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}]})", "Burstable"},
      {R"({"containers":[{"resources":{"requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"1","memory":"1Gi"}}}]})",
       "Guaranteed"},
      {R"({"containers":[{"resources":{"requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"1","memory":"1Gi"}}},{}]})",
       "Burstable"},
      {R"({"containers":[{"resources":{"requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"2","memory":"1Gi"}}}]})",
       "Burstable"},
      {R"({"resources":{"requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"1","memory":"1Gi"}},"containers":[{}]})",
       "Guaranteed"},
  };
  for (const auto& [spec, expected] : kCases) EXPECT_EQ(qos_class(json(spec)), expected) << spec;
}

TEST(ContainerRequests, CountInitContainersAndSidecars) {
  Json spec = json(
      R"({"containers":[{"resources":{"requests":{"cpu":"1"}}},{"resources":{"requests":{"cpu":"500m"}}}],
    "initContainers":[{"resources":{"requests":{"cpu":"3","memory":"1Gi"}}},
                      {"restartPolicy":"Always","resources":{"requests":{"cpu":"250m"}}},
                      {"resources":{"requests":{"cpu":"2"}}}]})");
  ResourceTotals totals = container_requests(spec);
  EXPECT_EQ(totals.at("cpu").to_string(), "3");
  EXPECT_EQ(totals.at("memory").to_string(), "1Gi");
}

TEST(NewPod, IsPendingWhateverItsStatusSaid) {
  Json pod = Kind("Pod").created(
      R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]},"status":{"phase":"Running"}})");
  EXPECT_EQ(to_string(*find(pod, "status")), R"({"phase":"Pending","qosClass":"BestEffort"})");
  EXPECT_EQ(int_at(pod, {"spec", "priority"}, -1), 0);
  EXPECT_EQ(array_at(pod, {"spec", "tolerations"}).size(), 2U);
  EXPECT_TRUE(bool_at(pod, {"spec", "enableServiceLinks"}));
}

TEST(NewPod, KeepsItsOwnTolerationOfLostNodes) {
  Json pod = Kind("Pod").created(
      pod_with(R"({"tolerations":[{"operator":"Exists"}],"containers":[{"name":"c","image":"i"}]})"));
  EXPECT_EQ(array_at(pod, {"spec", "tolerations"}).size(), 1U);
}

TEST(NewPod, SaysThatItIsGated) {
  Json pod =
      Kind("Pod").created(pod_with(R"({"schedulingGates":[{"name":"g"}],"containers":[{"name":"c","image":"i"}]})"));
  const Json& condition = array_at(pod, {"status", "conditions"}).at(0);
  EXPECT_EQ(string_at(condition, {"reason"}), "SchedulingGated");
  EXPECT_EQ(string_at(condition, {"lastTransitionTime"}), "2026-11-21T09:00:00Z");
}

TEST(PodPriority, ComesFromItsClassOrTheDefault) {
  World world;
  world.add("priorityclasses", R"({"metadata":{"name":"high"},"value":100,"preemptionPolicy":"Never"})");
  world.add(
      "priorityclasses",
      R"({"metadata":{"name":"usual"},"value":7,"globalDefault":true,"preemptionPolicy":"PreemptLowerPriority"})");
  Kind pods("Pod");
  Json pod = pods.created(pod_with(R"({"priorityClassName":"high","containers":[{"name":"c","image":"i"}]})"), world);
  EXPECT_EQ(int_at(pod, {"spec", "priority"}), 100);
  EXPECT_EQ(string_at(pod, {"spec", "preemptionPolicy"}), "Never");
  pod = pods.created(pod_with(R"({"containers":[{"name":"c","image":"i"}]})"), world);
  EXPECT_EQ(int_at(pod, {"spec", "priority"}), 7);
  EXPECT_EQ(string_at(pod, {"spec", "priorityClassName"}), "usual");
  pod = pods.created(
      pod_with(R"({"priorityClassName":"system-node-critical","containers":[{"name":"c","image":"i"}]})"), world);
  EXPECT_EQ(int_at(pod, {"spec", "priority"}), 2'000'001'000);
}

std::string refusal_of(std::string_view spec, const World& world) {
  api::RestResponse refusal;
  Kind("Pod").created(pod_with(spec), world, &refusal);
  return refusal.ok() ? "" : std::string(string_at(refusal.body, {"message"}));
}

TEST(NewPod, IsRefusedForWhatItMayNotHave) {
  World world;
  world.add("priorityclasses", R"({"metadata":{"name":"high"},"value":100})");
  world.add("limitranges", R"({"metadata":{"name":"lr","namespace":"ns"},"spec":{"limits":[
      {"type":"Container","max":{"cpu":"4"},"min":{"cpu":"100m"},"maxLimitRequestRatio":{"cpu":"2"}},{"type":"Pod","max":{"memory":"1Gi"}}]}})");
  const std::pair<const char*, const char*> kCases[] = {
      {R"({"priorityClassName":"nope","containers":[{"name":"c"}]})",
       "pods \"p\" is forbidden: no PriorityClass with name nope was found"},
      {R"({"priorityClassName":"high","priority":5,"containers":[{"name":"c"}]})",
       "the integer value of priority (5) must not be provided"},
      {R"({"runtimeClassName":"kata","containers":[{"name":"c"}]})", "pod rejected: RuntimeClass \"kata\" not found"},
      {R"({"containers":[{"name":"c","resources":{"limits":{"cpu":"8","memory":"1Gi"}}}]})",
       "pods \"p\" is forbidden: maximum cpu usage per Container is 4, but limit is 8"},
      {R"({"containers":[{"name":"c","resources":{"limits":{"cpu":"50m","memory":"1Gi"}}}]})",
       "minimum cpu usage per Container is 100m, but request is 50m"},
      {R"({"containers":[{"name":"c","resources":{"requests":{"cpu":"1"},"limits":{"cpu":"3","memory":"1Gi"}}}]})",
       "cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000"},
      {R"({"containers":[{"name":"c","resources":{"limits":{"cpu":"1","memory":"2Gi"}}}]})",
       "maximum memory usage per Pod is 1Gi, but limit is 2Gi"},
      {R"({"containers":[{"name":"c","resources":{"limits":{"cpu":"1","memory":"1Gi"}}}]})", ""},
  };
  for (const auto& [spec, words] : kCases) {
    std::string message = refusal_of(spec, world);
    if (*words == 0) {
      EXPECT_EQ(message, "") << spec;
    } else {
      EXPECT_THAT(message, HasSubstr(words)) << spec;
    }
  }
}

TEST(NewPod, GetsWhatItsLimitRangeAndRuntimeClassGive) {
  World world;
  world.add("limitranges", R"({"metadata":{"name":"lr","namespace":"ns"},"spec":{"limits":[
      {"type":"Container","default":{"cpu":"2"},"defaultRequest":{"cpu":"500m"}}]}})");
  world.add("runtimeclasses",
            R"({"metadata":{"name":"kata"},"handler":"kata","overhead":{"podFixed":{"cpu":"250m"}},
      "scheduling":{"nodeSelector":{"kata":"yes"},"tolerations":[{"key":"kata","operator":"Exists"}]}})");
  Json pod =
      Kind("Pod").created(pod_with(R"({"runtimeClassName":"kata","containers":[{"name":"c","image":"i"}]})"), world);
  EXPECT_EQ(string_at(pod, {"metadata", "annotations", "kubernetes.io/limit-ranger"}),
            "LimitRanger plugin set: cpu request for container c; cpu limit for container c");
  const Json& container = array_at(pod, {"spec", "containers"})[0];
  EXPECT_EQ(string_at(container, {"resources", "requests", "cpu"}), "500m");
  EXPECT_EQ(string_at(container, {"resources", "limits", "cpu"}), "2");
  EXPECT_EQ(string_at(pod, {"spec", "overhead", "cpu"}), "250m");
  EXPECT_EQ(string_at(pod, {"spec", "nodeSelector", "kata"}), "yes");
  EXPECT_EQ(array_at(pod, {"spec", "tolerations"}).size(), 3U);
}

TEST(PodValidation, NamesTheFieldAndTheRule) {
  const std::pair<std::string, const char*> kCases[] = {
      {pod_with("{}"), "spec.containers: Required value"},
      {container_with(R"("resources":{"limits":{"cpu":"1"},"requests":{"cpu":"2"}})"),
       "spec.containers[0].resources.requests: Invalid value: \"2\": must be less than or equal to cpu limit "
       "of 1"},
      {container_with(R"("resources":{"requests":{"cpu":"-1"}})"),
       "spec.containers[0].resources.requests[cpu]: Invalid value: \"-1\": must be greater than or equal to "
       "0"},
      {container_with(R"("resources":{"limits":{"x.io/gpu":"500m"}})"),
       "resources.limits[x.io/gpu]: Invalid value: \"500m\": must be an integer"},
      {container_with(R"("resources":{"requests":{"x.io/gpu":"1"}})"),
       "resources.limits: Required value: Limit must be set for non overcommitable resources"},
      {container_with(R"("resources":{"requests":{"x.io/gpu":"1"},"limits":{"x.io/gpu":"2"}})"),
       "must be equal to x.io/gpu limit of 2"},
      {container_with(R"("resources":{"requests":{"gpus":"1"}})"),
       "must be a standard resource type or fully qualified"},
      {container_with(R"("resources":{"limits":{"hugepages-2Mi":"4Mi"}})"), "HugePages require cpu or memory"},
      {container_with(R"("ports":[{"containerPort":0}])"), "ports[0].containerPort: Required value"},
      {container_with(R"("ports":[{"containerPort":70000}])"), "must be between 1 and 65535, inclusive"},
      {container_with(R"("env":[{"name":"a=b"}])"), "env[0].name: Invalid value"},
      {container_with(R"("env":[{"name":"a","valueFrom":{}}])"),
       "env[0].valueFrom: Invalid value: \"\": must specify one of"},
      {container_with(R"("volumeMounts":[{"name":"v","mountPath":"/x"}])"), "volumeMounts[0].name: Not found: \"v\""},
      {container_with(R"("livenessProbe":{})"), "livenessProbe: Required value: must specify a handler type"},
      {container_with(R"("livenessProbe":{"exec":{"command":["x"]},"successThreshold":2})"),
       "livenessProbe.successThreshold: Invalid value: 2: must be 1"},
      {container_with(R"("imagePullPolicy":"Sometimes")"), "imagePullPolicy: Unsupported value: \"Sometimes\""},
      {container_with(R"("resources":{"claims":[{"name":"x"}]})"), "resources.claims[0]: Not found: \"x\""},
      {pod_with(R"({"containers":[{"name":"c","image":"i"},{"name":"c","image":"i"}]})"),
       "spec.containers[1].name: Duplicate value: \"c\""},
      {pod_with(R"({"containers":[{"name":"Bad","image":"i"}]})"),
       "spec.containers[0].name: Invalid value: \"Bad\": a lowercase RFC 1123 label"},
      {pod_with(R"({"containers":[{"name":"c"}]})"), "spec.containers[0].image: Required value"},
      {pod_with(R"({"restartPolicy":"Once","containers":[{"name":"c","image":"i"}]})"),
       "spec.restartPolicy: Unsupported value: \"Once\""},
      {pod_with(R"({"nodeName":"n","schedulingGates":[{"name":"g"}],"containers":[{"name":"c","image":"i"}]})"),
       "spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared"},
      {pod_with(R"({"activeDeadlineSeconds":0,"containers":[{"name":"c","image":"i"}]})"),
       "must be between 1 and 2147483647, inclusive"},
      {pod_with(
           R"({"tolerations":[{"key":"k","operator":"Exists","value":"v"}],"containers":[{"name":"c","image":"i"}]})"),
       "value must be empty when `operator` is 'Exists'"},
      {pod_with(
           R"({"volumes":[{"name":"v","emptyDir":{},"hostPath":{"path":"/"}}],"containers":[{"name":"c","image":"i"}]})"),
       "may not specify more than 1 volume type"},
      {pod_with(
           R"({"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":""}}],"containers":[{"name":"c","image":"i"}]})"),
       "spec.volumes[0].persistentVolumeClaim.claimName: Required value"},
      {pod_with(
           R"({"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
          {"matchExpressions":[{"key":"k","operator":"In"}]}]}}},"containers":[{"name":"c","image":"i"}]})"),
       "nodeSelectorTerms[0].matchExpressions[0].values: Required value: must be specified when `operator` "
       "is 'In' or 'NotIn'"},
      {pod_with(
           R"({"topologySpreadConstraints":[{"maxSkew":0,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule"}],
          "containers":[{"name":"c","image":"i"}]})"),
       "spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero"},
      {pod_with(R"({"nodeSelector":{"a b":"c"},"containers":[{"name":"c","image":"i"}]})"),
       "spec.nodeSelector: Invalid value: \"a b\""},
  };
  for (const auto& [pod, words] : kCases) EXPECT_THAT(Kind("Pod").create_errors(pod), HasSubstr(words)) << pod;
  EXPECT_EQ(Kind("Pod").create_errors(container_with(R"("resources":{"limits":{"cpu":"1","x.io/gpu":"1"}})")), "");
}

class PodUpdate : public testing::Test {
 protected:
  static Json pod(std::string_view spec) { return Kind("Pod").created(pod_with(spec)); }
  static std::string errors(Json next, const Json& old) { return Kind("Pod").update_errors(next, old); }
};

TEST_F(PodUpdate, MayChangeImagesAndAddTolerations) {
  Json old = pod(R"({"containers":[{"name":"c","image":"i"}],"activeDeadlineSeconds":10})");
  Json next = old;
  next.as_object()["spec"].as_object()["containers"].as_array()[0].as_object()["image"] = "j";
  next.as_object()["spec"].as_object()["tolerations"].as_array().push_back(json(R"({"key":"t","operator":"Exists"})"));
  ensure_path(next, {"spec", "activeDeadlineSeconds"}) = 5;
  EXPECT_EQ(errors(next, old), "");
  ensure_path(next, {"spec", "activeDeadlineSeconds"}) = 20;
  EXPECT_THAT(errors(next, old), HasSubstr("must be less than or equal to previous value"));
}

TEST_F(PodUpdate, MayNotChangeAnythingElse) {
  Json old = pod(R"({"containers":[{"name":"c","image":"i"}]})");
  Json next = old;
  ensure_path(next, {"spec", "nodeSelector"}) = json(R"({"k":"v"})");
  EXPECT_THAT(errors(next, old), HasSubstr("spec: Forbidden: pod updates may not change fields other than"));
  EXPECT_THAT(errors(next, old), HasSubstr("changed: spec.nodeSelector"));
  next = old;
  next.as_object()["spec"].as_object()["containers"].as_array().push_back(json(R"({"name":"d","image":"i"})"));
  EXPECT_THAT(errors(next, old), HasSubstr("pod updates may not add or remove containers"));
  next = old;
  next.as_object()["spec"].as_object()["tolerations"].as_array().clear();
  EXPECT_EQ(errors(next, old), "");  // the server's own tolerations come back
  Json tolerant = pod(R"({"tolerations":[{"key":"t","operator":"Exists"}],"containers":[{"name":"c","image":"i"}]})");
  next = tolerant;
  next.as_object()["spec"].as_object()["tolerations"].as_array().clear();
  EXPECT_THAT(errors(next, tolerant), HasSubstr("existing toleration can not be modified"));
}

TEST_F(PodUpdate, MayNarrowTheNodesWhileGated) {
  Json old = pod(
      R"({"schedulingGates":[{"name":"g"}],"nodeSelector":{"k":"v"},"containers":[{"name":"c","image":"i"}],
    "affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
      {"matchExpressions":[{"key":"a","operator":"Exists"}]}]}}}})");
  Json next = old;
  ensure_path(next, {"spec", "nodeSelector", "k2"}) = "v2";
  Json& terms = ensure_path(next, {"spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution",
                                   "nodeSelectorTerms"});
  terms.as_array()[0].as_object()["matchExpressions"].as_array().push_back(json(R"({"key":"b","operator":"Exists"})"));
  erase_path(next, {"spec", "schedulingGates"});
  EXPECT_EQ(errors(next, old), "");

  ensure_path(next, {"spec", "nodeSelector", "k"}) = "w";
  EXPECT_THAT(errors(next, old), HasSubstr("spec.nodeSelector: Invalid value"));
  next = old;
  ensure_path(next, {"spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution",
                     "nodeSelectorTerms"}) = json(R"([{"matchExpressions":[{"key":"b","operator":"Exists"}]}])");
  EXPECT_THAT(errors(next, old), HasSubstr("only additions are allowed (no mutations or deletions)"));
  next = old;
  ensure_path(next, {"spec", "schedulingGates"}).as_array().push_back(json(R"({"name":"new"})"));
  EXPECT_THAT(errors(next, old), HasSubstr("spec.schedulingGates[1].name: Forbidden: only deletion is "
                                           "allowed, but found new scheduling gate 'new'"));
}

TEST_F(PodUpdate, KeepsWhatTheServerAddedWhenTheManifestIsWrittenAgain) {
  Json old = pod(R"({"containers":[{"name":"c","image":"i"}]})");
  EXPECT_EQ(errors(json(pod_with(R"({"containers":[{"name":"c","image":"i"}]})")), old), "");
}

TEST_F(PodUpdate, OfTheStatusDoesNotReviveContainersThatEndedForGood) {
  Json old = pod(R"({"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]})");
  ensure_path(old, {"status", "containerStatuses"}) = json(R"([{"name":"c","state":{"terminated":{"exitCode":1}}}])");
  Json next = old;
  ensure_path(next, {"status", "containerStatuses"}) = json(R"([{"name":"c","state":{"running":{}}}])");
  EXPECT_THAT(
      Kind("Pod").update_errors(next, old, "status"),
      HasSubstr("status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state"));
  EXPECT_EQ(Kind("Pod").update_errors(old, old, "status"), "");
}

}  // namespace
}  // namespace berth::apiserver::pod_test
