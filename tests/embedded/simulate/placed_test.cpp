// Scenarios: expectations of topology placement (`placed:`), and their text form.
#include "embedded/simulate/placed.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/kueue/types.h"
#include "base/yaml.h"
#include "embedded/simulate/match.h"
#include "embedded/simulate/placement_words.h"

namespace berth::simulate::placed_test {
namespace {

Json yaml(const std::string& text) { return parse_yaml(text).value().front(); }

std::vector<Json> nodes() {
  std::vector<Json> all;
  for (const char* rack : {"r1", "r2"}) {
    for (const char* n : {"n1", "n2"}) {
      const std::string name = std::string(rack) + "-" + n;
      all.push_back(
          yaml("{metadata: {name: " + name + ", labels: {rack: " + rack + ", kubernetes.io/hostname: " + name + "}}}"));
    }
  }
  return all;
}

// A workload of job j that is assigned these numbers of pods on hosts, such as "{r1-n1: 2, r1-n2: 1}".
Json workload(const std::string& counts) {
  Json object = yaml(
      "{metadata: {name: w, namespace: default, ownerReferences: [{kind: Job, name: j, controller: true}]}, "
      "spec: {podSets: "
      "[{name: main, count: 3, template: {}}]}, status: {admission: {clusterQueue: q, podSetAssignments: "
      "[{name: main}]}}}");
  JsonArray slices;
  const Json places = yaml(counts);
  for (const auto& [host, count] : places.as_object()) {
    slices.push_back(JsonObject{{"domainCount", 1},
                                {"podCounts", JsonObject{{"universal", count}}},
                                {"valuesPerLevel", JsonArray{JsonObject{{"universal", host}}}}});
  }
  if (!slices.empty()) {
    ensure_path(object.at_pointer("/status/admission/podSetAssignments/0"), {"topologyAssignment"}) =
        JsonObject{{"levels", JsonArray{"kubernetes.io/hostname"}}, {"slices", std::move(slices)}};
  }
  return object;
}
Json pod(const std::string& name, const std::string& on) {
  return yaml("{metadata: {name: " + name +
              ", namespace: default, labels: {batch.kubernetes.io/job-name: j}}, spec: {nodeName: " + on +
              "}, status: {phase: Running}}");
}

std::string check(const std::string& expectation, const Json& workload, const std::vector<Json>& pods) {
  const auto expected = parse_placed(yaml(expectation), "placed");
  if (!expected) return expected.error().message;
  std::string out;
  for (const auto& difference : placement_differences(*expected, {workload}, nodes(), pods))
    out += (out.empty() ? "" : "; ") + difference;
  return out;
}

TEST(Placed, HoldsWhenPlacesAndPodsAreAsExpected) {
  const Json w = workload("{r1-n1: 2, r1-n2: 1}");
  EXPECT_EQ(check("{job: j, domains: {rack: 1, kubernetes.io/hostname: 2}, on: {rack: [r1]}, pods: 3}", w,
                  {pod("a", "r1-n1"), pod("b", "r1-n1"), pod("c", "r1-n2")}),
            "");
  EXPECT_EQ(check("{job: j, assigned: false}", workload("{}"), {}), "");
}

TEST(Placed, SaysWhatIsDifferent) {
  const Json w = workload("{r1-n1: 2, r2-n2: 1}");
  EXPECT_EQ(check("{job: j, domains: {rack: 1}}", w, {}), "its places are in 2 of rack (r1, r2), expected 1");
  EXPECT_EQ(check("{job: j, on: {rack: [r1]}}", w, {}), "its places are in rack [r1, r2], expected [r1]");
  EXPECT_EQ(check("{job: j, pods: 2}", w, {pod("a", "r1-n1")}), "1 of its pods hold nodes, expected 2");
  EXPECT_EQ(check("{job: j}", w, {pod("a", "r1-n2")}), "its pod a is on r1-n2, outside its places");
  EXPECT_EQ(check("{job: j}", w, {pod("a", "r2-n2"), pod("b", "r2-n2")}),
            "its pod b is on r2-n2, one too many for that place");
  EXPECT_EQ(check("{job: j, assigned: false}", w, {}), "it has places, expected none");
  EXPECT_EQ(check("{job: j}", workload("{}"), {}), "it has no places");
  EXPECT_EQ(check("{job: other}", w, {}), "it has no workload");
  EXPECT_EQ(check("{job: j, domains: {rack: 1}}", workload("{gone: 1}"), {}),
            "it is placed on gone, and there is no such node");
}

TEST(Placed, RefusesWhatItDoesNotKnow) {
  EXPECT_NE(check("{job: j, racks: 1}", workload("{}"), {}).find("unknown field \"racks\""), std::string::npos);
  EXPECT_EQ(check("{pods: 1}", workload("{}"), {}), "placed.job: is missing");
  EXPECT_EQ(check("{job: j, domains: {rack: one}}", workload("{}"), {}), "placed.domains.rack: expected a number");
  EXPECT_EQ(check("{job: j, on: {rack: r1}}", workload("{}"), {}), "placed.on.rack: expected a list of names");
}

TEST(Placed, IsInformedInWords) {
  const auto rack_of = [](std::string_view host) { return std::string(host.substr(0, host.find('-'))); };
  const auto decoded = [](const std::string& counts) { return api::kueue::decode_workload(workload(counts)).value(); };
  EXPECT_EQ(describe_places(decoded("{r1-n1: 2, r1-n2: 1, r10-n1: 1, r2-n1: 4}"), rack_of),
            "r1 (3 pods on 2 nodes), r2 (4 pods on 1 node), r10 (1 pod on 1 node)");
  EXPECT_EQ(describe_places(decoded("{r1-n1: 2, r2-n1: 1, r3-n1: 2}"), rack_of),
            "r1, r3 (2 pods on 1 node each), r2 (1 pod on 1 node)");
  EXPECT_EQ(describe_places(decoded("{r1-n1: 2}"), [](std::string_view) { return std::string(); }), "r1-n1 (2 pods)");
  EXPECT_EQ(describe_places(decoded("{}"), rack_of), "");
  EXPECT_EQ(describe_move(decoded("{r1-n1: 2, r1-n2: 1}"), decoded("{r1-n2: 1, r1-n3: 2}")),
            "2 pods from r1-n1 to r1-n3");
  EXPECT_EQ(describe_move(decoded("{r1-n1: 2}"), decoded("{r1-n1: 2}")), "");
  EXPECT_EQ(describe_move(decoded("{r1-n1: 2}"), decoded("{}")), "") << "it gave its places back";
}

TEST(Match, EntriesOfAListCanBeAbsent) {
  const Json actual = yaml("{conditions: [{type: A, status: 'True'}]}");
  EXPECT_TRUE(differences(yaml("{conditions: [{type: B, absent: true}]}"), actual, "").empty());
  EXPECT_EQ(differences(yaml("{conditions: [{type: A, absent: true}]}"), actual, "").size(), 1u);
}

}  // namespace
}  // namespace berth::simulate::placed_test
