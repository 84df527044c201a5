// Get, and list with paging.
#include <gtest/gtest.h>

#include <algorithm>

#include "embedded/apiserver/server/harness.h"

namespace berth::apiserver::read_test {
namespace {

class ReadTest : public ServerTest {
 protected:
  ReadTest() : ServerTest({.seed = 7, .history = 20}) {
    for (int i = 0; i < 5; ++i) {
      const std::string n = std::to_string(i);
      EXPECT_EQ(
          create(kConfigMaps, "default",
                 config_map("m" + n, R"(,"labels":{"n":")" + n + R"(","tier":")" + (i % 2 == 0 ? "b" : "a") + "\"}"))
              .code,
          201);
    }
  }
  static std::string names(const api::RestResponse& list) {
    std::string text;
    for (const Json& item : array_at(list.body, {"items"}))
      text += std::string(string_at(item, {"metadata", "name"})) + " ";
    return text;
  }
  api::RestResponse page(std::string_view token, std::int64_t limit = 2) {
    auto r = request(api::Verb::kList, kConfigMaps, "default");
    r.limit = limit;
    r.continue_token = token;
    return call(r);
  }
  static std::string_view token_of(const api::RestResponse& list) {
    return string_at(list.body, {"metadata", "continue"});
  }
  api::RestResponse at(std::string_view version, std::string_view match = "", std::int64_t limit = 0) {
    auto r = request(api::Verb::kList, kConfigMaps, "default");
    r.resource_version = version;
    r.resource_version_match = match;
    r.limit = limit;
    return call(r);
  }
};

TEST_F(ReadTest, ListsAreInOrderAndCarryTheirRevision) {
  const auto all = list(kConfigMaps, "default");
  EXPECT_EQ(names(all), "m0 m1 m2 m3 m4 ");
  EXPECT_EQ(string_at(all.body, {"kind"}), "ConfigMapList");
  EXPECT_EQ(string_at(all.body, {"metadata", "resourceVersion"}), std::to_string(server->revision()));
  EXPECT_EQ(find(array_at(all.body, {"items"})[0], "kind"), nullptr);
  EXPECT_EQ(names(list(kConfigMaps, "kube-system")), "");
  EXPECT_EQ(names(list(kConfigMaps, "")), "m0 m1 m2 m3 m4 ");
}

TEST_F(ReadTest, PagesShowOneMoment) {
  const auto first = page("");
  EXPECT_EQ(names(first), "m0 m1 ");
  EXPECT_EQ(int_at(first.body, {"metadata", "remainingItemCount"}), 3);
  ASSERT_EQ(create(kConfigMaps, "default", config_map("m11")).code, 201);
  ASSERT_EQ(remove(kConfigMaps, "default", "m2").code, 200);
  const auto second = page(token_of(first));
  EXPECT_EQ(names(second), "m2 m3 ");
  EXPECT_EQ(string_at(second.body, {"metadata", "resourceVersion"}),
            string_at(first.body, {"metadata", "resourceVersion"}));
  const auto third = page(token_of(second));
  EXPECT_EQ(names(third), "m4 ");
  EXPECT_EQ(token_of(third), "");
}

TEST_F(ReadTest, AnExpiredPageOffersToGoOnWithTheNewest) {
  const auto first = page("");
  for (int i = 0; i < 25; ++i)
    ASSERT_EQ(patch(kConfigMaps, "default", "m4", R"({"data":{"i":")" + std::to_string(i) + "\"}}").code, 200);
  const auto expired = page(token_of(first));
  EXPECT_EQ(expired.code, 410);
  EXPECT_EQ(api::status_reason(expired), "Expired");
  const auto rest = page(token_of(expired), 10);
  EXPECT_EQ(rest.code, 200);
  EXPECT_EQ(names(rest), "m2 m3 m4 ");
}

