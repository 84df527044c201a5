#include "controller/not_honoured.h"

#include "base/log.h"

namespace berth::controller {

void report_not_honoured(Metrics& metrics, const std::vector<api::config::NotHonoured>& settings) {
  auto gauge = metrics.gauge("berth_settings_not_honoured",
                             "Settings of the Configuration that Berth does not honour; always 1.");
  for (const auto& each : settings) {
    log::warn(each.line);
    gauge.set({{"setting", each.setting}}, 1);
  }
}

}  // namespace berth::controller
