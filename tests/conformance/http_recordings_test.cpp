// Plays tests/conformance/recordings on the embedded API server, and on a real API server when there is one. Each
// recording is one test on each server.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "conformance/differences.h"
#include "conformance/embedded_server.h"
#include "conformance/player.h"
#include "conformance/real_server.h"
#include "source_dir.h"
#include "support/document_section.h"

namespace berth::conformance::http_recordings_test {
namespace {

class HttpRecording : public testing::TestWithParam<const char*> {
 protected:
  void plays(Server& server, const std::vector<KnownDifference>& known) {
    for (const StepResult& step : play(server, GetParam())) {
      const std::string complaint = judge(GetParam(), step.title, step.differences, known);
      if (!complaint.empty()) ADD_FAILURE() << GetParam() << ": " << step.title << "\n" << complaint;
    }
  }
};

TEST_P(HttpRecording, PlaysOnBerthUp) {
  EmbeddedServer server;
  plays(server, load_known_differences());
}

TEST_P(HttpRecording, PlaysOnARealApiServer) {
  if (!testing_support::RealApiServer::configured()) GTEST_SKIP() << testing_support::kNoRealApiServer;
  RealServer server;
  plays(server, load_real_differences(server.traits()));
}

INSTANTIATE_TEST_SUITE_P(Recordings, HttpRecording,
                         testing::Values("discovery", "access", "crud", "lists", "patches", "apply", "watch",
                                         "custom_resources", "crds", "jobs_pods_nodes"),
                         [](const auto& test) { return std::string(test.param); });

// A difference for a recording or step that does not exist would never be checked.
TEST(Differences, NameStepsThatExist) {
  auto all = load_known_differences();
  for (KnownDifference& k : load_real_differences({})) all.push_back(std::move(k));
  for (const KnownDifference& k : all) EXPECT_FALSE(k.reason.empty()) << k.recording << ": " << k.step;
  std::map<std::string, std::vector<std::string>> steps;
  for (const KnownDifference& k : all) {
    auto& of_recording = steps[k.recording];
    if (of_recording.empty()) of_recording = steps_of(k.recording);
    EXPECT_NE(std::find(of_recording.begin(), of_recording.end(), k.step), of_recording.end())
        << k.recording << ": " << k.step;
  }
}

TEST(Differences, OneThatIsAlsoListedAsMaybeMayBeMissing) {
  const KnownDifference always{
      .recording = "crud", .step = "read", .paths = {"response.a", "response.b"}, .reason = "always"};
  KnownDifference maybe{.recording = "crud", .step = "read", .paths = {"response.a"}, .reason = "maybe", .maybe = true};
  EXPECT_EQ(judge("crud", "read", {}, {always, maybe}),
            "  listed as a difference, but does not differ any more: response.b\n");
  EXPECT_EQ(judge("crud", "read", {{"response.a", "it"}, {"response.b", "it"}}, {always, maybe}), "");
  maybe.step = "write";
  EXPECT_EQ(judge("crud", "read", {{"response.b", "it"}}, {always, maybe}),
            "  listed as a difference, but does not differ any more: response.a\n");
}

// docs/compatibility.md repeats the list. BERTH_UPDATE_DOCS=1 writes it.
TEST(Differences, AreInformedInTheCompatibilityNotes) {
  testing_support::expect_section(source_path("docs/compatibility.md"), "differences",
                                  compatibility_section(load_known_differences()));
}

}  // namespace
}  // namespace berth::conformance::http_recordings_test
