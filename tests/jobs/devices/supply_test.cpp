// What nodes have of devices for each kind of request, and what claims take of it.
#include <gtest/gtest.h>

#include "jobs/devices/cluster.h"
#include "jobs/devices/packing.h"
#include "jobs/devices/supply.h"

namespace berth::jobs::devices::supply_test {
namespace {

api::ClaimRequest request(const std::string& device_class, std::vector<std::string> selectors = {}) {
  api::DeviceRequest exactly;
  exactly.device_class = device_class;
  exactly.selectors = std::move(selectors);
  return {"r", exactly, {}};
}

struct Racks {
  test::Cluster cluster;
  Supply supply;
  std::map<std::string, api::ResourceList> nodes;
  std::map<std::string, Supply::Taken> claims;
  bool needs = false;

  explicit Racks(bool taints = true) : supply({cluster.templates, cluster.classes, cluster.slices}, taints) {
    cluster.give_class("gpu", R"({"selectors":[{"cel":{"expression":"device.driver == 'd'"}}]})");
    for (const char* name : {"n1", "n2"}) supply.set_node(name, {{"zone", name}});
  }
  void slice(const std::string& name, const std::string& where, const std::string& devices,
             const std::string& pool = R"("generation":1,"resourceSliceCount":1)", const std::string& more = "") {
    cluster.give_slice(name, R"({"driver":"d",)" + where + R"(,"pool":{"name":")" + name + R"(",)" + pool +
                                 R"(},"devices":[)" + devices + "]" + more + "}");
    supply.slices_changed();
  }
  std::string use(const api::ClaimRequest& of) {
    const Kind kind = *kind_of(of, supply.taints());
    supply.use(kind);
    return kind.name;
  }
  void claim(const std::string& uid, const api::ClaimRequest& of, const std::vector<std::string>& devices,
             Supply::Consumer consumer = {"ns", "w", "", false}, const std::string& pool = "s") {
    auto made = std::make_shared<api::ResourceClaim>();
    made->meta.uid = uid;
    made->requests = {of};
    JsonArray results;
    for (const auto& each : devices)
      results.push_back(JsonObject{{"request", "r"}, {"driver", "d"}, {"pool", pool}, {"device", each}});
    made->allocation = std::make_shared<const Json>(JsonObject{{"devices", JsonObject{{"results", results}}}});
    supply.set_claim(made, std::move(consumer));
  }
  void look() {
    auto changes = supply.take_changes();
    needs = changes.needs;
    for (auto& [node, amounts] : changes.nodes) nodes[node] = std::move(amounts);
    for (auto& each : changes.claims) claims[each.claim] = std::move(each);
  }
  std::int64_t has(const std::string& node, const std::string& kind) {
    look();
    const auto it = nodes[node].find(kind);
    return it == nodes[node].end() ? 0 : it->second.value();
  }
};

const std::string kOnN1 = R"("nodeName":"n1")";

TEST(Supply, CountsTheDevicesOfANode) {
  Racks r;
  const auto gpu = r.use(request("gpu"));
  EXPECT_EQ(gpu, "device:gpu");
  r.slice("s", kOnN1, R"({"name":"a"},{"name":"b"})");
  EXPECT_EQ(r.has("n1", gpu), 2);
  EXPECT_EQ(r.has("n2", gpu), 0);
  r.supply.unuse(gpu);
  EXPECT_EQ(r.has("n1", gpu), 0) << "nobody asks for it any more";
}

TEST(Supply, IgnoresPoolsThatAreNotComplete) {
  Racks r;
  const auto gpu = r.use(request("gpu"));
  r.slice("s", kOnN1, R"({"name":"a"})", R"("generation":1,"resourceSliceCount":2)");
  EXPECT_EQ(r.has("n1", gpu), 0);
  r.slice("s", kOnN1, R"({"name":"a"})", R"("generation":2,"resourceSliceCount":1)");
  EXPECT_EQ(r.has("n1", gpu), 1);
}

TEST(Supply, FollowsSelectorsOfNodes) {
  Racks r;
  const auto gpu = r.use(request("gpu"));
  const std::string n2 =
      R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"zone","operator":"In","values":["n2"]}]}]})";
  r.slice("s", R"("nodeSelector":)" + n2, R"({"name":"a"})");
  r.slice("all", R"("allNodes":true)", R"({"name":"a"})");
  r.slice("each", R"("perDeviceNodeSelection":true)",
          R"({"name":"a","nodeName":"n1"},{"name":"b","nodeSelector":)" + n2 + "}");
  EXPECT_EQ(r.has("n1", gpu), 2);
  EXPECT_EQ(r.has("n2", gpu), 3);
  r.claim("c", request("gpu"), {"a"}, {"ns", "w", "n2", false}, "all");
  EXPECT_EQ(r.has("n1", gpu), 1) << "a claim on another node has it";
  EXPECT_EQ(r.has("n2", gpu), 3) << "one of these is taken there";
  EXPECT_EQ(r.claims["c"].amounts, (api::ResourceList{{gpu, Quantity::of(1)}}));
  r.supply.set_node("n1", {{"zone", "n2"}});
  EXPECT_EQ(r.has("n1", gpu), 3);
}

