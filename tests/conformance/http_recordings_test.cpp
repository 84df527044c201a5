// Plays tests/conformance/recordings on the embedded API server. Each recording is one test.
#include <gtest/gtest.h>

#include <set>

#include "conformance/differences.h"
#include "conformance/player.h"

namespace berth::conformance {
namespace {

class HttpRecording : public testing::TestWithParam<const char*> {};

TEST_P(HttpRecording, IsAnsweredAlikeButForTheListedDifferences) {
  const auto known = load_known_differences();
  for (const StepResult& step : play(GetParam())) {
    const std::string complaint = judge(GetParam(), step.title, step.differences, known);
    if (!complaint.empty()) ADD_FAILURE() << GetParam() << ": " << step.title << "\n" << complaint;
  }
}

INSTANTIATE_TEST_SUITE_P(Recordings, HttpRecording,
                         testing::Values("discovery", "access", "crud", "lists", "patches", "apply", "watch",
                                         "custom_resources", "crds", "jobs_pods_nodes"),
                         [](const auto& test) { return std::string(test.param); });

// A difference that names a recording or a step that does not exist would never be looked at.
TEST(Differences, NameStepsThatExist) {
  for (const KnownDifference& k : load_known_differences()) {
    const Json file =
        load_yaml_file(BERTH_SOURCE_DIR "/tests/conformance/recordings/" + k.recording + ".yaml");
    bool found = false;
    for (const Json& s : array_at(file, {"steps"})) {
      found = found || string_at(s, {"title"}) == k.step || string_at(s, {"see"}) == k.step;
    }
    EXPECT_TRUE(found) << k.recording << ": " << k.step;
    EXPECT_FALSE(k.reason.empty()) << k.recording << ": " << k.step;
  }
}

}  // namespace
}  // namespace berth::conformance
