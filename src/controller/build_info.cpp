#include "controller/build_info.h"

namespace berth::controller {

void report_build(Metrics& metrics, const BuildInfo& build) {
#if defined(__x86_64__)
  constexpr const char* kPlatform = "linux/amd64";
#elif defined(__aarch64__)
  constexpr const char* kPlatform = "linux/arm64";
#else
  constexpr const char* kPlatform = "linux";
#endif
  metrics.gauge("kueue_build_info", "What is running; always 1.")
      .set({{"git_version", build.version},
            {"git_commit", build.commit},
            {"build_date", build.date},
            {"go_version", "none"},
            {"compiler", __VERSION__},
            {"platform", kPlatform}},
           1);
}

}  // namespace berth::controller
