// Which caches are complete, and which cannot be read.
#include "controller/caches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/resources.h"
#include "kube/fake_rest_client.h"

namespace berth::controller::caches_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class CachesTest : public testing::Test {
 protected:
  void SetUp() override {
    client.streamed_lists_not_offered();
    caches.add(pods);
    caches.start([this] { synced = true; });
  }
  void answer(int code) {
    executor.run_until(executor.now() + std::chrono::minutes(1));
    client.answer(code == 200
                      ? api::RestResponse{200, JsonObject{{"metadata", JsonObject{{"resourceVersion", "5"}}}}, {}}
                      : api::RestResponse{code, api::make_status(code, "Forbidden", "pods is forbidden"), {}});
  }

  VirtualExecutor executor{*parse_time("2026-11-21T09:30:00Z")};
  kube::FakeRestClient client{executor};
  kube::Informer pods{client, executor, api::kPods, {}};
  Caches caches;
  bool synced = false;
};

TEST_F(CachesTest, ACacheIsMissingUntilItIsReadAndWhileItMayNotBeRead) {
  EXPECT_THAT(caches.missing(), ElementsAre("pods"));
  answer(200);
  EXPECT_TRUE(synced);
  EXPECT_THAT(caches.missing(), IsEmpty());
  caches.read_anew(pods, [] {});
  testing::internal::CaptureStderr();
  answer(403);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("bind Berth's user"));
  EXPECT_THAT(caches.missing(), ElementsAre("pods")) << "what it holds may be old";
  testing::internal::CaptureStderr();
  answer(403);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "it is told once";
  answer(200);
  EXPECT_THAT(caches.missing(), IsEmpty());
}

}  // namespace
}  // namespace berth::controller::caches_test
