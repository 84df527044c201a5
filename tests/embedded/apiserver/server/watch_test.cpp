#include <gtest/gtest.h>

#include <limits>

#include "embedded/apiserver/server/harness.h"

namespace berth::apiserver::watch_test {
namespace {

using Events = std::vector<std::string>;

class WatchTest : public ServerTest {
 protected:
  WatchTest() : ServerTest({.seed = 7, .history = 20, .watch_buffer = 10}) {}
  static api::RestRequest maps() { return request(api::Verb::kWatch, kConfigMaps, "default"); }
  std::string next(int n = 1) const { return std::to_string(server->revision() + n); }
  std::string now() const { return std::to_string(server->revision()); }
};

TEST_F(WatchTest, FromARevisionEveryChangeIsSeenOnce) {
  auto r = maps();
  r.resource_version = now();
  ASSERT_EQ(create(kConfigMaps, "default", config_map("a")).code, 201);
  const std::string first = now();
  const auto w = watch(r);
  ASSERT_EQ(patch(kConfigMaps, "default", "a", R"({"data":{"k":"v"}})").code, 200);
  ASSERT_EQ(create(kConfigMaps, "kube-system", config_map("elsewhere")).code, 201);
  ASSERT_EQ(remove(kConfigMaps, "default", "a").code, 200);
  EXPECT_EQ(w->events,
            (Events{"ADDED a@" + first, "MODIFIED a@" + std::to_string(std::stoi(first) + 1), "DELETED a@" + now()}));
}

TEST_F(WatchTest, WithoutARevisionWhatIsThereComesFirst) {
  ASSERT_EQ(create(kConfigMaps, "default", config_map("a")).code, 201);
  for (const std::string_view version : {"", "0"}) {
    auto r = maps();
    r.resource_version = version;
    const auto w = watch(r);
    EXPECT_EQ(w->events, Events{"ADDED a@" + now()});
  }
}

TEST_F(WatchTest, LeavingASelectorIsADeletionEnteringItACreation) {
  auto r = maps();
  r.label_selector = "l=1";
  const auto w = watch(r);
  ASSERT_EQ(create(kConfigMaps, "default", config_map("a", R"(,"labels":{"l":"1"})")).code, 201);
  ASSERT_EQ(patch(kConfigMaps, "default", "a", R"({"metadata":{"labels":{"l":"2"}}})").code, 200);
  const std::string left = now();
  ASSERT_EQ(patch(kConfigMaps, "default", "a", R"({"data":{"k":"v"}})").code, 200);
  ASSERT_EQ(patch(kConfigMaps, "default", "a", R"({"metadata":{"labels":{"l":"1"}}})").code, 200);
  const std::string entered = now();
  EXPECT_EQ(w->events,
            (Events{"ADDED a@" + std::to_string(std::stoi(left) - 1), "DELETED a@" + left, "ADDED a@" + entered}));
  EXPECT_EQ(string_at(*w->raw[1].object, {"metadata", "labels", "l"}),
            "1");  // the last state that was selected
}

TEST_F(WatchTest, OneObjectByItsName) {
  auto r = maps();
  r.field_selector = "metadata.name=b";
  const auto w = watch(r);
  ASSERT_EQ(create(kConfigMaps, "default", config_map("a")).code, 201);
  ASSERT_EQ(create(kConfigMaps, "default", config_map("b")).code, 201);
  EXPECT_EQ(w->events, Events{"ADDED b@" + now()});
}

TEST_F(WatchTest, InitialEventsEndWithABookmark) {
  ASSERT_EQ(create(kConfigMaps, "default", config_map("a")).code, 201);
  auto r = maps();
  r.send_initial_events = true;
  r.resource_version_match = "NotOlderThan";
  r.allow_bookmarks = true;
  const auto w = watch(r);
  EXPECT_EQ(w->events, (Events{"ADDED a@" + now(), "BOOKMARK@" + now()}));
  EXPECT_EQ(to_string(*w->raw[1].object), R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":")" +
                                              now() + R"(","annotations":{"k8s.io/initial-events-end":"true"}}})");
}