TEST(Supply, ARequestNeedsOneOfEachKindThatHasItsDevices) {
  Racks r;
  const auto gpu = r.use(request("gpu")), red = r.use(request("gpu", {"device.attributes['d'].red"}));
  r.slice("s", kOnN1,
          R"({"name":"a","attributes":{"red":{"bool":true}}},{"name":"b","attributes":{"red":{"bool":false}}})");
  EXPECT_EQ(r.has("n1", red), 1);
  EXPECT_TRUE(r.needs);
  EXPECT_EQ(r.supply.each_of(red), (api::ResourceList{{gpu, Quantity::of(1)}, {red, Quantity::of(1)}}));
  EXPECT_EQ(r.supply.each_of(gpu), (api::ResourceList{{gpu, Quantity::of(1)}}));
  r.claim("c", request("gpu"), {"a"});
  r.look();
  EXPECT_FALSE(r.needs);
  EXPECT_EQ(r.claims["c"].amounts.size(), 2u) << "it got a red one";
  EXPECT_EQ(r.claims["c"].consumer.node, "n1");
  r.supply.remove_claim("c");
  r.look();
  EXPECT_TRUE(r.claims["c"].amounts.empty());
}

TEST(Supply, AClaimWhoseDevicesAreGoneTakesWhatItAskedFor) {
  Racks r;
  const auto gpu = r.use(request("gpu"));
  r.slice("s", kOnN1, R"({"name":"a"})");
  r.claim("c", request("gpu"), {"gone"}, {"ns", "w", "n1", false});
  EXPECT_EQ(r.has("n1", gpu), 2) << "one is free, one is taken";
  EXPECT_EQ(r.claims["c"].amounts, (api::ResourceList{{gpu, Quantity::of(1)}}));
}

TEST(Supply, TaintsExcludeDevicesOnlyWhereTheyCount) {
  for (const bool taints : {true, false}) {
    Racks r(taints);
    auto tolerant = request("gpu");
    tolerant.exactly->tolerations = {{"worn", "Exists", "", "", std::nullopt}};
    const auto gpu = r.use(request("gpu")), any = r.use(tolerant);
    r.slice("s", kOnN1,
            R"({"name":"a"},{"name":"b","taints":[{"key":"worn","effect":"NoExecute"}]},)"
            R"({"name":"c","taints":[{"key":"new","effect":"None"}]})");
    EXPECT_EQ(r.has("n1", gpu), taints ? 2 : 3);
    EXPECT_EQ(r.has("n1", any), 3);
    EXPECT_EQ(gpu == any, !taints);
  }
}

TEST(Supply, PartsCountTogetherByTheirCounters) {
  Racks r;
  const auto whole = r.use(request("gpu", {"device.attributes['d'].size == 4"})),
             half = r.use(request("gpu", {"device.attributes['d'].size == 2"}));
  const auto part = [](const std::string& name, int size) {
    const auto text = std::to_string(size);
    return R"({"name":")" + name + R"(","attributes":{"size":{"int":)" + text +
           R"(}},"consumesCounters":[{"counterSet":"g","counters":{"memory":{"value":")" + text + R"("}}}]})";
  };
  const std::string two = R"("generation":1,"resourceSliceCount":2)";
  r.slice("s", kOnN1, part("w", 4) + "," + part("h1", 2) + "," + part("h2", 2) + "," + part("h3", 2), two);
  r.cluster.give_slice("c", R"({"driver":"d","nodeName":"n1","pool":{"name":"s",)" + two +
                                R"(},"sharedCounters":[{"name":"g","counters":{"memory":{"value":"4"}}}]})");
  EXPECT_EQ(r.has("n1", whole), 1);
  EXPECT_EQ(r.has("n1", half), 2) << "three do not fit together";
  EXPECT_EQ(r.has("n1", "device-part:d/memory"), 4);
  EXPECT_EQ(r.supply.each_of(half).at("device-part:d/memory"), Quantity::of(2));
  r.claim("c", request("gpu", {"device.attributes['d'].size == 2"}), {"h2"});
  EXPECT_EQ(r.has("n1", whole), 0);
  EXPECT_EQ(r.has("n1", half), 2) << "one is taken";
}

TEST(Supply, AlternativesAreOneKind) {
  Racks r;
  r.cluster.give_class("other", R"({"selectors":[{"cel":{"expression":"device.driver == 'e'"}}]})");
  api::ClaimRequest either{"r", std::nullopt, {*request("gpu").exactly, *request("other").exactly}};
  const auto kind = r.use(either);
  EXPECT_TRUE(kind.starts_with("device:gpu or other\n")) << kind;
  r.slice("s", kOnN1, R"({"name":"a"},{"name":"b"})");
  EXPECT_EQ(r.has("n1", kind), 2);
}

TEST(Supply, AdministratorsTakeNothing) {
  auto admin = request("gpu");
  admin.exactly->admin_access = true;
  EXPECT_FALSE(kind_of(admin, true));
  auto all = request("gpu");
  all.exactly->all = true;
  EXPECT_FALSE(kind_of(all, true));
}

TEST(Packing, IsTheMostThatFits) {
  const auto of = [](std::vector<std::pair<std::size_t, int>> uses) {
    CounterUses out;
    for (const auto& [counter, amount] : uses) out.push_back({counter, Quantity::of(amount)});
    return out;
  };
  const std::vector<Quantity> left{Quantity::of(4), Quantity::of(1)};
  EXPECT_EQ(most_together({}, left), 0);
  EXPECT_EQ(most_together({of({}), of({{0, 5}})}, left), 1);
  EXPECT_EQ(most_together({of({{0, 4}}), of({{0, 2}}), of({{0, 2}})}, left), 2) << "not the first one";
  EXPECT_EQ(most_together({of({{0, 2}, {1, 1}}), of({{0, 1}, {1, 1}}), of({{0, 3}})}, left), 2);
  EXPECT_EQ(most_together({of({{0, 4}}), of({{1, 1}})}, left), 2);
}

}  // namespace
}  // namespace berth::jobs::devices::supply_test