TEST_F(ReadTest, SelectorsOnLabelsAndFields) {
  const auto select = [&](std::string_view labels, std::string_view fields, std::int64_t limit = 0) {
    auto r = request(api::Verb::kList, kConfigMaps, "default");
    r.label_selector = labels;
    r.field_selector = fields;
    r.limit = limit;
    return call(r);
  };
  EXPECT_EQ(names(select("tier=a", "")), "m1 m3 ");
  EXPECT_EQ(names(select("n notin (0,1,2),tier", "")), "m3 m4 ");
  EXPECT_EQ(names(select("", "metadata.name=m1")), "m1 ");
  EXPECT_EQ(names(select("", "metadata.name!=m1,metadata.namespace=default")), "m0 m2 m3 m4 ");
  EXPECT_EQ(select("===", "").code, 400);
  const auto unknown = select("", "data.a=1");
  EXPECT_EQ(unknown.code, 400);
  EXPECT_EQ(api::status_message(unknown),
            "\"data.a\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"");
  const auto first = select("tier=b", "", 2);
  EXPECT_EQ(names(first), "m0 m2 ");
  EXPECT_NE(token_of(first), "");
  EXPECT_EQ(find_path(first.body, {"metadata", "remainingItemCount"}), nullptr);
}

TEST_F(ReadTest, VersionsOfThePast) {
  const std::string before = std::to_string(server->revision());
  ASSERT_EQ(remove(kConfigMaps, "default", "m0").code, 200);
  EXPECT_EQ(names(at(before, "Exact")), "m0 m1 m2 m3 m4 ");
  EXPECT_EQ(names(at(before, "NotOlderThan")), "m1 m2 m3 m4 ");
  EXPECT_EQ(names(at(before)), "m1 m2 m3 m4 ");
  EXPECT_EQ(names(at(before, "", 2)), "m0 m1 ");
  EXPECT_EQ(names(at("0", "", 2)), "m1 m2 m3 m4 ");
  for (int i = 0; i < 25; ++i)
    ASSERT_EQ(patch(kConfigMaps, "default", "m4", R"({"data":{"i":")" + std::to_string(i) + "\"}}").code, 200);
  EXPECT_EQ(at(before, "Exact").code, 410);
}

TEST_F(ReadTest, VersionsOfTheFutureAreWaitedFor) {
  const Revision next = server->revision() + 1;
  auto r = request(api::Verb::kGet, kConfigMaps, "default", "m0");
  r.resource_version = std::to_string(next);
  int code = -1;
  server->call(r, [&](const api::RestResponse& answer) { code = answer.code; });
  settle();
  EXPECT_EQ(code, -1);
  ASSERT_EQ(create(kConfigMaps, "default", config_map("new")).code, 201);
  EXPECT_EQ(code, 200);

  r.resource_version = std::to_string(next + 1'000'000);
  api::RestResponse late;
  server->call(r, [&](api::RestResponse answer) { late = std::move(answer); });
  executor.run_until(executor.now() + std::chrono::seconds(4));
  EXPECT_EQ(late.code, 504);
  EXPECT_EQ(api::status_message(late), "Timeout: Too large resource version: " + std::to_string(next + 1'000'000) +
                                           ", current: " + std::to_string(next));
  EXPECT_EQ(int_at(late.body, {"details", "retryAfterSeconds"}), 1);
}

TEST_F(ReadTest, RequestsInFlightAreAnsweredWhenTheServerGoes) {
  std::vector<int> codes;
  auto future = request(api::Verb::kGet, kConfigMaps, "default", "m0");
  future.resource_version = "1000000";
  server->call(future, [&](const api::RestResponse& answer) { codes.push_back(answer.code); });
  server->call(request(api::Verb::kCreate, kConfigMaps, "default", "", config_map("new")),
               [&](const api::RestResponse& answer) { codes.push_back(answer.code); });
  server.reset();
  settle();
  std::ranges::sort(codes);
  EXPECT_EQ(codes, (std::vector<int>{0, 0}));  // outcome unknown
}

TEST_F(ReadTest, OptionsThatContradictEachOther) {
  const auto why = [&](const api::RestResponse& answer) {
    return std::to_string(answer.code) + " " + std::string(api::status_message(answer));
  };
  EXPECT_EQ(why(at("", "Exact")),
            "422 ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch "
            "is forbidden unless resourceVersion is provided");
  EXPECT_EQ(why(at("0", "Exact")),
            "422 ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch "
            "\"exact\" is forbidden for resourceVersion \"0\"");
  EXPECT_EQ(why(at("abc")),
            "400 invalid resource version: resourceVersion: Invalid value: \"abc\": strconv.ParseUint: "
            "parsing \"abc\": "
            "invalid syntax");
  EXPECT_EQ(page("nonsense!").code, 400);
}

}  // namespace
}  // namespace berth::apiserver::read_test
