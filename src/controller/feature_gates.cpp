#include "controller/feature_gates.h"

#include <algorithm>

#include "base/similar.h"

namespace berth::controller {
namespace {

std::string place_of(std::string_view path, std::string_view name) {
  const std::string gate(name);
  return path.empty() ? "feature gate \"" + gate + "\"" : std::string(path) + "." + gate;
}

tl::unexpected<Error> refuse(std::string_view path, std::string_view name, const std::string& why) {
  return fail(place_of(path, name) + ": " + why);
}

bool is_former(std::string_view name) { return std::ranges::binary_search(former_gates(), name); }

std::string unknown(std::string_view name) {
  std::vector<std::string_view> known;
  for (const auto& gate : all_gates()) known.push_back(gate.name);
  const auto nearest = most_similar(name, known);
  return "neither Kueue nor Berth has it" +
         (nearest.empty() ? std::string("; remove it") : "; did you mean " + std::string(nearest) + "?");
}

Result<void> check_gate(std::string_view path, std::string_view name, bool on) {
  if (is_former(name)) return {};
  const Gate* gate = find_gate(name);
  if (gate == nullptr) return refuse(path, name, unknown(name));
  if (gate->reader.support == GateSupport::kNeverOff && !on)
    return refuse(path, name, "cannot be false in Berth; leave it out: " + std::string(gate->says));
  return {};
}

// What the gates set.
struct Settings {
  engine::Options engine;
  jobs::JobGates jobs;

  static bool has(const Gate& gate) { return gate.reader.engine != nullptr || gate.reader.jobs != nullptr; }
  bool is_on(const Gate& gate) {
    return gate.reader.jobs != nullptr ? jobs.*(gate.reader.jobs) : gate.reader.engine(engine) == gate.reader.engine_on;
  }
  void set(const Gate& gate, bool on) {
    if (gate.reader.engine != nullptr) gate.reader.engine(engine) = on == gate.reader.engine_on;
    if (gate.reader.jobs != nullptr) jobs.*(gate.reader.jobs) = on;
  }
};

// After the others: gates that follow the gate that they need.
void follow(const FeatureGates& gates, Settings& settings) {
  for (const auto& gate : all_gates()) {
    if (gate.follows && !gates.contains(std::string(gate.name)) && !settings.is_on(*find_gate(gate.needs)))
      settings.set(gate, false);
  }
}

// Only settings need the gate that they name: what is not honoured has a line of its own.
Result<void> check_needs(Settings& settings, std::string_view path) {
  for (const auto& gate : all_gates()) {
    if (gate.needs.empty() || !Settings::has(gate)) continue;
    if (settings.is_on(gate) && !settings.is_on(*find_gate(gate.needs)))
      return refuse(path, gate.name,
                    "is on and needs \"" + std::string(gate.needs) + "\", which is off; turn both on or both off");
  }
  return {};
}

}  // namespace

bool gate_or(const FeatureGates& gates, std::string_view name, bool otherwise) {
  const auto at = gates.find(std::string(name));
  return at == gates.end() ? otherwise : at->second;
}

Result<FeatureGates> parse_feature_gates(std::string_view text) {
  FeatureGates gates;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const auto part = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    const auto equals = part.find('=');
    const auto value = equals == std::string_view::npos ? std::string_view() : part.substr(equals + 1);
    if (equals == 0 || (value != "true" && value != "false"))
      return fail("\"" + std::string(part) + "\": expected NAME=true or NAME=false, separated by commas");
    gates[std::string(part.substr(0, equals))] = value == "true";
  }
  return gates;
}

Result<FeatureGates> decode_feature_gates(const Json& object, std::string_view path) {
  if (!object.is_object()) return fail(std::string(path) + ": expected a mapping of gates to true or false");
  FeatureGates gates;
  for (const auto& [name, value] : object.as_object()) {
    if (!value.is_bool())
      return fail(std::string(path) + "." + std::string(name) + ": expected true or false, it is " + to_string(value));
    gates[std::string(name)] = value.as_bool();
  }
  return gates;
}

Result<void> check_feature_gates(const FeatureGates& gates, std::string_view path) {
  for (const auto& [name, on] : gates) {
    if (auto fine = check_gate(path, name, on); !fine) return fine;
  }
  return {};
}

std::vector<api::config::NotHonoured> not_honoured(const FeatureGates& gates, std::string_view path) {
  std::vector<api::config::NotHonoured> out;
  for (const auto& [name, on] : gates) {
    const Gate* gate = find_gate(name);
    if (gate == nullptr) continue;
    const auto support = gate->reader.support;
    const bool missing = support == GateSupport::kMissing && on;
    if (!missing && !(support == GateSupport::kAlwaysOn && !on)) continue;
    const std::string why = missing ? "is true, but Berth does not have it: " : "is false, but is always on in Berth: ";
    out.push_back({"featureGates." + name, place_of(path, name) + ": " + why + std::string(gate->says)});
  }
  return out;
}

Result<void> apply_feature_gates(const FeatureGates& gates, engine::Options& options, jobs::JobGates& job_gates,
                                 std::string_view path) {
  if (auto known = check_feature_gates(gates, path); !known) return known;
  Settings changed{options, job_gates};
  for (const auto& [name, on] : gates) {
    if (const Gate* gate = find_gate(name)) changed.set(*gate, on);
  }
  follow(gates, changed);
  if (auto agree = check_needs(changed, path); !agree) return agree;
  changed.jobs.elastic_jobs = changed.engine.elastic_jobs;
  options = std::move(changed.engine);
  job_gates = changed.jobs;
  return {};
}

}  // namespace berth::controller