TEST_F(WatchTest, SoTheyDoWhenNobodySaysWhereToStart) {
  ASSERT_EQ(create(kConfigMaps, "default", config_map("a")).code, 201);
  for (const std::string_view version : {"", "0"}) {
    auto r = maps();
    r.resource_version = version;
    r.allow_bookmarks = true;
    const auto w = watch(r);
    EXPECT_EQ(w->events, (Events{"ADDED a@" + now(), "BOOKMARK@" + now()}));
    EXPECT_EQ(string_at(*w->raw.back().object, {"metadata", "annotations", api::kInitialEventsEnd}), "true");
  }
  auto r = maps();
  r.send_initial_events = false;
  r.resource_version_match = "NotOlderThan";
  r.allow_bookmarks = true;
  EXPECT_TRUE(watch(r)->events.empty());
}

TEST_F(WatchTest, InitialEventsNotOlderThanTheFutureWaitForIt) {
  auto r = maps();
  r.send_initial_events = true;
  r.resource_version_match = "NotOlderThan";
  r.resource_version = next();
  const auto w = watch(r);
  EXPECT_TRUE(w->events.empty());
  ASSERT_EQ(create(kConfigMaps, "default", config_map("a")).code, 201);
  EXPECT_EQ(w->events, Events{"ADDED a@" + now()});

  r.resource_version = next(1000);
  const auto late = watch(r);
  executor.run_until(executor.now() + std::chrono::seconds(4));
  EXPECT_EQ(late->events, Events{"ERROR 504"});
  EXPECT_TRUE(late->ended);
}

TEST_F(WatchTest, RevisionsThatAreForgottenAreExpired) {
  auto r = maps();
  r.resource_version = "1";
  ASSERT_EQ(create(kConfigMaps, "default", config_map("a")).code, 201);
  for (int i = 0; i < 25; ++i)
    ASSERT_EQ(patch(kConfigMaps, "default", "a", R"({"data":{"i":")" + std::to_string(i) + "\"}}").code, 200);
  const auto w = watch(r);
  EXPECT_EQ(w->events, Events{"ERROR 410"});
  EXPECT_EQ(string_at(*w->raw[0].object, {"reason"}), "Expired");
  EXPECT_TRUE(w->ended);
}

TEST_F(WatchTest, MistakesAreReportedAsEvents) {
  auto unknown = request(api::Verb::kWatch, {"", "v1", "nopes"}, "default");
  auto version = maps();
  version.resource_version = "abc";
  auto initial = maps();
  initial.send_initial_events = true;
  auto selector = maps();
  selector.label_selector = "===";
  const std::pair<api::RestRequest, std::string> cases[] = {
      {unknown, "ERROR 404"}, {version, "ERROR 500"}, {initial, "ERROR 422"}, {selector, "ERROR 400"}};
  for (const auto& [r, error] : cases) {
    const auto w = watch(r);
    EXPECT_EQ(w->events, Events{error});
    EXPECT_TRUE(w->ended);
  }
}

TEST_F(WatchTest, BookmarksComeEveryMinuteAndAtTheEnd) {
  auto r = maps();
  r.allow_bookmarks = true;
  r.timeout_seconds = 150;
  r.resource_version = now();
  const auto w = watch(r);
  ASSERT_EQ(create(kConfigMaps, "kube-system", config_map("a")).code, 201);
  executor.run_until(executor.now() + std::chrono::seconds(149));
  EXPECT_EQ(w->events, (Events{"BOOKMARK@" + now(), "BOOKMARK@" + now()}));
  EXPECT_FALSE(w->ended);
  executor.run_until(executor.now() + std::chrono::seconds(2));
  EXPECT_EQ(w->events.size(), 3u);
  EXPECT_TRUE(w->ended);
}

TEST_F(WatchTest, WatchesEndAfterAnHourAtTheLatest) {
  const auto w = watch(maps());
  executor.run_until(executor.now() + std::chrono::minutes(29));
  EXPECT_FALSE(w->ended);
  executor.run_until(executor.now() + std::chrono::minutes(32));
  EXPECT_TRUE(w->ended);
  EXPECT_TRUE(w->events.empty());
}

// As in kube-apiserver: 0 is no timeout, and a negative one ends the watch at once, after the initial events.
TEST_F(WatchTest, TimeoutsMayBeOfAnySize) {
  ASSERT_EQ(create(kConfigMaps, "default", config_map("a")).code, 201);
  auto r = maps();
  r.timeout_seconds = -5;
  const auto negative = watch(r);
  EXPECT_TRUE(negative->ended);
  EXPECT_EQ(negative->events.size(), 1u);
  r.timeout_seconds = 0;
  const auto none = watch(r);
  r.timeout_seconds = std::numeric_limits<std::int64_t>::max();
  const auto longest = watch(r);
  executor.run_until(executor.now() + std::chrono::minutes(29));
  EXPECT_FALSE(none->ended);
  executor.run_until(executor.now() + std::chrono::minutes(32));
  EXPECT_TRUE(none->ended);
  EXPECT_FALSE(longest->ended);
}

