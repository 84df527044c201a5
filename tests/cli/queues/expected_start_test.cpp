// berth list workload -o wide: when workloads are expected to start, and how much is asked for it.
#include "cli/queues/expected_start.h"

#include <gtest/gtest.h>

#include <memory>
#include <sstream>

#include "api/visibility/visibility.h"

namespace berth::cli::queues::expected_start_test {
namespace {

std::string with_two_digits(int number) { return (number < 10 ? "w0" : "w") + std::to_string(number); }

// Predicts that all workloads start at the same times. Each question takes a while.
class Oracle final : public Server {
 public:
  api::RestResponse get(const std::string& path) override {
    asked.push_back(path);
    now_ += takes;
    if (refuses) return {403, JsonObject{{"message", "no right"}}, {}};
    return {
        200, parse_json(R"({"start": {"p50": "2026-01-01T01:00:00Z", "after": "2026-03-01T00:00:00Z"}})").value(), {}};
  }
  api::RestResponse call(api::RestRequest) override { return {404, Json(), {}}; }
  Time now() const override { return now_; }
  void sleep(Duration) override {}
  std::string default_namespace() const override { return "ns"; }
  std::string explain(const api::RestResponse&, const api::GroupVersionResource&) const override { return "refused"; }

  std::vector<std::string> asked;
  Duration takes{};
  bool refuses = false;

 private:
  Time now_{};
};

class ExpectedStarts : public testing::Test {
 protected:
  ExpectedStarts() {
    // Forty wait; the last by name stands first.
    for (int i = 0; i < 40; ++i) {
      add(with_two_digits(i), "not enough");
      positions[{"ns", with_two_digits(i)}] = 39 - i;
    }
    add("never", "not enough. It can never fit: at most 8");
    session.out = session.err = &said;
  }
  void add(const std::string& name, const std::string& message) {
    JsonObject condition{{"type", "QuotaReserved"}, {"status", "False"}, {"reason", "Pending"}, {"message", message}};
    workloads.push_back(JsonObject{{"metadata", JsonObject{{"namespace", "ns"}, {"name", name}}},
                                   {"status", JsonObject{{"conditions", JsonArray{std::move(condition)}}}}});
  }

  Oracle oracle;
  std::ostringstream said;
  Session session;
  JsonArray workloads;
  Positions positions;
};

TEST_F(ExpectedStarts, AreOfThoseThatStandFirst) {
  const auto starts = expected_starts(session, oracle, workloads, positions);
  EXPECT_EQ(starts.size(), kMostExpectedStarts + 1);
  EXPECT_EQ(oracle.asked.size(), kMostExpectedStarts);
  EXPECT_EQ(starts.at({"ns", "w39"}).p50, "2026-01-01T01:00:00Z");
  EXPECT_EQ(starts.at({"ns", "w39"}).p90, "after 2026-03-01T00:00:00Z");
  EXPECT_TRUE(starts.contains({"ns", "w20"}));
  EXPECT_FALSE(starts.contains({"ns", "w19"}));
  EXPECT_EQ(starts.at({"ns", "never"}).p50, "never");
  EXPECT_EQ(starts.at({"ns", "never"}).p90, "never");
  EXPECT_EQ(said.str(), "");
}

TEST_F(ExpectedStarts, AreNotWaitedForLong) {
  oracle.takes = std::chrono::milliseconds(900);
  EXPECT_EQ(expected_starts(session, oracle, workloads, positions).size(), 4u) << "three, and what can never fit";
}

TEST_F(ExpectedStarts, SayOnceWhyTheyAreNotKnown) {
  oracle.refuses = true;
  const auto starts = expected_starts(session, oracle, workloads, positions);
  EXPECT_EQ(starts.size(), 1u);
  EXPECT_NE(said.str().find("expected starts are not known: "), std::string::npos) << said.str();
  EXPECT_LE(oracle.asked.size(), 3u);
}

// What berth explain adds.
class OfAnExplanation : public testing::Test {
 protected:
  std::string text(const std::string& prediction) {
    Json explanation = parse_json(R"({"state": "Pending", "metadata": {"namespace": "ns", "name": "w"}})").value();
    add_expected_start(parse_json(prediction).value(), explanation);
    return expected_start_text(explanation);
  }
};

TEST_F(OfAnExplanation, NamesTheTimesAndWhatTheyRestOn) {
  EXPECT_EQ(text(R"({"summary": "it starts then", "at": "T0", "start": {"p10": "T1", "p50": "T2", "p90": "T3"},
                     "restsOn": [{"basis": "finished workloads", "workloads": 3}]})"),
            "P50 T2, P90 T3, as of T0\nit starts then\nrests on finished workloads: 3 workloads\n");
  EXPECT_EQ(text(R"({"summary": "later", "at": "T0", "start": {"p50": "T2", "after": "T9"}, "limit": "the bound"})"),
            "P50 T2, P90 after T9, as of T0\nlater\nnot complete: the bound\n");
  EXPECT_EQ(text(R"({"summary": "later", "at": "T0", "start": {"after": "T9"}})"),
            "P50 after T9, P90 after T9, as of T0\nlater\n");
  EXPECT_EQ(text(R"({"summary": "never", "never": "too large", "at": "T0"})"), "never: too large\n");
  EXPECT_EQ(text(R"({"summary": "nothing is known", "at": "T0"})"), "nothing is known\n");
}

TEST_F(OfAnExplanation, IsAskedOnlyOfWhatWaits) {
  Oracle oracle;
  Json admitted = parse_json(R"({"state": "Admitted", "metadata": {"namespace": "ns", "name": "w"}})").value();
  add_expected_start(oracle, admitted);
  EXPECT_TRUE(oracle.asked.empty());
  EXPECT_EQ(expected_start_text(admitted), "");
  Json waits = parse_json(R"({"state": "Held", "metadata": {"namespace": "ns", "name": "w"}})").value();
  add_expected_start(oracle, waits);
  EXPECT_EQ(string_at(waits, {"expectedStart", "p50"}), "2026-01-01T01:00:00Z");
  oracle.refuses = true;
  add_expected_start(oracle, waits);
  EXPECT_NE(expected_start_text(waits).find("not known: "), std::string::npos);
}

TEST(ExpectedStart, HasADashForWhatIsNotKnown) {
  const auto none = expected_start(parse_json(R"({"summary": "nothing is known"})").value());
  EXPECT_EQ(none.p50, "-");
  EXPECT_EQ(none.p90, "-");
}

}  // namespace
}  // namespace berth::cli::queues::expected_start_test
