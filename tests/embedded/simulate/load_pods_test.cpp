// Which pods of a load are created again after they were deleted.
#include "embedded/simulate/load_pods.h"

#include <gtest/gtest.h>

#include <string>

#include "embedded/simulate/load_files.h"
#include "kube/fake_rest_client.h"

namespace berth::simulation::load_pods_test {
namespace {

using api::WatchEvent;

class LoadPodsTest : public testing::Test {
 protected:
  LoadPodsTest()
      : pods(load, client, executor,
             [](const std::string& name, const api::RestResponse&) { ADD_FAILURE() << name << " was refused"; }) {
    pods.start();
    pods.submit(single());
    pod = created();
  }

  // The first submission with one pod.
  const simulate::Submission& single() const {
    return *std::ranges::find_if(load.submissions, [&](const auto& each) { return load.kinds[each.kind].pods == 1; });
  }
  // The pod that was created last; null: none was.
  Json created() {
    EXPECT_TRUE(executor.run_ready(1000));
    if (client.calls.empty()) return {};
    Json body = client.calls.front().request.body;
    client.answer({201, body, {}});
    ensure_path(body, {"metadata", "uid"}) = "u" + std::to_string(++pods_created);
    return body;
  }
  void send(WatchEvent::Type type) {
    ensure_path(pod, {"metadata", "resourceVersion"}) = std::to_string(++version);
    client.send(type, pod);
  }

  VirtualExecutor executor{Time{} + std::chrono::seconds(1'000'000)};
  kube::FakeRestClient client{executor};
  simulate::Load load = load_tests::parsed(load_tests::kTwoQueues);
  simulate::LoadPods pods;
  Json pod;
  int pods_created = 0, version = 0;
};

TEST_F(LoadPodsTest, ADeletedPodIsCreatedAgainUnderItsName) {
  send(WatchEvent::Type::kAdded);
  ensure_path(pod, {"metadata", "deletionTimestamp"}) = "2026-01-01T00:00:00Z";
  send(WatchEvent::Type::kModified);
  EXPECT_TRUE(created().is_null()) << "its name is still in use";
  send(WatchEvent::Type::kDeleted);
  EXPECT_EQ(string_at(created(), {"metadata", "name"}), string_at(pod, {"metadata", "name"}));
}

TEST_F(LoadPodsTest, APodThatSucceededIsNotCreatedAgain) {
  send(WatchEvent::Type::kAdded);
  ensure_path(pod, {"status", "phase"}) = "Succeeded";
  send(WatchEvent::Type::kModified);
  ensure_path(pod, {"metadata", "deletionTimestamp"}) = "2026-01-01T00:00:00Z";
  send(WatchEvent::Type::kModified);
  send(WatchEvent::Type::kDeleted);
  EXPECT_TRUE(created().is_null());
}

// The eviction came first: the workload gave its quota back, and does not finish.
TEST_F(LoadPodsTest, APodThatSucceedsAfterItsEvictionIsCreatedAgain) {
  send(WatchEvent::Type::kAdded);
  ensure_path(pod, {"metadata", "deletionTimestamp"}) = "2026-01-01T00:00:00Z";
  send(WatchEvent::Type::kModified);
  ensure_path(pod, {"status", "phase"}) = "Succeeded";
  send(WatchEvent::Type::kModified);
  send(WatchEvent::Type::kDeleted);
  EXPECT_FALSE(created().is_null());
}

}  // namespace
}  // namespace berth::simulation::load_pods_test
