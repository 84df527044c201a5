// Whatever changes in whatever order, what Supply says in small steps is what one says that sees only the end.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>

#include "jobs/devices/cluster.h"
#include "jobs/devices/supply.h"

namespace berth::jobs::devices::supply_random_test {
namespace {

constexpr int kWorlds = 1'000, kSteps = 60;

class Changes {
 public:
  explicit Changes(std::uint32_t seed) : random_(seed) {
    for (int i = 0; i < 4; ++i) {
      api::DeviceRequest request;
      request.device_class = i % 2 == 0 ? "a" : "b";
      if (i >= 2) request.selectors = {"device.attributes['d'].big"};
      requests_.push_back({"r", request, {}});
    }
    give_classes();
    for (const std::string node : {"n0", "n1", "n2"}) {
      nodes_[node] = {{"zone", "z0"}};
      steps_.set_node(node, nodes_[node]);
    }
  }

  void step() {
    const std::string node = "n" + std::to_string(draw(3)), uid = "c" + std::to_string(draw(6));
    switch (draw(10)) {
      case 0: {
        const api::StringMap labels{{"zone", "z" + std::to_string(draw(2))}};
        nodes_[node] = labels;
        return steps_.set_node(node, labels);
      }
      case 1:
        nodes_.erase(node);
        return steps_.remove_node(node);
      case 2:
      case 3:
        give_slice();
        return steps_.slices_changed();
      case 4:
        cluster_.slices.erase("s" + std::to_string(draw(4)));
        return steps_.slices_changed();
      case 5:
        give_classes();
        return steps_.classes_changed();
      case 6: {
        const Kind kind = *kind_of(requests_[draw(4)], true);
        ++users_[kind.name];
        return steps_.use(kind);
      }
      case 7: {
        const Kind kind = *kind_of(requests_[draw(4)], true);
        if (users_[kind.name] == 0 || draw(2) == 0) return;
        --users_[kind.name];
        return steps_.unuse(kind.name);
      }
      case 8:
        claims_.erase(uid);
        return steps_.remove_claim(uid);
      default:
        give_claim(uid);
    }
  }

  // `said`: by small steps so far.
  void hear() { hear(steps_, said_nodes_, said_claims_); }

  void check() {
    hear();
    Supply afresh({cluster_.templates, cluster_.classes, cluster_.slices}, true);
    for (const auto& [name, labels] : nodes_) afresh.set_node(name, labels);
    for (const auto& request : requests_) {
      const Kind kind = *kind_of(request, true);
      for (int i = users_[kind.name]; i > 0; --i) afresh.use(kind);
    }
    for (const auto& [uid, claim] : claims_) afresh.set_claim(claim.first, claim.second);
    afresh.slices_changed();
    std::map<std::string, api::ResourceList> nodes;
    std::map<std::string, Supply::Taken> claims;
    hear(afresh, nodes, claims);
    EXPECT_EQ(said_nodes_, nodes);
    EXPECT_EQ(said_claims_.size(), claims.size());
    for (const auto& [uid, taken] : claims) {
      EXPECT_EQ(said_claims_[uid].amounts, taken.amounts) << uid;
      EXPECT_EQ(said_claims_[uid].consumer, taken.consumer) << uid;
    }
    for (const auto& request : requests_) {
      const std::string kind = kind_of(request, true)->name;
      EXPECT_EQ(steps_.each_of(kind), afresh.each_of(kind)) << kind;
    }
    for (const auto& [name, amounts] : nodes) something += amounts.size();
    for (const auto& [uid, taken] : claims) something += taken.amounts.size();
  }

  std::size_t something = 0;

 private:
  std::size_t draw(std::size_t below) { return std::uniform_int_distribution<std::size_t>(0, below - 1)(random_); }

  static void hear(Supply& supply, std::map<std::string, api::ResourceList>& nodes,
                   std::map<std::string, Supply::Taken>& claims) {
    auto changes = supply.take_changes();
    for (auto& [node, amounts] : changes.nodes) nodes[node] = amounts;
    for (auto& each : changes.claims) claims[each.claim] = each;
    std::erase_if(nodes, [](const auto& each) { return each.second.empty(); });
    std::erase_if(claims, [](const auto& each) { return each.second.amounts.empty(); });
    EXPECT_FALSE(supply.changed());
  }

