// Kueue's recorded behaviour, played on a whole cluster: on that of berth up in virtual time, and on a real API server
// when there is one. Each recording is one test on each.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "conformance/differences.h"
#include "conformance/kueue_player.h"
#include "support/real_api_server.h"

namespace berth::conformance {
namespace {

class KueueRecording : public testing::TestWithParam<const char*> {
 protected:
  void plays(Site& site, const std::vector<KnownDifference>& known) {
    const std::string recording = std::string("kueue/") + GetParam();
    const auto complaint = [&](const StepResult& step) {
      return judge(recording, step.title, step.differences, known);
    };
    const auto as_known = [&](const StepResult& step) { return complaint(step).empty(); };
    for (const StepResult& step : play_kueue(site, GetParam(), as_known)) {
      if (!as_known(step)) ADD_FAILURE() << recording << ": " << step.title << "\n" << complaint(step);
    }
  }
};

TEST_P(KueueRecording, PlaysOnBerthUp) { plays(*embedded_site(), load_known_differences()); }

TEST_P(KueueRecording, PlaysOnARealApiServer) {
  if (!testing_support::RealApiServer::configured()) GTEST_SKIP() << testing_support::kNoRealApiServer;
  const auto site = real_site();
  auto known = load_known_differences();
  for (KnownDifference& k : load_real_differences(site->traits())) known.push_back(std::move(k));
  plays(*site, known);
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
