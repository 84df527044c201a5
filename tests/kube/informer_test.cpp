#include "kube/informer.h"

#include <gtest/gtest.h>

#include "kube/informer_fixture.h"

namespace berth::kube::informer_test {
namespace {

using api::WatchEvent;
using std::chrono::seconds;

// The server does not offer streamed lists, and the client knows it.
class InformerTest : public InformerFixture {
 protected:
  void SetUp() override {
    client.streamed_lists_not_offered();
    start();
  }
};

TEST_F(InformerTest, ListsInPagesThenWatchesFromThere) {
  EXPECT_EQ(client.answer(list_of(10, {object("a", 3), object("b", 4)}, "more")).limit, 2);
  EXPECT_FALSE(informer->synced());
  EXPECT_EQ(take_trace(), "+a@3 +b@4") << "the first list is told as it comes";
  EXPECT_EQ(client.answer(list_of(10, {object("c", 5)})).continue_token, "more");
  EXPECT_TRUE(informer->synced());
  EXPECT_EQ(take_trace(), "+c@5 synced");
  EXPECT_EQ(client.last_watch().request.resource_version, "10");
  EXPECT_TRUE(client.last_watch().request.allow_bookmarks);
}

TEST_F(InformerTest, ReportsHowEachListEnded) {
  std::string ends;
  informer->on_list([&](const api::RestResponse& response) {
    ends += std::to_string(response.code) + (informer->synced() ? "s " : " ");
  });
  client.answer({404, Json(JsonObject()), {}});
  pass(seconds(1));
  client.answer({0, Json(), {}});
  pass(seconds(1));
  client.answer(list_of(10, {object("a", 3)}, "more"));
  EXPECT_EQ(ends, "404 0 ") << "a page is not a list";
  client.answer(list_of(10, {}));
  EXPECT_EQ(ends, "404 0 200s ");
}

TEST_F(InformerTest, AppliesEventsOnce) {
  client.answer(list_of(10, {object("a", 3)}));
  take_trace();
  client.send(WatchEvent::Type::kAdded, object("b", 11, "v"));
  client.send(WatchEvent::Type::kAdded, object("b", 11, "v"));  // repeated
  client.send(WatchEvent::Type::kModified, object("a", 9));     // late
  client.send(WatchEvent::Type::kModified, object("a", 12));
  client.send(WatchEvent::Type::kDeleted, object("b", 13, "v"));
  client.send(WatchEvent::Type::kDeleted, object("none", 14, "w"));  // never seen
  EXPECT_EQ(take_trace(), "+b@11 ~a@12 -b@13");
  EXPECT_EQ(informer->resource_version(), "14");
  EXPECT_EQ(informer->get("ns/b"), nullptr);
  EXPECT_EQ(string_at(*informer->get("ns/a"), {"metadata", "resourceVersion"}), "12");
  EXPECT_EQ(informer->list("ns").size(), 1u);
  EXPECT_TRUE(informer->list("n").empty());
}

TEST_F(InformerTest, ANewUidIsAnotherObject) {
  client.answer(list_of(10, {object("a", 3)}));
  take_trace();
  client.send(WatchEvent::Type::kModified, object("a", 12, "other"));
  EXPECT_EQ(take_trace(), "-a@3 +a@12");
}

TEST_F(InformerTest, BookmarksMoveTheVersionAlone) {
  client.answer(list_of(10, {}));
  take_trace();
  client.send(WatchEvent::Type::kBookmark, JsonObject{{"metadata", JsonObject{{"resourceVersion", "40"}}}});
  EXPECT_EQ(trace, "");
  client.end_watch();
  EXPECT_EQ(client.watches.size(), 2u);
  EXPECT_EQ(client.last_watch().request.resource_version, "40");
}

TEST_F(InformerTest, AnEndedWatchGoesOnWhereItWas) {
  client.answer(list_of(10, {}));
  client.send(WatchEvent::Type::kAdded, object("b", 11));
  client.end_watch();
  EXPECT_EQ(client.last_watch().request.resource_version, "11");
  EXPECT_TRUE(client.calls.empty());
  // A watch that brought nothing starts again after a backoff that grows each time.
  client.end_watch();
  EXPECT_EQ(client.watches.size(), 2u);
  pass(std::chrono::milliseconds(101));
  EXPECT_EQ(client.watches.size(), 3u);
  client.end_watch();
  pass(std::chrono::milliseconds(99));
  EXPECT_EQ(client.watches.size(), 3u);
  pass(std::chrono::milliseconds(102));
  EXPECT_EQ(client.watches.size(), 4u);
}

TEST_F(InformerTest, GoneListsAgainAndReportsWhatWasMissed) {
  client.answer(list_of(10, {object("a", 3), object("b", 4, "v"), object("c", 5, "w"), object("d", 6, "x")}));
  take_trace();
  client.send(WatchEvent::Type::kError, api::make_status(410, "Expired", "too old resource version"));
  client.end_watch();
  pass(seconds(1));
  ASSERT_EQ(client.calls.size(), 1u);
  client.answer(list_of(20, {object("a", 3), object("b", 15, "v"), object("c", 16, "other"), object("e", 17, "y")}));
  EXPECT_EQ(take_trace(), "-c@5 -d@6 ~b@15 +c@16 +e@17");
  EXPECT_EQ(client.last_watch().request.resource_version, "20");
  EXPECT_EQ(client.open_watches(), 1u);
}

TEST_F(InformerTest, OtherErrorsOfAWatchDoNotListAgain) {
  client.answer(list_of(10, {}));
  client.send(WatchEvent::Type::kError, api::make_status(500, "InternalError", "oops"));
  client.end_watch();
  pass(seconds(1));
  EXPECT_TRUE(client.calls.empty());
  EXPECT_EQ(client.watches.size(), 2u);
}

TEST_F(InformerTest, FailedListsAreTriedAgainWithGrowingPauses) {
  Duration paused{};
  Duration longest{};
  for (int i = 0; i < 12; ++i) {
    client.answer(i % 2 == 0 ? api::RestResponse{0, nullptr, {}} : api::internal_error("oops"));
    const Time failed_at = executor.now();
    ASSERT_TRUE(client.calls.empty());
    ASSERT_TRUE(executor.step());
    const Duration pause = executor.now() - failed_at;
    EXPECT_LE(pause, seconds(30));
    longest = std::max(longest, pause);
    paused += pause;
    ASSERT_EQ(client.calls.size(), 1u);
  }
  EXPECT_GE(longest, seconds(15));
  client.answer(list_of(10, {}));
  EXPECT_TRUE(informer->synced());
}

TEST_F(InformerTest, AContinueTokenThatExpiredStartsTheListAnew) {
  client.answer(list_of(10, {object("a", 3)}, "more"));
  client.answer({410, api::make_status(410, "Expired", "continue token expired"), {}});
  pass(seconds(1));
  EXPECT_EQ(client.answer(list_of(20, {object("b", 15)})).continue_token, "");
  EXPECT_EQ(take_trace(), "+a@3 +b@15 -a@3 synced");
}

TEST_F(InformerTest, ALaterListIsInformedWhenItIsComplete) {
  client.answer(list_of(10, {object("a", 3), object("b", 4), object("c", 5)}));
  client.send(WatchEvent::Type::kError, api::make_status(410, "Expired", "too old"));
  client.end_watch();
  pass(seconds(1));
  take_trace();
  client.answer(list_of(20, {object("a", 3), object("b", 15)}, "more"));
  EXPECT_EQ(take_trace(), "");
  client.answer(list_of(20, {object("d", 16)}));
  EXPECT_EQ(take_trace(), "-c@5 ~b@15 +d@16") << "what is gone first";
}

TEST_F(InformerTest, WithoutObjectsItKnowsWhoTheyAre) {
  InformerOptions o;
  o.keep_objects = false;
  informer = std::make_unique<Informer>(client, executor, api::GroupVersionResource{"", "v1", "pods"}, o);
  std::vector<std::string> seen;
  informer->on_change([&](const JsonPtr& old, const JsonPtr& now) {
    seen.push_back((old ? to_string(*old) : "none") + " " + (now ? to_string(*now) : "none"));
  });
  client.calls.clear();
  informer->start();
  Json large = object("a", 3);
  ensure_path(large, {"spec", "x"}) = 1;
  client.answer(list_of(10, {large}));
  EXPECT_EQ(seen.at(0), "none " + to_string(large)) << "handlers get all of it";
  EXPECT_EQ(informer->get("ns/a"), nullptr);
  EXPECT_TRUE(informer->list().empty());
  client.send(WatchEvent::Type::kModified, object("a", 12));
  EXPECT_EQ(seen.at(1), R"({"metadata":{"name":"a","uid":"u","resourceVersion":"3","namespace":"ns"}} )" +
                            to_string(object("a", 12)));
  // Another object with that name: the deletion of the first was missed.
  client.send(WatchEvent::Type::kModified, object("a", 13, "v"));
  EXPECT_EQ(seen.at(2), R"({"metadata":{"name":"a","uid":"u","resourceVersion":"12","namespace":"ns"}} none)");
  EXPECT_EQ(seen.at(3), "none " + to_string(object("a", 13, "v")));
}

TEST_F(InformerTest, NeverGoesBack) {
  client.answer(list_of(10, {object("a", 3)}));
  client.send(WatchEvent::Type::kModified, object("a", 30));
  take_trace();
  client.send(WatchEvent::Type::kError, api::make_status(410, "Expired", "too old resource version"));
  client.end_watch();
  pass(seconds(1));
  client.answer(list_of(20, {object("a", 3)}));  // from a replica that lags behind
  EXPECT_EQ(take_trace(), "");
  EXPECT_EQ(informer->resource_version(), "30");
  pass(seconds(1));
  client.answer(list_of(31, {object("a", 30)}));
  EXPECT_EQ(take_trace(), "");
  EXPECT_EQ(client.open_watches(), 1u);
}

TEST_F(InformerTest, AnswersAfterItsEndAreIgnored) {
  client.answer(list_of(10, {object("a", 3)}));
  client.send(WatchEvent::Type::kError, api::make_status(410, "Expired", "too old resource version"));
  client.end_watch();
  informer.reset();
  EXPECT_FALSE(executor.next_due());
  EXPECT_EQ(client.open_watches(), 0u);
}

TEST_F(InformerTest, ReadsAnewHoweverLateTheWatchIs) {
  client.answer(list_of(5, {object("a", 3)}));
  take_trace();
  informer->read_anew([this] { trace += " read"; });
  EXPECT_EQ(client.open_watches(), 0u);
  ASSERT_EQ(client.calls.size(), 1u);
  EXPECT_EQ(client.calls.front().request.resource_version, "");
  client.answer(list_of(9, {object("a", 8), object("b", 7)}));
  EXPECT_EQ(take_trace(), "~a@8 +b@7 read");
  EXPECT_EQ(client.last_watch().request.resource_version, "9");
  client.send(WatchEvent::Type::kModified, object("a", 10));
  EXPECT_EQ(take_trace(), "~a@10");
}

TEST_F(InformerTest, AListThatWasUnderWayIsNotTheOneAskedFor) {
  informer->read_anew([this] { trace += " read"; });
  ASSERT_EQ(client.calls.size(), 2u);
  client.answer(list_of(5, {object("old", 3)}));
  EXPECT_EQ(take_trace(), "");
  client.answer({500, {}, {}});
  pass(seconds(1));
  client.answer(list_of(6, {object("new", 6)}));
  EXPECT_EQ(take_trace(), "+new@6 synced read");
  EXPECT_EQ(client.open_watches(), 1u);
}

TEST_F(InformerTest, AQuietWatchThatLastedGoesOnAtOnce) {
  client.answer(list_of(5, {}));
  for (std::size_t n = 1; n < 12; ++n) {
    const auto life = client.last_watch().request.timeout_seconds;
    ASSERT_TRUE(life);
    EXPECT_GE(*life, 300);
    EXPECT_LE(*life, 600);
    pass(seconds(*life));
    client.end_watch();
    EXPECT_EQ(client.watches.size(), n + 1);
  }
}

// Otherwise the cache would become stale without any sign of it.
TEST_F(InformerTest, ListsNowAndThenWhatItMayNotWatch) {
  client.answer(list_of(5, {object("a", 3)}));
  take_trace();
  for (int version = 6; version < 9; ++version) {
    client.send(WatchEvent::Type::kError, api::make_status(403, "Forbidden", "may not watch"));
    client.end_watch();
    pass(seconds(10));
    EXPECT_TRUE(client.calls.empty()) << "not all the time";
    pass(seconds(21));
    ASSERT_EQ(client.calls.size(), 1u);
    client.answer(list_of(version, {object("a", version)}));
    EXPECT_EQ(take_trace(), "~a@" + std::to_string(version));
  }
}

}  // namespace
}  // namespace berth::kube::informer_test
