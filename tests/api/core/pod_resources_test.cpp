#include "api/core/pod_resources.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace berth::api::pod_resources_test {
namespace {

std::string requests(std::string_view spec) { return to_string(encode_resource_list(pod_requests(*parse_json(spec)))); }

TEST(PodRequests, AddContainersInitContainersSidecarsOverheadAndPodLevel) {
  const struct {
    std::string what, spec, total;
  } cases[] = {
      {"containers add up",
       R"({"containers":[{"resources":{"requests":{"cpu":"1","memory":"1Gi"}}},{"resources":{"requests":{"cpu":"500m"}}}]})",
       R"({"cpu":"1500m","memory":"1Gi"})"},
      {"the largest init container counts when it is above",
       R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}],"initContainers":[{"resources":{"requests":{"cpu":"3"}}},)"
       R"({"resources":{"requests":{"cpu":"2","memory":"1Mi"}}}]})",
       R"({"cpu":"3","memory":"1Mi"})"},
      {"sidecars run beside later init containers and the main ones",
       R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}],"initContainers":[{"resources":{"requests":{"cpu":"2"}}},)"
       R"({"restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}},{"resources":{"requests":{"cpu":"2"}}}]})",
       R"({"cpu":"3"})"},
      {"a sidecar before nothing adds to the containers",
       R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}],"initContainers":[{"restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}}]})",
       R"({"cpu":"2"})"},
      {"pod-level resources replace the sum, overhead comes on top",
       R"({"containers":[{"resources":{"requests":{"cpu":"1","example.com/gpu":"2"}}}],"resources":{"requests":{"cpu":"5","example.com/gpu":"9"}},)"
       R"("overhead":{"cpu":"250m"}})",
       R"({"cpu":"5250m","example.com/gpu":"2"})"},
      {"numbers are quantities", R"({"containers":[{"resources":{"requests":{"cpu":2}}}]})", R"({"cpu":"2"})"},
      {"nothing asked", R"({"containers":[{}]})", "{}"},
  };
  for (const auto& c : cases) EXPECT_EQ(requests(c.spec), c.total) << c.what;
}

TEST(PodRequests, NegativeAmountsPayForNothing) {
  const struct {
    std::string what, spec, total;
  } cases[] = {
      {"overhead", R"({"containers":[{"resources":{"requests":{"cpu":"4"}}}],"overhead":{"cpu":"-100"}})",
       R"({"cpu":"4"})"},
      {"the pod itself",
       R"({"containers":[{"resources":{"requests":{"cpu":"4"}}}],"resources":{"requests":{"cpu":"-100"}}})",
       R"({"cpu":"4"})"},
      {"a pod that says less than its containers",
       R"({"containers":[{"resources":{"requests":{"cpu":"4"}}}],"resources":{"requests":{"cpu":"1"}}})",
       R"({"cpu":"4"})"},
      {"another container",
       R"({"containers":[{"resources":{"requests":{"cpu":"4"}}},{"resources":{"requests":{"cpu":"-3"}}}]})",
       R"({"cpu":"4"})"},
      {"a sidecar",
       R"({"containers":[{"resources":{"requests":{"cpu":"4"}}}],"initContainers":[{"restartPolicy":"Always","resources":{"requests":{"cpu":-3}}}]})",
       R"({"cpu":"4"})"},
      {"nothing else", R"({"overhead":{"cpu":"-100"}})", R"({"cpu":"0"})"},
  };
  for (const auto& c : cases) EXPECT_EQ(requests(c.spec), c.total) << c.what;
}

struct Container {
  int cpu;
  bool sidecar;
};

// The highest sum of requests at any moment, found by a simulation of the pod's start.
int naive_peak(const std::vector<Container>& init, const std::vector<int>& main) {
  int sidecars = 0;
  int peak = 0;
  for (const Container& c : init) {
    peak = std::max(peak, sidecars + c.cpu);
    if (c.sidecar) sidecars += c.cpu;
  }
  int running = sidecars;
  for (const int cpu : main) running += cpu;
  return std::max(peak, running);
}

RC_GTEST_PROP(PodRequests, IsThePeakOfThePodsStart, ()) {
  const auto init = *rc::gen::container<std::vector<Container>>(
      rc::gen::construct<Container>(rc::gen::inRange(0, 9), rc::gen::arbitrary<bool>()));
  const auto main = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 9));
  JsonArray inits;
  JsonArray mains;
  const auto requests = [](int cpu) {
    return JsonObject{{"resources", JsonObject{{"requests", JsonObject{{"cpu", std::to_string(cpu)}}}}}};
  };
  for (const Container& c : init) {
    inits.push_back(requests(c.cpu));
    if (c.sidecar) inits.back().get_object()["restartPolicy"] = "Always";
  }
  for (const int cpu : main) mains.push_back(requests(cpu));
  const ResourceList total =
      pod_requests(JsonObject{{"initContainers", std::move(inits)}, {"containers", std::move(mains)}});
  const auto cpu = total.find("cpu");
  RC_ASSERT((cpu == total.end() ? 0 : cpu->second.value()) == naive_peak(init, main));
}