TEST_F(WatchTest, ADroppedHandleHearsNothingMore) {
  const auto w = watch(maps());
  server->call(request(api::Verb::kCreate, kConfigMaps, "default", "", config_map("a")),
               [](const api::RestResponse&) {});
  w->handle.reset();
  settle();
  EXPECT_TRUE(w->events.empty());
  EXPECT_FALSE(w->ended);
}

TEST_F(WatchTest, AHandleMayBeDroppedInsideItsOwnCallback) {
  std::unique_ptr<api::WatchHandle> handle;
  int events = 0;
  ASSERT_EQ(create(kConfigMaps, "default", config_map("a")).code, 201);
  ASSERT_EQ(create(kConfigMaps, "default", config_map("b")).code, 201);
  handle = server->watch(
      maps(),
      [&](const api::WatchEvent&) {
        ++events;
        handle.reset();
      },
      [] {});
  settle();
  EXPECT_EQ(events, 1);
}

TEST_F(WatchTest, AHandleMayOutliveTheServer) {
  const auto w = watch(maps());
  server.reset();
  w->handle.reset();
  settle();
  EXPECT_TRUE(w->events.empty());
}

// Initial events do not count: otherwise a list could not be larger than the buffer.
TEST_F(WatchTest, AHeldWatchKeepsItsInitialEventsAndSoMuchMore) {
  for (int i = 0; i < 15; ++i) ASSERT_EQ(create(kConfigMaps, "default", config_map("m" + std::to_string(i))).code, 201);
  auto r = maps();
  r.allow_bookmarks = true;
  const auto w = start(r);
  w->handle->hold(true);
  settle();
  EXPECT_TRUE(w->events.empty());
  for (int i = 0; i < 10; ++i) ASSERT_EQ(create(kConfigMaps, "default", config_map("n" + std::to_string(i))).code, 201);
  w->handle->hold(false);
  settle();
  EXPECT_EQ(w->events.size(), 15 + 1 + 10u);
  EXPECT_FALSE(w->ended);

  w->handle->hold(true);
  for (int i = 0; i < 11; ++i) ASSERT_EQ(create(kConfigMaps, "default", config_map("o" + std::to_string(i))).code, 201);
  EXPECT_FALSE(w->ended) << "nothing comes while it is held, not even the end";
  w->handle->hold(false);
  settle();
  EXPECT_EQ(w->events.size(), 15 + 1 + 10 + 10u);
  EXPECT_TRUE(w->ended);
}

TEST_F(WatchTest, AHeldWatchMayBeDropped) {
  const auto w = watch(maps());
  w->handle->hold(true);
  ASSERT_EQ(create(kConfigMaps, "default", config_map("a")).code, 201);
  w->handle.reset();
  settle();
  EXPECT_TRUE(w->events.empty());
}

TEST_F(WatchTest, AWatcherThatFallsBehindIsEnded) {
  const auto w = watch(maps());
  int answers = 0;
  // All writes become durable before the watcher gets a turn.
  for (int i = 0; i < 15; ++i) {
    server->call(request(api::Verb::kCreate, kConfigMaps, "default", "", config_map("m" + std::to_string(i))),
                 [&](const api::RestResponse& answer) { answers += answer.code == 201; });
  }
  settle();
  EXPECT_EQ(answers, 15);
  EXPECT_TRUE(w->ended);
  EXPECT_EQ(w->events.size(), 10u);
  // A new watch can continue from the last received event.
  auto r = maps();
  r.resource_version = string_at(*w->raw.back().object, {"metadata", "resourceVersion"});
  EXPECT_EQ(watch(r)->events.size(), 5u);
}

TEST_F(WatchTest, EventsOfBothGroupsShowTheirOwnForm) {
  const auto w = watch(request(api::Verb::kWatch, {"events.k8s.io", "v1", "events"}, "default"));
  ASSERT_EQ(
      create(
          kEvents, "default",
          R"({"metadata":{"name":"e"},"involvedObject":{"kind":"Pod","namespace":"default","name":"p"},"reason":"r","message":"m","type":"Normal"})")
          .code,
      201);
  ASSERT_EQ(w->raw.size(), 1u);
  EXPECT_EQ(string_at(*w->raw[0].object, {"note"}), "m");
}

}  // namespace
}  // namespace berth::apiserver::watch_test
