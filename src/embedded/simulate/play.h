// Plays a scenario in virtual time and returns the results.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/rest.h"
#include "base/result.h"
#include "embedded/simulate/observer.h"
#include "embedded/simulate/scenario.h"

namespace berth::simulate {

struct PlayOptions {
  std::uint64_t seed = 1;
  std::function<std::unique_ptr<api::RestClient>(api::RestClient& server, Executor&)> between;  // see WorldOptions
  controller::FeatureGates feature_gates;                          // take precedence over the gates of the scenario
  std::function<void(const Moment&)> on_moment;                    // called when each moment happens
  std::function<void(Time when, const std::string& text)> on_say;  // called with the text of `say`
  std::function<void(const std::string& picture)> on_racks;        // called for each step with `racks: true`
  bool colour = false;                                             // colours in the picture (terminal escape sequences)
};

struct Played {
  Time start{}, end{};
  std::vector<std::string> failures;  // expectations that did not hold, with time and path
  std::vector<Life> lives;
  std::vector<Utilisation> utilisation;
  bool all_finished = false;
  History history;  // its workloads are numbered as `lives`
};

// Fails when the scenario cannot be played (a manifest is refused, a kind is unknown). Expectations that do not hold
// are in the result.
Result<Played> play(const Scenario& scenario, const PlayOptions& options);

}  // namespace berth::simulate
