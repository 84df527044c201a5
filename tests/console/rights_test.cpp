// Whatever roles users have, no answer and no stream shows an object outside of them.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "console/console_world.h"

namespace berth::console::rights_test {
namespace {

using std::chrono::seconds;

const std::vector<std::string> kSpaces = {"alpha", "beta", "gamma"};
// Collections, the resource whose list they need, and whether that is in namespaces.
struct Shown {
  const char *collection, *resource;
  bool namespaced;
};
constexpr Shown kShown[] = {
    {"workloads", "workloads", true}, {"localqueues", "localqueues", true},      {"rates", "workloads", true},
    {"placements", "pods", true},     {"clusterqueues", "clusterqueues", false}, {"nodes", "nodes", false}};

void fill(FakeCluster& cluster, const std::string& suffix) {
  for (const auto& ns : kSpaces) {
    cluster.set(api::kWorkloads, ConsoleWorld::workload(ns, "w" + suffix));
    cluster.set(api::kLocalQueues, ConsoleWorld::named("q" + suffix, ns));
    cluster.set(api::kPods, JsonObject{{"metadata", JsonObject{{"name", "p" + suffix}, {"namespace", ns}}},
                                       {"spec", JsonObject{{"nodeName", "node"}}}});
  }
  cluster.set(api::kClusterQueues, ConsoleWorld::named("cq" + suffix));
  cluster.set(api::kNodes, ConsoleWorld::named("node"));
}

bool may_list(const FakeCluster& cluster, const std::string& resource, const std::string& ns) {
  return cluster.grants.contains({"ann", "list", resource, "*"}) ||
         (!ns.empty() && cluster.grants.contains({"ann", "list", resource, ns}));
}

void grant_some(FakeCluster& cluster) {
  cluster.grants.clear();
  for (const char* resource : {"workloads", "localqueues", "pods", "clusterqueues", "nodes"}) {
    for (const std::string& ns : {std::string("*"), kSpaces[0], kSpaces[1], kSpaces[2]}) {
      if (*rc::gen::inRange(0, ns == "*" ? 4 : 2) == 1) cluster.grants.insert({"ann", "list", resource, ns});
    }
    if (*rc::gen::arbitrary<bool>()) cluster.grants.insert({"ann", "get", resource, kSpaces[0]});
  }
}

// What the page shows now is what the user may see now; and everything of that.
void check_page(const ConsoleWorld& world, const Page& page) {
  for (const Shown& shown : kShown) {
    const auto rows = page.rows(shown.collection);
    for (const auto& [key, row] : rows)
      RC_ASSERT(may_list(world.cluster, shown.resource, std::string(string_at(row, {"ns"}))));
    if (shown.collection == std::string("rates")) continue;
    for (const auto& ns : shown.namespaced ? kSpaces : std::vector<std::string>{""}) {
      if (!may_list(world.cluster, shown.resource, ns)) continue;
      RC_ASSERT(
          std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return string_at(row.second, {"ns"}) == ns; }));
    }
  }
  for (const auto& [key, row] : page.rows("namespaces"))
    RC_ASSERT(may_list(world.cluster, "workloads", key) || may_list(world.cluster, "localqueues", key));
}

RC_GTEST_PROP(ConsoleRights, NothingOutsideOfThemIsShown, ()) {
  ConsoleWorld world;
  world.cluster.tokens = {{"t", "ann"}};
  grant_some(world.cluster);
  fill(world.cluster, "1");
  world.run(seconds(1));
  const std::string cookie = world.login("t");
  const auto page = world.stream("workloads,localqueues,rates,placements,clusterqueues,nodes,namespaces", cookie);
  world.run(seconds(1));
  check_page(world, *page);
  const int turns = *rc::gen::inRange(0, 3);
  for (int turn = 0; turn < turns; ++turn) {
    grant_some(world.cluster);
    world.run(seconds(80));  // until rights are asked about again
    const std::size_t before = page->text.size();
    fill(world.cluster, "2");
    if (*rc::gen::arbitrary<bool>()) world.cluster.erase(api::kWorkloads, kSpaces[1] + "/w1");
    world.run(seconds(1));
    check_page(world, *page);
    // Not even a key of a deleted row.
    if (!may_list(world.cluster, "workloads", kSpaces[1]) && !may_list(world.cluster, "localqueues", kSpaces[1]) &&
        !may_list(world.cluster, "pods", kSpaces[1]))
      RC_ASSERT(page->text.find(kSpaces[1], before) == std::string::npos);
  }
  for (const auto& ns : kSpaces) {
    const auto object = world.get("/api/object?resource=workloads&namespace=" + ns + "&name=w1", cookie);
    const bool may = world.cluster.grants.contains({"ann", "get", "workloads", ns});
    const int answered = object->status();
    RC_ASSERT((may ? answered == 200 || answered == 404 : answered == 403));
    const auto pods = world.get("/api/pods?namespace=" + ns + "&workload=w1", cookie);
    RC_ASSERT(pods->status() == (may_list(world.cluster, "pods", ns) ? 200 : 403));
    RC_ASSERT(world.get("/api/events?namespace=" + ns + "&kind=Workload&name=w1", cookie)->status() == 403);
  }
}

}  // namespace
}  // namespace berth::console::rights_test
