#include "console/collection.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace berth::console::collection_test {
namespace {

Row row(const std::string& key, const std::string& ns = "", int value = 1) {
  return {key, ns, R"({"key":")" + key + R"(","v":)" + std::to_string(value) + "}"};
}

const Scope kAll{true, {}};
Scope in(std::set<std::string, std::less<>> namespaces) { return {false, std::move(namespaces)}; }

std::size_t rows_in(Collection& rows, const Scope& scope, std::size_t* parts = nullptr) {
  Collection::Cursor cursor;
  std::size_t count = 0;
  while (const auto part = rows.next_part(scope, cursor)) {
    count += parse_json("[" + *part + "]").value().as_array().size();
    if (parts != nullptr) ++*parts;
  }
  return count;
}

// The changes since a version as one text; nullopt when there are too many.
std::optional<std::string> changes(Collection& rows, const Scope& scope, std::uint64_t since) {
  std::vector<http::SharedBytes> events;
  if (!rows.changes(scope, since, events)) return std::nullopt;
  std::string text;
  for (const auto& event : events) text += *event;
  return text;
}

TEST(Collection, SnapshotsHaveTheRowsOfTheScope) {
  Collection rows("workloads");
  for (int i = 0; i < 1'200; ++i) rows.set(row("a/" + std::to_string(i), "a"));
  rows.set(row("b/1", "b"));
  std::size_t parts = 0;
  EXPECT_EQ(rows_in(rows, kAll, &parts), 1'201u);
  EXPECT_EQ(parts, 4u);
  EXPECT_EQ(rows_in(rows, in({"b"})), 1u);
  EXPECT_EQ(rows_in(rows, in({"c"})), 0u);
  EXPECT_EQ(rows_in(rows, {}), 0u);
}

TEST(Collection, PartsAreEncodedOnceAndAgainAfterAChange) {
  Collection rows("workloads");
  rows.set(row("a", ""));
  Collection::Cursor one, two, three;
  const auto first = rows.next_part(kAll, one);
  EXPECT_EQ(rows.next_part(kAll, two), first);
  rows.set(row("a", "", 2));
  EXPECT_EQ(*rows.next_part(kAll, three), R"({"key":"a","v":2})");
}

TEST(Collection, ChangesOfARowAreMerged) {
  Collection rows("x");
  rows.set(row("a"));
  const auto before = rows.version();
  for (int i = 2; i < 5; ++i) rows.set(row("a", "", i));
  EXPECT_EQ(*changes(rows, kAll, before),
            "event: change\ndata: {\"collection\":\"x\",\"set\":[{\"key\":\"a\",\"v\":4}],\"delete\":[]}\n\n");
  rows.erase("a");
  EXPECT_EQ(*changes(rows, kAll, before),
            "event: change\ndata: {\"collection\":\"x\",\"set\":[],\"delete\":[\"a\"]}\n\n");
  rows.set(row("a", "", 9));
  EXPECT_EQ(*changes(rows, kAll, before),
            "event: change\ndata: {\"collection\":\"x\",\"set\":[{\"key\":\"a\",\"v\":9}],\"delete\":[]}\n\n");
  EXPECT_EQ(*changes(rows, kAll, rows.version()), "");
}

TEST(Collection, AnEqualRowIsNoChange) {
  Collection rows("x");
  rows.set(row("a"));
  const auto before = rows.version();
  rows.set(row("a"));
  EXPECT_EQ(rows.version(), before);
}

TEST(Collection, ChangesOfOtherNamespacesAreNotReported) {
  Collection rows("x");
  rows.set(row("a/1", "a"));
  rows.set(row("b/1", "b"));
  EXPECT_EQ(changes(rows, in({"a"}), 0)->find("b/1"), std::string::npos);
  rows.erase("b/1");
  EXPECT_EQ(changes(rows, in({"a"}), 0)->find("b/1"), std::string::npos);
}

TEST(Collection, ARowThatLeavesANamespaceIsDeletedThere) {
  Collection rows("x");
  rows.set(row("k", "a"));
  const auto before = rows.version();
  rows.set(row("k", "b"));
  EXPECT_NE(changes(rows, in({"a"}), before)->find(R"("delete":["k"])"), std::string::npos);
  EXPECT_NE(changes(rows, in({"b"}), before)->find(R"("set":[{"key":"k")"), std::string::npos);
}

TEST(Collection, WhoIsTooFarBehindNeedsASnapshot) {
  Collection rows("x");
  for (std::size_t i = 0; i <= kMaxMergedChanges; ++i) rows.set(row(std::to_string(i)));
  EXPECT_EQ(changes(rows, kAll, 0), std::nullopt);
  const auto before = rows.version();
  // Many changes of few rows are no reason.
  for (int i = 0; i < 10'000; ++i) rows.set(row("1", "", i + 2));
  EXPECT_TRUE(changes(rows, kAll, before).has_value());
  for (std::size_t i = 0; i <= kMaxDeletions; ++i) {
    rows.set(row("gone"));
    rows.erase("gone");
  }
  EXPECT_EQ(changes(rows, kAll, before), std::nullopt);
}

}  // namespace
}  // namespace berth::console::collection_test
