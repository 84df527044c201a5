// Kueue's recorded behaviour, played on a whole cluster. Each recording is one test.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "conformance/differences.h"
#include "conformance/kueue_player.h"

namespace berth::conformance {
namespace {

class KueueRecording : public testing::TestWithParam<const char*> {};

TEST_P(KueueRecording, IsRepeatedButForTheListedDifferences) {
  const auto known = load_known_differences();
  const std::string recording = std::string("kueue/") + GetParam();
  for (const StepResult& step : play_kueue(GetParam())) {
    const std::string complaint = judge(recording, step.title, step.differences, known);
    if (!complaint.empty()) ADD_FAILURE() << recording << ": " << step.title << "\n" << complaint;
  }
}

INSTANTIATE_TEST_SUITE_P(Recordings, KueueRecording,
                         testing::Values("basics", "reasons", "borrow-reclaim", "limits", "flavors", "fifo",
                                         "stop-and-go", "checks", "two-phase", "tas", "tas-slices",
                                         "node-failure"),
                         [](const auto& recording) {
                           std::string name = recording.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace berth::conformance
