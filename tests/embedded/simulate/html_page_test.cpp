// The report as an HTML page: what it contains, hostile names, bounds, the same bytes for the same story.
#include "embedded/simulate/html/page.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "embedded/simulate/html/charts.h"
#include "embedded/simulate/html/text.h"
#include "embedded/simulate/report.h"
#include "source_dir.h"

namespace berth::simulate::html_page_test {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr Time kStart{std::chrono::sys_days(std::chrono::year(2026) / 1 / 1)};

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

Usage gpus(std::int64_t n) { return {{{"a100", "gpu"}, Amount::of(n)}}; }

// Two workloads of two LocalQueues on four GPUs: the first one runs for an hour, then the second one for three.
Played two_workloads() {
  Played played;
  played.start = kStart;
  played.end = kStart + hours(4);
  Life first{"vision", "detector",        "main", "research", 0,  kStart, kStart,
             kStart,   kStart + hours(1), true,   false,      {}, {}};
  Life second = first;
  second.ns = "language";
  second.name = "tokenizer";
  second.admitted = second.last_admitted = kStart + hours(1);
  second.finished.reset();
  second.waited = hours(1);
  played.lives = {first, second};
  played.utilisation = {{"a100", "gpu", Amount::of(4), Amount::of(4), 3600.0 * (4 + 3 * 2)}};
  played.history.add(NominalChange{kStart, gpus(4)});
  played.history.add(PhaseChange{kStart, 0, Phase::kAdmitted, "research", gpus(4)});
  played.history.add(PhaseChange{kStart, 1, Phase::kWaiting, "", {}});
  played.history.add(PhaseChange{kStart + hours(1), 0, Phase::kGone, "", {}});
  played.history.add(PhaseChange{kStart + hours(1), 1, Phase::kAdmitted, "research", gpus(2)});
  return played;
}

Scenario named(const std::string& name) {
  Scenario scenario;
  scenario.name = name;
  scenario.start = kStart;
  return scenario;
}

TEST(HtmlPage, HasSharesUtilisationWaitsAndStrips) {
  const auto shares = queue_shares(two_workloads().history, kStart + hours(4), {"vision/main", "language/main"});
  ASSERT_EQ(shares.size(), 2u);
  EXPECT_EQ(shares[0].local_queue, "language/main");
  EXPECT_DOUBLE_EQ(shares[0].share, 0.6);
  EXPECT_DOUBLE_EQ(shares[1].used_seconds, 4 * 3600.0);

  const std::string page = to_html(named("two"), two_workloads());
  EXPECT_NE(page.find("On average 2.5 gpu, at most 4, of a nominal quota of 4 at the end."), std::string::npos);
  EXPECT_NE(page.find("language/main 60%. vision/main 40%. "), std::string::npos);
  EXPECT_NE(page.find("2 workloads started, 0 never did."), std::string::npos);
  EXPECT_NE(page.find("class=\"waiting\""), std::string::npos);
  // Every chart has a title, a description and a table.
  EXPECT_EQ(count(page, "role=\"img\""), 5u);
  EXPECT_EQ(count(page, "<desc"), 5u);
  EXPECT_GE(count(page, "<caption>"), 5u);
}

TEST(HtmlPage, NeedsNoScriptAndNoOtherHost) {
  const std::string page = to_html(named("two"), two_workloads());
  for (const char* part : {"<script", "http://", "https://", "src=", "url(", "@import", "<link", "onload"})
    EXPECT_EQ(count(page, part), 0u) << part;
  EXPECT_EQ(count(page, "prefers-color-scheme:dark"), 1u);
  EXPECT_EQ(count(page, "@media print"), 1u);
}

TEST(HtmlPage, EscapesHostileNames) {
  const std::string hostile = "</title><script>alert(1)</script>\"' onload=x\x01\xff\xc2\x80&";
  auto played = two_workloads();
  for (auto& life : played.lives) life.ns = life.name = life.queue = hostile;
  played.utilisation[0].flavor = played.utilisation[0].resource = hostile;
  for (auto& change : played.history.changes) change.cluster_queue = hostile;
  played.failures = {hostile};
  auto scenario = named(hostile);
  scenario.about = hostile;
  const std::string page = to_html(scenario, played);
  EXPECT_EQ(count(page, "<script"), 0u);
  EXPECT_EQ(count(page, "</title>"), count(page, "<title"));
  EXPECT_NE(page.find("&lt;/title&gt;&lt;script&gt;"), std::string::npos);
  EXPECT_EQ(page.find('\x01'), std::string::npos);
  EXPECT_EQ(page.find('\xff'), std::string::npos);
  EXPECT_EQ(html::escaped("a<b\xed\xa0\x80\xf5"), "a&lt;b\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(html::escaped("\xe6\x97\xa5\xe6\x9c\xac", 4), "\xe6\x97\xa5...");
}

TEST(HtmlPage, IsBounded) {
  constexpr std::size_t kMany = 5'000;
  Played played = two_workloads();
  played.lives.resize(kMany, played.lives[1]);
  for (std::size_t i = 2; i < kMany; ++i) {
    played.lives[i].ns = "team-" + std::to_string(i);
    played.history.add(PhaseChange{kStart + minutes(100), i, Phase::kAdmitted, "research", gpus(1)});
  }
  // One workload is evicted again and again.
  for (int i = 0; i < 20'000; ++i) {
    const Time when = kStart + hours(2) + std::chrono::milliseconds(i);
    played.history.add(PhaseChange{when, 0, i % 2 == 0 ? Phase::kAdmitted : Phase::kWaiting, "research", {}});
    played.lives[0].evictions.push_back({when, "Preempted", ""});
  }
  const std::string page = to_html(named("many"), played);
  EXPECT_LT(page.size(), 1u << 20);
  EXPECT_NE(page.find("Shown are 300 of 5000 workloads."), std::string::npos);
  EXPECT_NE(page.find("4992 other LocalQueues"), std::string::npos);
  EXPECT_NE(page.find("Shown are 40 of 5000 LocalQueues."), std::string::npos);
}

TEST(HtmlPage, OfAnEmptyStory) {
  Played played;
  played.start = played.end = kStart;
  const std::string page = to_html(named("empty"), played);
  EXPECT_NE(page.find("No ClusterQueue has quota."), std::string::npos);
  EXPECT_NE(page.find("There was none."), std::string::npos);
  EXPECT_EQ(page.find("nan"), std::string::npos);
}

TEST(HtmlPage, IsTheSameForTheSameStory) {
  std::ifstream in(source_path("config/samples/three-teams.yaml"), std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto scenario = parse_scenario(text);
  ASSERT_TRUE(scenario) << scenario.error().message;
  const auto page = [&] { return to_html(*scenario, play(*scenario, {}).value()); };
  const std::string first = page();
  EXPECT_EQ(first, page());
  EXPECT_NE(first.find("language/large-model"), std::string::npos);
  EXPECT_NE(first.find("class=\"mark\""), std::string::npos) << "two workloads are evicted in this story";
}

}  // namespace
}  // namespace berth::simulate::html_page_test
