// Which requests of a pod count against quota (Configuration: resources).
#include "engine/counted_requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/support/scenario.h"

namespace berth::engine::counted_requests_test {
namespace {

using api::config::QuotaResources;
using test::ClusterQueueBuilder;
using test::NodeBuilder;
using test::quantity;
using test::Scenario;
using test::WorkloadBuilder;

api::ResourceList list(const std::vector<std::pair<std::string, std::string>>& entries) {
  api::ResourceList out;
  for (const auto& [name, amount] : entries) out.emplace(name, quantity(amount));
  return out;
}

std::string text(const api::ResourceList& list) {
  std::string out;
  for (const auto& [name, amount] : list) out += (out.empty() ? "" : " ") + name + "=" + amount.to_string();
  return out;
}

constexpr bool kRetain = false, kReplace = true;

TEST(CountedRequests, AreTheRequestsByDefault) {
  EXPECT_FALSE(changes_requests({}));
  EXPECT_EQ(text(counted_requests(list({{"cpu", "1500m"}, {"memory", "1Gi"}}), {})), "cpu=1500m memory=1Gi");
}

TEST(CountedRequests, FollowTheRules) {
  const struct {
    std::string about;
    QuotaResources rules;
    api::ResourceList asked;
    std::string counted;
  } cases[] = {
      {"excluded by prefix",
       {{"example.com/", "mem"}, {}},
       list({{"cpu", "1"}, {"example.com/a", "2"}, {"memory", "1Gi"}}),
       "cpu=1"},
      {"excluded before it is transformed",
       {{"example.com/"}, {{"example.com/a", kReplace, "", {{"credits", quantity("3")}}}}},
       list({{"cpu", "1"}, {"example.com/a", "2"}}),
       "cpu=1"},
      {"an output may have an excluded prefix",
       {{"example.com/"}, {{"cpu", kReplace, "", {{"example.com/credits", quantity("3")}}}}},
       list({{"cpu", "2"}}),
       "example.com/credits=6"},
      {"replaced",
       {{}, {{"mig", kReplace, "", {{"slices", quantity("1")}, {"gpumem", quantity("5Gi")}}}}},
       list({{"mig", "2"}}),
       "gpumem=10Gi slices=2"},
      {"retained",
       {{}, {{"cpu", kRetain, "", {{"credits", quantity("500m")}}}}},
       list({{"cpu", "3"}}),
       "cpu=3 credits=1500m"},
      {"parts of a unit count as parts",
       {{}, {{"cpu", kReplace, "", {{"credits", quantity("10")}}}}},
       list({{"cpu", "1500m"}}),
       "credits=15"},
      {"a part of a unit times a thousand",
       {{}, {{"cpu", kReplace, "", {{"credits", quantity("1000")}}}}},
       list({{"cpu", "300m"}}),
       "credits=300"},
      {"parts of parts",
       {{}, {{"cpu", kReplace, "gpu", {{"credits", quantity("1m")}}}}},
       list({{"cpu", "1500m"}, {"gpu", "500m"}}),
       "credits=750u gpu=500m"},
      {"rounded up to billionths",
       {{}, {{"cpu", kReplace, "", {{"credits", quantity("1n")}}}}},
       list({{"cpu", "1m"}}),
       "credits=1n"},
      {"multiplied by what is excluded",
       {{"example.com/"}, {{"cpu", kReplace, "example.com/a", {{"credits", quantity("10")}}}}},
       list({{"cpu", "2"}, {"example.com/a", "2"}}),
       "credits=40"},
      {"sums saturate",
       {{}, {{"cpu", kReplace, "gpu", {{"credits", quantity("9E")}}}}},
       list({{"cpu", "9E"}, {"gpu", "9E"}}),
       "credits=1000000000E gpu=9E"},
      {"dropped", {{}, {{"cpu", kReplace, "", {}}}}, list({{"cpu", "3"}, {"memory", "1"}}), "memory=1"},
      {"summed with what is asked for",
       {{}, {{"mig", kReplace, "", {{"cpu", quantity("2")}}}}},
       list({{"cpu", "1"}, {"mig", "3"}}),
       "cpu=7"},
      {"summed over inputs",
       {{}, {{"a", kReplace, "", {{"x", quantity("1")}}}, {"b", kReplace, "", {{"x", quantity("10")}}}}},
       list({{"a", "2"}, {"b", "3"}}),
       "x=32"},
      {"multiplied",
       {{}, {{"gpumem", kReplace, "gpu", {{"total", quantity("1")}}}}},
       list({{"gpu", "2"}, {"gpumem", "1024"}}),
       "gpu=2 total=2048"},
      {"not multiplied by what is not asked for",
       {{}, {{"gpumem", kReplace, "gpu", {{"total", quantity("1")}}}}},
       list({{"gpumem", "8"}}),
       "total=8"},
      {"never negative", {{}, {{"a", kReplace, "", {{"x", quantity("-2")}}}}}, list({{"a", "1"}}), "x=0"},
      {"a negative output takes nothing from others",
       {{}, {{"a", kRetain, "", {{"x", quantity("-2")}}}}},
       list({{"a", "1"}, {"x", "5"}}),
       "a=1 x=5"},
      {"nor does a negative request",
       {{}, {{"a", kRetain, "", {{"x", quantity("2")}}}}},
       list({{"a", "-1"}, {"x", "5"}}),
       "a=0 x=5"},
      {"nothing asked for gives nothing",
       {{}, {{"a", kReplace, "", {{"x", quantity("2")}}}}},
       list({{"b", "1"}}),
       "b=1"},
  };
  for (const auto& c : cases) {
    EXPECT_TRUE(changes_requests(c.rules)) << c.about;
    EXPECT_EQ(text(counted_requests(c.asked, c.rules)), c.counted) << c.about;
  }
}

TEST(CountedRequests, AreWhatQuotaIsTakenOf) {
  Options o;
  o.resources.exclude_prefixes = {"example.com/"};
  o.resources.transformations = {{"cpu", true, "", {{"credits", quantity("10")}}}};
  Scenario s(o);
  s.give(test::flavor("f"));
  s.give(ClusterQueueBuilder("cq").group("credits", {{"f", "50"}}));
  s.give(test::local_queue("q", "cq"));
  s.give(WorkloadBuilder("fits").requests(2, R"({"cpu":"2","example.com/x":"1"})"));
  s.give(WorkloadBuilder("waits").requests(1, R"({"cpu":"2"})").created(test::at(1)));
  s.run();
  ASSERT_EQ(s.state("fits"), "Admitted");
  EXPECT_EQ(text(s.workload("fits").status.admission->pod_set_assignments.at(0).resource_usage), "credits=40");
  EXPECT_EQ(s.state("waits"), "Pending");
  ASSERT_EQ(s.workload("waits").status.resource_requests.size(), 1u);
  EXPECT_EQ(text(s.workload("waits").status.resource_requests[0].resources), "credits=20");
  s.restart();
  s.run();
  s.finish("fits");
  s.run();
  EXPECT_EQ(s.state("waits"), "Admitted");
}

TEST(CountedRequests, DoNotChangeWhatNodesMustHave) {
  Options o;
  o.resources.transformations = {{"cpu", true, "", {{"credits", quantity("1")}}}};
  Scenario s(o);
  s.give(test::topology("t"));
  s.give(test::placed_flavor("f", "t"));
  s.give(ClusterQueueBuilder("cq").group("credits", {{"f", "100"}}));
  s.give(test::local_queue("q", "cq"));
  for (const char* node : {"n1", "n2"}) s.give(NodeBuilder(node));  // 4 cpu each
  s.give(WorkloadBuilder("one").pods(2, "3").required("rack"));
  s.run();
  EXPECT_EQ(s.places_of("one"), "n1:1 n2:1");
}

TEST(QuotaCheckStrategy, DecidesAboutResourcesThatTheQueueDoesNotCover) {
  for (const bool ignore : {false, true}) {
    Options o;
    o.resources.ignore_undeclared = ignore;
    Scenario s(o);
    s.give(test::flavor("f"));
    s.give(ClusterQueueBuilder("cq").cpu({{"f", "4"}}));
    s.give(test::local_queue("q", "cq"));
    s.give(WorkloadBuilder("one").requests(1, R"({"cpu":"1","memory":"1Gi"})"));
    s.give(WorkloadBuilder("big").requests(1, R"({"cpu":"5","memory":"1Gi"})"));
    s.run();
    EXPECT_EQ(s.state("one"), ignore ? "Admitted" : "Pending");
    EXPECT_EQ(s.state("big"), "Pending");
    if (!ignore) continue;
    EXPECT_EQ(text(s.workload("one").status.admission->pod_set_assignments.at(0).resource_usage), "cpu=1");
  }
}

}  // namespace
}  // namespace berth::engine::counted_requests_test
