// Streamed lists (lists at the beginning of a watch), and the ways in which a server may fail to serve them.
#include <gtest/gtest.h>

#include "kube/informer_fixture.h"

namespace berth::kube::informer_stream_test {
namespace {

using api::WatchEvent;
using std::chrono::milliseconds;
using std::chrono::seconds;

class InformerStreamTest : public InformerFixture {
 protected:
  void SetUp() override { start(); }

  void added(const Json& what) { client.send(WatchEvent::Type::kAdded, what); }
  void bookmark(int version, bool last = false) {
    Json object = JsonObject{{"metadata", JsonObject{{"resourceVersion", std::to_string(version)}}}};
    if (last) ensure_path(object, {"metadata", "annotations", api::kInitialEventsEnd}) = "true";
    client.send(WatchEvent::Type::kBookmark, object);
  }
  void end_of_list(int version) { bookmark(version, true); }
  void error(int code) { client.send(WatchEvent::Type::kError, api::make_status(code, "", "an error")); }
  bool streams() const {
    return client.calls.empty() && client.open_watches() == 1 && client.watches.back()->request.send_initial_events;
  }
  // Expires the version of the watch (410), so that the informer lists again.
  void expire() {
    error(410);
    client.end_watch();
    pass(seconds(1));
  }
};

TEST_F(InformerStreamTest, TheListIsTheBeginningOfTheWatch) {
  ASSERT_TRUE(streams());
  const api::RestRequest& asked = client.last_watch().request;
  EXPECT_TRUE(*asked.send_initial_events);
  EXPECT_EQ(asked.resource_version_match, "NotOlderThan");
  EXPECT_EQ(asked.resource_version, "") << "as new as now";
  EXPECT_TRUE(asked.allow_bookmarks);
  ASSERT_TRUE(asked.timeout_seconds);
  EXPECT_GE(*asked.timeout_seconds, 300);
  EXPECT_LE(*asked.timeout_seconds, 600);

  added(object("b", 9));
  added(object("a", 3));
  EXPECT_EQ(take_trace(), "+b@9 +a@3") << "the first list is told as it comes";
  EXPECT_FALSE(informer->synced());
  end_of_list(10);
  EXPECT_EQ(take_trace(), " synced");
  EXPECT_EQ(informer->resource_version(), "10");
  client.send(WatchEvent::Type::kModified, object("a", 11));
  EXPECT_EQ(take_trace(), "~a@11");
  EXPECT_EQ(client.watches.size(), 1u);
  EXPECT_TRUE(client.calls.empty());

  client.end_watch();
  EXPECT_EQ(client.last_watch().request.resource_version, "11");
  EXPECT_FALSE(client.last_watch().request.send_initial_events) << "from there no list is needed";
}

TEST_F(InformerStreamTest, WhatHappensWhileItComesIsPartOfTheList) {
  added(object("a", 3));
  added(object("b", 4));
  client.send(WatchEvent::Type::kModified, object("a", 11));
  client.send(WatchEvent::Type::kDeleted, object("b", 12));
  client.send(WatchEvent::Type::kDeleted, object("never", 13));
  end_of_list(13);
  EXPECT_EQ(take_trace(), "+a@3 +b@4 ~a@11 -b@12 synced");
}

TEST_F(InformerStreamTest, ALaterListIsReportedAtItsEnd) {
  for (const char* name : {"a", "b", "c", "d", "e"}) added(object(name, 3));
  end_of_list(10);
  expire();
  ASSERT_TRUE(streams());
  take_trace();
  added(object("a", 3));
  added(object("b", 15));
  added(object("c", 3));
  added(object("d", 12, "other"));
  added(object("x", 14));
  client.send(WatchEvent::Type::kModified, object("a", 16));
  client.send(WatchEvent::Type::kDeleted, object("c", 17));
  client.send(WatchEvent::Type::kDeleted, object("x", 18));
  added(object("y", 19));
  EXPECT_EQ(take_trace(), "");
  end_of_list(19);
  EXPECT_EQ(take_trace(), "-c@3 -d@3 -e@3 ~a@16 ~b@15 +d@12 +y@19") << "what is gone first";
  EXPECT_EQ(client.open_watches(), 1u);
}

TEST_F(InformerStreamTest, ReportsHowTheListEnded) {
  std::string ends;
  informer->on_list([&](const api::RestResponse& response) { ends += std::to_string(response.code) + " "; });
  error(500);
  EXPECT_EQ(ends, "") << "pages follow, and they will say";
  client.answer({503, Json(JsonObject()), {}});
  EXPECT_EQ(ends, "503 ");
  pass(seconds(1));
  ASSERT_TRUE(streams()) << "what ails a server need not be the stream";
  end_of_list(10);
  EXPECT_EQ(ends, "503 200 ");
}

TEST_F(InformerStreamTest, ARefusalIsRememberedForEverybody) {
  for (const int code : {400, 422}) {
    FakeRestClient server(executor);
    Informer first(server, executor, {"", "v1", "pods"}), second(server, executor, {"", "v1", "nodes"});
    first.start();
    server.send(WatchEvent::Type::kError, api::make_status(code, "Invalid", "sendInitialEvents: Forbidden"));
    ASSERT_EQ(server.calls.size(), 1u) << "at once, in pages";
    server.answer(list_of(10, {object("a", 3)}));
    EXPECT_TRUE(first.synced());
    EXPECT_EQ(server.last_watch().request.resource_version, "10");
    second.start();
    EXPECT_EQ(server.calls.size(), 1u);
    EXPECT_EQ(server.watches.size(), 2u);
  }
}

TEST_F(InformerStreamTest, OtherFailuresAreFollowedByPagesOnce) {
  int version = 10;
  for (const int code : {0, 401, 404, 410, 429, 500, 504}) {
    ASSERT_TRUE(streams()) << code;
    added(object("half", version));
    error(code);
    EXPECT_EQ(client.open_watches(), 0u);
    ++version;
    client.answer(list_of(version, {object("a", version)}));
    EXPECT_EQ(client.open_watches(), 1u);
    EXPECT_FALSE(client.last_watch().request.send_initial_events);
    expire();
  }
  EXPECT_EQ(informer->list().size(), 1u);
}

TEST_F(InformerStreamTest, AStreamThatEndsEarlyIsFollowedByPages) {
  added(object("gone", 3));
  added(object("a", 4));
  client.end_watch();
  ASSERT_EQ(client.calls.size(), 1u);
  client.answer(list_of(10, {object("a", 4)}));
  EXPECT_EQ(take_trace(), "+gone@3 +a@4 -gone@3 synced");
  expire();
  EXPECT_TRUE(streams());
}

// Older servers do not know the parameters: they send the objects that exist, then changes, and sometimes a bookmark.
TEST_F(InformerStreamTest, ABookmarkBeforeTheEndTellsAServerThatKnowsNoStreams) {
  added(object("a", 3));
  bookmark(10);
  EXPECT_FALSE(informer->synced());
  EXPECT_EQ(client.open_watches(), 0u);
  client.answer(list_of(10, {object("a", 3)}));
  EXPECT_EQ(take_trace(), "+a@3 synced");
  expire();
  EXPECT_EQ(client.calls.size(), 1u) << "it is not asked again";
}

TEST_F(InformerStreamTest, SoDoesSilenceAfterObjects) {
  for (int n = 1; n < 5; ++n) {
    pass(seconds(9));
    added(object("a", n));
    ASSERT_TRUE(streams()) << "slow is not silent";
  }
  pass(seconds(21));
  ASSERT_EQ(client.calls.size(), 1u);
  EXPECT_EQ(client.open_watches(), 0u);
  client.answer(list_of(10, {object("a", 4)}));
  expire();
  EXPECT_EQ(client.calls.size(), 1u) << "it is not asked again";
}

TEST_F(InformerStreamTest, SilenceFromTheBeginningSaysNothing) {
  pass(seconds(10));
  ASSERT_EQ(client.calls.size(), 1u);
  client.answer(list_of(10, {}));
  EXPECT_TRUE(informer->synced());
  expire();
  EXPECT_TRUE(streams());
  end_of_list(11);
  pass(seconds(60));
  EXPECT_EQ(client.watches.size(), 3u) << "a list that came is not waited for";
}

TEST_F(InformerStreamTest, NeverGoesBack) {
  added(object("a", 3));
  end_of_list(10);
  client.send(WatchEvent::Type::kModified, object("a", 30));
  take_trace();
  expire();
  added(object("a", 3));
  end_of_list(20);  // from a replica that lags behind
  EXPECT_EQ(take_trace(), "");
  EXPECT_EQ(informer->resource_version(), "30");
  client.answer(list_of(31, {object("a", 30)}));
  EXPECT_EQ(take_trace(), "");
  EXPECT_EQ(informer->resource_version(), "31");
}

TEST_F(InformerStreamTest, ReadsAnewByAStreamOfItsOwn) {
  added(object("old", 3));
  informer->read_anew([this] { trace += " read"; });
  EXPECT_EQ(client.watches.size(), 2u);
  ASSERT_TRUE(streams());
  added(object("new", 6));
  end_of_list(6);
  EXPECT_EQ(take_trace(), "+old@3 +new@6 -old@3 synced read");
  informer->read_anew([this] { trace += " read"; });
  added(object("new", 8));
  error(500);
  client.answer({0, Json(), {}});
  EXPECT_EQ(take_trace(), "");
  pass(seconds(1));
  added(object("new", 9));
  end_of_list(9);
  EXPECT_EQ(take_trace(), "~new@9 read");
  EXPECT_EQ(client.open_watches(), 1u);
}

TEST_F(InformerStreamTest, ListsInPagesWhatItMayNotWatch) {
  for (int version = 6; version < 9; ++version) {
    if (version == 6) error(403);
    EXPECT_EQ(client.watches.size(), static_cast<std::size_t>(version - 5)) << "one stream at first, then none";
    ASSERT_EQ(client.calls.size(), 1u);
    client.answer(list_of(version, {object("a", version)}));
    error(403);
    client.end_watch();
    pass(seconds(31));
  }
}

TEST_F(InformerStreamTest, AnswersAfterItsEndAreIgnored) {
  added(object("a", 3));
  informer.reset();
  EXPECT_FALSE(executor.next_due());
  EXPECT_EQ(client.open_watches(), 0u);
}

}  // namespace
}  // namespace berth::kube::informer_stream_test