TEST(ResourceLists, SayWhichEntryIsWrong) {
  EXPECT_EQ(decode_resource_list(*parse_json(R"({"cpu":"1x"})")).error().message,
            "cpu: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  EXPECT_FALSE(decode_resource_list(*parse_json(R"({"cpu":true})")));
  EXPECT_TRUE(decode_resource_list(nullptr)->empty());
}

std::vector<LimitRangeItem> limit_range() {
  return decode_limit_range(*parse_json(
      R"({"spec":{"limits":[{"type":"Container","default":{"cpu":"2","memory":"1Gi"},"defaultRequest":{"cpu":"1"},"max":{"cpu":"4"},)"
      R"("min":{"cpu":"100m"}},{"type":"Pod","max":{"cpu":"5"}}]}})"));
}

TEST(AdjustPodSpec, FillsInAsPodCreationDoes) {
  const Json spec = *parse_json(
      R"({"containers":[{},{"resources":{"limits":{"cpu":"3"}}}],"initContainers":[{"resources":{"requests":{"cpu":"4"}}}]})");
  const Json adjusted = adjust_pod_spec(spec, limit_range(), *parse_json(R"({"cpu":"10m"})"));
  EXPECT_EQ(
      canonical_json(adjusted),
      R"({"containers":[{"resources":{"limits":{"cpu":"2","memory":"1Gi"},"requests":{"cpu":"1","memory":"1Gi"}}},)"
      R"({"resources":{"limits":{"cpu":"3","memory":"1Gi"},"requests":{"cpu":"3","memory":"1Gi"}}}],)"
      R"("initContainers":[{"resources":{"limits":{"cpu":"2","memory":"1Gi"},"requests":{"cpu":"4","memory":"1Gi"}}}],)"
      R"("overhead":{"cpu":"10m"}})");
}

TEST(AdjustPodSpec, KeepsWhatIsThereAndAddsNothingWithoutCause) {
  const Json spec = *parse_json(R"({"containers":[{"name":"a"}],"overhead":{"cpu":"1"}})");
  EXPECT_TRUE(json_equal(adjust_pod_spec(spec, {}, *parse_json(R"({"cpu":"10m"})")), spec));
  const Json pod_level = adjust_pod_spec(*parse_json(R"({"resources":{"limits":{"cpu":"4"}}})"), {}, nullptr);
  EXPECT_EQ(string_at(pod_level, {"resources", "requests", "cpu"}), "4");
}

TEST(AdjustPodSpec, NegativeDefaultsPayForNothing) {
  const auto limits = decode_limit_range(*parse_json(
      R"({"spec":{"limits":[{"type":"Container","default":{"memory":"-1Gi"},"defaultRequest":{"cpu":"-100"}}]}})"));
  const Json adjusted = adjust_pod_spec(*parse_json(R"({"containers":[{},{"resources":{"requests":{"cpu":"4"}}}]})"),
                                        limits, *parse_json(R"({"cpu":"-50"})"));
  EXPECT_EQ(pod_requests(adjusted).at("cpu").to_string(), "4");
  EXPECT_EQ(pod_requests(adjusted).at("memory").to_string(), "0");
}

TEST(RequestsAboveLimits, NamesContainersAndThePod) {
  const Json spec = *parse_json(
      R"({"containers":[{"resources":{"requests":{"cpu":"3"},"limits":{"cpu":"2"}}},{"resources":{"requests":{"cpu":"50m"}}}],)"
      R"("resources":{"requests":{"memory":"2Gi"},"limits":{"memory":"1Gi"}}})");
  EXPECT_EQ(to_string(requests_above_limits(spec, "spec")),
            R"([spec.containers[0]: Invalid value: ["cpu"]: requests must not exceed its limits, )"
            R"(spec: Invalid value: ["memory"]: requests must not exceed its limits])");
  EXPECT_TRUE(
      requests_above_limits(*parse_json(R"({"containers":[{"resources":{"requests":{"cpu":"9"}}}]})"), "spec").empty());
}

TEST(OutsideLimitRanges, NamesWhatIsOutOfBounds) {
  const Json spec = *parse_json(
      R"({"containers":[{"resources":{"requests":{"cpu":"3"},"limits":{"cpu":"2"}}},{"resources":{"requests":{"cpu":"50m"}}},)"
      R"({"resources":{"limits":{"cpu":"8"}}},{"resources":{"requests":{"cpu":"4"}}}]})");
  EXPECT_EQ(
      to_string(outside_limit_ranges(spec, limit_range(), "spec")),
      R"([spec.containers[1].resources.requests: Invalid value: ["cpu"]: must not be below the LimitRange minimum, )"
      R"(spec.containers[2].resources.limits: Invalid value: ["cpu"]: must not be above the LimitRange maximum, )"
      R"(spec: Invalid value: ["cpu"]: must not be above the LimitRange maximum])");
  EXPECT_TRUE(outside_limit_ranges(*parse_json(R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}]})"),
                                   limit_range(), "spec")
                  .empty());
}

TEST(HostPorts, OfContainersAndInitContainersCountOnceEach) {
  const Json spec = parse_json(R"({
    "containers": [{"ports": [{"containerPort": 80, "hostPort": 80}, {"containerPort": 81}]},
                   {"ports": [{"hostPort": 53, "protocol": "UDP"}, {"hostPort": 80, "protocol": "TCP"}]}],
    "initContainers": [{"ports": [{"hostPort": 9}]}]})")
                        .value();
  const ResourceList expected{
      {"hostPort/TCP/80", Quantity::of(1)}, {"hostPort/TCP/9", Quantity::of(1)}, {"hostPort/UDP/53", Quantity::of(1)}};
  EXPECT_EQ(host_ports(spec), expected);
  EXPECT_TRUE(host_ports(parse_json("{}").value()).empty());
}

}  // namespace
}  // namespace berth::api::pod_resources_test
