// Kueue's feature gates, one line each: the stage and default in Kueue 0.20, and what Berth does with them.
// https://kueue.sigs.k8s.io/docs/installation/#change-the-feature-gates-configuration
#pragma once

#include <span>
#include <string_view>

#include "engine/options.h"
#include "jobs/job_facts.h"

namespace berth::controller {

enum class GateStage { kAlpha, kBeta, kStable, kDeprecated, kOwn };  // kOwn: Berth's, Kueue does not know it

enum class GateSupport {
  kSetting,       // on and off are honoured
  kAlwaysOn,      // off is not honoured
  kNeverOff,      // off is refused: jobs would run without quota
  kMissing,       // on is not honoured
  kNoDifference,  // on and off are the same to a user
};

// What reads the value of a gate.
struct GateReader {
  using EngineSetting = bool& (*)(engine::Options&);
  using JobSetting = bool jobs::JobGates::*;

  constexpr GateReader(GateSupport s) : support(s) {}
  constexpr GateReader(EngineSetting s, bool on = true) : engine(s), engine_on(on) {}
  constexpr GateReader(JobSetting s) : jobs(s) {}

  GateSupport support = GateSupport::kSetting;
  EngineSetting engine = nullptr;
  bool engine_on = true;      // the setting's value while the gate is on
  JobSetting jobs = nullptr;  // with neither, the process reads the gate by gate_or()
};

struct Gate {
  std::string_view name;
  GateStage stage;
  bool kueue_default;
  std::string_view since;  // the release of Kueue that brought this stage or default; "" for kOwn
  GateReader reader;
  // One sentence. kSetting: what the gate does. kMissing: what follows when it is set to true. kAlwaysOn and
  // kNeverOff: what Berth does whatever its value is. kNoDifference: why it does not matter.
  std::string_view says;
  std::string_view needs = {};  // a gate that must be on when this one is; "" none
  bool follows = false;         // not named, it is off when the gate that it needs is off
};

// In order of name.
std::span<const Gate> all_gates();

// Null when nobody knows the name.
const Gate* find_gate(std::string_view name);

// The names of gates that earlier releases had, in order. Their features are Berth's as they are Kueue's now.
std::span<const std::string_view> former_gates();

// The value of a setting while nobody names its gate.
bool default_of(const Gate& gate);

}  // namespace berth::controller
