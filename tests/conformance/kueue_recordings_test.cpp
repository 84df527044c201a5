// Plays Kueue's recorded behaviour on a whole cluster: on an embedded one in virtual time, and on a real API server
// when there is one. Each recording is one test on each.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "conformance/differences.h"
#include "conformance/kueue_player.h"
#include "support/real_api_server.h"

namespace berth::conformance::kueue_recordings_test {
namespace {

using Differences = std::vector<KnownDifference>;

class KueueRecording : public testing::TestWithParam<const char*> {
 protected:
  // `known_on`: returns the known differences of the site.
  template <typename MakeSite, typename KnownOn>
  void plays(const MakeSite& make_site, const KnownOn& known_on) {
    const std::string recording = std::string("kueue/") + GetParam();
    std::unique_ptr<Site> site;
    StepResult start{kStart, {}};
    try {
      site = make_site(options_of(load_kueue_recording(GetParam())));
    } catch (const std::runtime_error& error) {
      start.differences.push_back({kStart, error.what()});
    }
    const Differences known = known_on(site.get());
    const auto complaint = [&](const StepResult& step) {
      return judge(recording, step.title, step.differences, known);
    };
    const auto as_known = [&](const StepResult& step) { return complaint(step).empty(); };
    std::vector<StepResult> results = {start};
    if (site) {
      for (StepResult& step : play_kueue(*site, GetParam(), as_known)) results.push_back(std::move(step));
    }
    for (const StepResult& step : results) {
      if (!as_known(step)) ADD_FAILURE() << recording << ": " << step.title << "\n" << complaint(step);
    }
  }
};

TEST_P(KueueRecording, PlaysOnBerthUp) {
  plays(embedded_site, [](Site*) { return load_known_differences(); });
}

TEST_P(KueueRecording, PlaysOnARealApiServer) {
  if (!testing_support::RealApiServer::configured()) GTEST_SKIP() << testing_support::kNoRealApiServer;
  plays(real_site, [](Site* site) {
    Differences known = load_known_differences();
    std::erase_if(known, [](const KnownDifference& k) { return k.embedded; });
    for (KnownDifference& k : known) k.events_may_agree = true;
    if (site == nullptr) return known;
    for (KnownDifference& k : load_real_differences(site->traits())) known.push_back(std::move(k));
    return known;
  });
}

INSTANTIATE_TEST_SUITE_P(
    Recordings, KueueRecording,
    testing::Values("basics", "reasons", "borrow-reclaim", "limits", "flavors", "fifo", "stop-and-go", "checks",
                    "two-phase", "tas", "tas-slices", "node-failure", "fair-sharing", "fair-sharing-weights",
                    "fair-sharing-final", "fair-sharing-initial", "fair-sharing-both", "fair-sharing-nested",
                    "fair-sharing-zero", "fair-sharing-gates-on", "fair-sharing-gates-off", "fair-sharing-order-on",
                    "fair-sharing-order-off", "pods-ready", "pods-ready-recovery", "pods-ready-block", "retention",
                    "transformations", "quota-check-block", "quota-check-ignore", "unadmitted-default",
                    "unadmitted-explicit", "unadmitted-legacy", "admission-fair-sharing", "admission-fair-sharing-gpu",
                    "admission-fair-sharing-penalty", "admission-fair-sharing-preemption",
                    "admission-fair-sharing-weights", "admission-gated-by", "job-webhooks", "refusals-job", "refusals",
                    "elastic-jobs", "elastic-jobs-wait", "elastic-jobs-preempted", "priorities", "prebuilt",
                    "default-queue", "without-queue", "templates", "pod-set-updates", "pod-set-updates-wrong",
                    "visibility", "kueuectl", "dra", "dra-refused", "dra-extended", "dra-counters", "preemption-gates",
                    "priority-boost", "pod", "pod-group", "pod-group-failures", "pod-group-modes", "pod-owners",
                    "deployment", "statefulset", "statefulset-more", "leaderworkerset", "leaderworkerset-more",
                    "ancestors", "jobset", "pytorchjob", "kubeflow-others", "mpijob", "rayjob", "rayservice",
                    "trainjob", "appwrapper", "raycluster", "rayjob-modes", "sparkapplication", "refusals-others"),
    [](const auto& recording) {
      std::string name = recording.param;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

}  // namespace
}  // namespace berth::conformance::kueue_recordings_test
