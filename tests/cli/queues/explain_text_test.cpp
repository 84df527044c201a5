// The text of an explanation.
#include "cli/queues/explain_text.h"

#include <gmock/gmock.h>

#include <string>

#include "base/json.h"

namespace berth::cli::queues::explain_text_test {
namespace {

using ::testing::HasSubstr;

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(ExplainText, HoldersOfTheQuotaOfSeveralPodSetsComeOnce) {
  const std::string holders = R"("holders": [{"workload": "a/holder", "amount": "4"}], "moreHolders": 2})";
  const std::string text =
      explanation_text(parse_json(R"({"shortages": [{"podSets": ["x"], "flavor": "f", "resource": "cpu", )" + holders +
                                  R"(, {"podSets": ["y"], "flavor": "f", "resource": "cpu", )" + holders +
                                  R"(, {"podSets": ["y"], "flavor": "f", "resource": "memory", )" + holders + "]}")
                           .value(),
                       false);
  EXPECT_EQ(count_of(text, "a/holder"), 2u) << text;
  EXPECT_EQ(count_of(text, "and 2 more of cpu in f"), 1u) << text;
  EXPECT_EQ(count_of(text, "and 2 more of memory in f"), 1u) << text;
}

TEST(ExplainText, SaysWhenEnoughIsFreeAtTheLatest) {
  const auto text = [](const std::string& ended) {
    return explanation_text(
        parse_json(R"({"forecast": {"at": "2026-01-01T00:00:00Z", "endedWorkloads": )" + ended + "}}").value(), false);
  };
  EXPECT_THAT(text("1"),
              HasSubstr("Enough quota is free by 2026-01-01T00:00:00Z at the latest, unless another workload "
                        "goes first. 1 running workload then reaches its maximum execution time."));
  EXPECT_THAT(text("2"), HasSubstr("2 running workloads then reach their maximum execution time."));
}

}  // namespace
}  // namespace berth::cli::queues::explain_text_test
