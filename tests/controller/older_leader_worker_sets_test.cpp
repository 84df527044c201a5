// LeaderWorkerSets as earlier releases of Kueue left them, when Berth takes over: their pods run on, in the same
// groups.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "controller/leader_worker_sets_fixture.h"

namespace berth::controller::older_leader_worker_sets_test {
namespace {

using api::leaderworkerset::kLeaderWorkerSets;
using apiserver::kPods;

// What a release wrote. In all of them the workload of a group has the same name, and pods name it by labels.
struct Release {
  std::string name;
  bool set_owns;         // the set is an owner of its workloads; their pods always are
  bool says_which;       // workloads name the set and the group: label job-uid, annotations
  bool pods_are_marked;  // label kueue.x-k8s.io/managed
  bool finalizers;       // of pods
};
void PrintTo(const Release& release, std::ostream* out) { *out << release.name; }
const Release kReleases[] = {{"0.11.0", false, false, false, true},
                             {"0.12 to 0.15", true, false, true, true},
                             {"0.16", true, false, true, false},
                             {"0.17", true, true, true, false}};

class OlderLeaderWorkerSets : public LeaderWorkerSetsTest, public testing::WithParamInterface<Release> {
 protected:
  // Two groups of two pods, and a third one that waits.
  OlderLeaderWorkerSets() {
    ControllerOptions older = options;
    older.jobs.identifier_annotations = false;  // pods name their groups by labels
    controller.reset();
    lead(older);
    make_set(3);
    controller.reset();
    for (const Json& workload : items(api::kWorkloads)) rewrite_workload(workload);
    for (const Json& pod : items(kPods)) rewrite_pod(pod);
    for (const Json& pod : items(kPods)) {
      if (pods()[std::string(name_of(pod))] == "Running") running[std::string(name_of(pod))] = pod;
    }
    EXPECT_EQ(running.size(), 4u);
    for (const Json& workload : items(api::kWorkloads)) uids[std::string(name_of(workload))] = uid_of(workload);
  }
  static std::string_view name_of(const Json& object) { return string_at(object, {"metadata", "name"}); }
  static std::string uid_of(const Json& object) { return std::string(string_at(object, {"metadata", "uid"})); }

  void rewrite_workload(const Json& workload) {
    const Release& release = GetParam();
    Json change = JsonObject{{"metadata", JsonObject()}};
    if (!release.says_which) {
      ensure_path(change, {"metadata", "labels", "kueue.x-k8s.io/job-uid"}) = nullptr;
      for (const std::string_view key : {"job-owner-gvk", "job-owner-name", "component-workload-index"})
        ensure_path(change, {"metadata", "annotations", "kueue.x-k8s.io/" + std::string(key)}) = nullptr;
    }
    if (!release.set_owns) {
      JsonArray owners = array_at(workload, {"metadata", "ownerReferences"});
      erase_members_of(owners, "LeaderWorkerSet");
      ensure_path(change, {"metadata", "ownerReferences"}) = std::move(owners);
    }
    write(api::kWorkloads, workload, change);
  }
  static void erase_members_of(JsonArray& owners, std::string_view kind) {
    JsonArray kept;
    for (const Json& owner : owners) {
      if (string_at(owner, {"kind"}) != kind) kept.push_back(owner);
    }
    owners = std::move(kept);
  }

  void rewrite_pod(const Json& pod) {
    const Release& release = GetParam();
    Json change = JsonObject();
    if (!release.pods_are_marked) ensure_path(change, {"metadata", "labels", "kueue.x-k8s.io/managed"}) = nullptr;
    if (release.finalizers) ensure_path(change, {"metadata", "finalizers"}) = JsonArray{Json("kueue.x-k8s.io/managed")};
    if (!change.get_object().empty()) write(kPods, pod, change);
  }
  void write(const api::GroupVersionResource& resource, const Json& object, const Json& change) {
    const auto answer = patch(resource, "default", std::string(name_of(object)), to_string(change));
    EXPECT_TRUE(answer.ok()) << to_string(answer.body);
  }

  // What ran runs on in the same pods, with the workloads that it had.
  void nothing_was_touched() {
    for (const auto& [name, before] : running) {
      const Json now = get(kPods, "default", name).body;
      EXPECT_EQ(uid_of(now), uid_of(before)) << name;
      EXPECT_EQ(string_at(now, {"status", "phase"}), "Running") << name;
      EXPECT_EQ(string_at(now, {"metadata", "deletionTimestamp"}), "") << name;
    }
    std::map<std::string, std::string> now;
    for (const Json& workload : items(api::kWorkloads)) {
      now[std::string(name_of(workload))] = uid_of(workload);
      EXPECT_EQ(condition(workload, "Finished"), "") << name_of(workload);
      EXPECT_EQ(condition(workload, "Evicted"), "") << name_of(workload);
    }
    EXPECT_EQ(now, uids);
    EXPECT_EQ(holders(), 2u);
  }

  std::map<std::string, Json> running;      // pods, by their names
  std::map<std::string, std::string> uids;  // of workloads, by their names
};

INSTANTIATE_TEST_SUITE_P(Releases, OlderLeaderWorkerSets, testing::ValuesIn(kReleases), [](const auto& info) {
  std::string name = info.param.name;
  std::ranges::replace_if(name, [](char c) { return c == '.' || c == ' '; }, '_');
  return "Kueue_" + name;
});

TEST_P(OlderLeaderWorkerSets, TheirPodsRunOn) {
  lead();
  pass(120);
  nothing_was_touched();
  const bool all = std::ranges::all_of(items(api::kWorkloads), [](const Json& workload) {
    return std::ranges::any_of(array_at(workload, {"metadata", "ownerReferences"}),
                               [](const Json& owner) { return string_at(owner, {"kind"}) == "LeaderWorkerSet"; });
  });
  EXPECT_TRUE(all) << "each workload goes with its set";
}

// The third group is let go with the quota of a group that ends.
TEST_P(OlderLeaderWorkerSets, AShrunkenSetLetsTheWaitingGroupGo) {
  lead();
  change_set(R"({"spec":{"replicas":2}})");
  pass(60);
  EXPECT_EQ(pods().size(), 4u);
  for (const auto& [name, phase] : pods()) EXPECT_EQ(phase, "Running") << name;
  EXPECT_EQ(items(api::kWorkloads).size(), 2u);
  EXPECT_EQ(holders(), 2u);
}

TEST_P(OlderLeaderWorkerSets, ADeletedSetLeavesNothingBehind) {
  lead();
  remove(kLeaderWorkerSets, "default", "s");
  pass(60);
  EXPECT_TRUE(pods().empty());
  EXPECT_TRUE(items(api::kWorkloads).empty());
  EXPECT_EQ(holders(), 0u);
}

}  // namespace
}  // namespace berth::controller::older_leader_worker_sets_test