  void give_classes() {
    cluster_.give_class("a", draw(4) == 0 ? "{}" : R"({"selectors":[{"cel":{"expression":"device.driver == 'd'"}}]})");
    cluster_.give_class("b",
                        draw(2) == 0 ? "{}" : R"({"selectors":[{"cel":{"expression":"device.attributes['d'].big"}}]})");
  }

  // Of one node, of a zone, or of all nodes; with parts of a GPU in some.
  void give_slice() {
    const std::string name = "s" + std::to_string(draw(4));
    const std::string zone =
        R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"zone","operator":"In","values":["z)" +
        std::to_string(draw(2)) + R"("]}]}]})";
    const std::string where[]{R"("nodeName":"n)" + std::to_string(draw(3)) + R"(")", R"("allNodes":true)",
                              R"("nodeSelector":)" + zone};
    std::string devices;
    for (std::size_t i = draw(4); i > 0; --i) {
      devices += (devices.empty() ? "" : ",") +
                 (R"({"name":"g)" + std::to_string(i) + R"(","attributes":{"big":{"bool":)") +
                 (draw(2) == 0 ? "true" : "false") + "}}" +
                 (draw(3) == 0 ? R"(,"consumesCounters":[{"counterSet":"x","counters":{"m":{"value":"2"}}}])" : "") +
                 (draw(6) == 0 ? R"(,"taints":[{"key":"worn","effect":"NoSchedule"}])" : "") + "}";
    }
    cluster_.give_slice(name, R"({"driver":"d",)" + where[draw(4) % 3] + R"(,"pool":{"name":")" + name +
                                  R"(","generation":)" + std::to_string(draw(3)) + R"(,"resourceSliceCount":)" +
                                  (draw(5) == 0 ? "2" : "1") +
                                  R"(},"sharedCounters":[{"name":"x","counters":{"m":{"value":"3"}}}],)" +
                                  R"("devices":[)" + devices + "]}");
  }

  void give_claim(const std::string& uid) {
    auto made = std::make_shared<api::ResourceClaim>();
    made->meta.uid = uid;
    made->requests = {requests_[draw(4)]};
    JsonArray results;
    for (std::size_t i = draw(3); i > 0; --i)
      results.push_back(JsonObject{{"request", draw(5) == 0 ? "gone" : "r"},
                                   {"driver", "d"},
                                   {"pool", "s" + std::to_string(draw(4))},
                                   {"device", "g" + std::to_string(1 + draw(4))}});
    if (draw(6) != 0)
      made->allocation = std::make_shared<const Json>(JsonObject{{"devices", JsonObject{{"results", results}}}});
    const Supply::Consumer consumer{"ns", draw(2) == 0 ? "w" : "", draw(2) == 0 ? "n" + std::to_string(draw(3)) : "",
                                    false};
    claims_.insert_or_assign(uid, std::pair(std::shared_ptr<const api::ResourceClaim>(made), consumer));
    steps_.set_claim(made, consumer);
  }

  std::mt19937 random_;
  test::Cluster cluster_;
  std::vector<api::ClaimRequest> requests_;
  Supply steps_{{cluster_.templates, cluster_.classes, cluster_.slices}, true};
  std::map<std::string, api::StringMap> nodes_;
  std::map<std::string, int> users_;
  std::map<std::string, std::pair<std::shared_ptr<const api::ResourceClaim>, Supply::Consumer>> claims_;
  std::map<std::string, api::ResourceList> said_nodes_;
  std::map<std::string, Supply::Taken> said_claims_;
};

TEST(SupplyRandom, SmallStepsEndWhereOneLookDoes) {
  std::size_t something = 0;
  for (std::uint32_t seed = 1; seed <= kWorlds && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Changes world(seed);
    for (int i = 0; i < kSteps; ++i) {
      world.step();
      if (i % 3 == 0) world.hear();
      if (i % 10 == 9) world.check();
    }
    something += world.something;
  }
  EXPECT_GT(something, std::size_t{kWorlds} * 5);
}

}  // namespace
}  // namespace berth::jobs::devices::supply_random_test
