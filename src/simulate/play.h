// Plays a scenario in virtual time and says what came of it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/rest.h"
#include "base/result.h"
#include "simulate/observer.h"
#include "simulate/scenario.h"

namespace berth::simulate {

struct PlayOptions {
  std::uint64_t seed = 1;
  std::function<std::unique_ptr<api::RestClient>(api::RestClient& server, Executor&)> between;  // see WorldOptions
  controller::FeatureGates feature_gates;  // before the scenario's own
  std::function<void(const Moment&)> on_moment;                    // as things happen
  std::function<void(Time when, const std::string& text)> on_say;  // the scenario's own words
  std::function<void(const std::string& picture)> on_racks;        // where the scenario asks for it
  bool colour = false;                                             // of the picture
};

struct Played {
  Time start{}, end{};
  std::vector<std::string> failures;  // expectations that did not hold, with time and path
  std::vector<Life> lives;
  std::vector<Utilisation> utilisation;
  bool all_finished = false;
};

// Fails when the scenario cannot be played (a manifest is refused, an unknown kind); broken expectations are
// in the result.
Result<Played> play(const Scenario& scenario, const PlayOptions& options);

}  // namespace berth::simulate
