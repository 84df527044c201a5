// kueue_build_info: what is running.
#pragma once

#include <string>

#include "base/metrics.h"

namespace berth::controller {

struct BuildInfo {
  std::string version, commit, date;  // commit and date: "unknown" unless the build was told
};
// Sets kueue_build_info; call once.
void report_build(Metrics& metrics, const BuildInfo& build);

}  // namespace berth::controller
