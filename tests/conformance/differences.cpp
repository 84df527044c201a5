#include "conformance/differences.h"

#include <algorithm>

#include "conformance/recording.h"
#include "source_dir.h"

namespace berth::conformance {
namespace {

bool covers(const std::string& pattern, const std::string& path) {
  if (!pattern.ends_with('*')) return pattern == path;
  return path.starts_with(pattern.substr(0, pattern.size() - 1));
}

// An entry without `on` always holds. Without traits, each entry holds.
bool holds(const Json& entry, const std::set<std::string>& traits) {
  const JsonArray& on = array_at(entry, {"on"});
  return on.empty() || traits.empty() || std::any_of(on.begin(), on.end(), [&](const Json& trait) {
           return traits.contains(std::string(view(trait.get_string())));
         });
}

// A difference of Berth in all runs may occur in some runs only on a real API server: then two entries list its path.
bool differs_in_some_runs_only(const std::vector<KnownDifference>& known, const std::string& recording,
                               const std::string& step, const std::string& path) {
  return std::any_of(known.begin(), known.end(), [&](const KnownDifference& k) {
    return k.recording == recording && k.step == step &&
           std::find(k.paths.begin(), k.paths.end(), path) != k.paths.end() &&
           (k.maybe || (k.events_may_agree && path.starts_with("response.newEvents.")));
  });
}

std::vector<KnownDifference> load(const std::string& name, const std::set<std::string>& traits) {
  const Json file = load_yaml_file(source_path("tests/conformance/") + name);
  std::vector<KnownDifference> known;
  for (const Json& d : array_at(file, {"differences"})) {
    if (!holds(d, traits)) continue;
    for (const Json& step : array_at(d, {"steps"})) {
      KnownDifference k;
      k.recording = string_at(d, {"recording"});
      k.step = view(step.get_string());
      for (const Json& path : array_at(d, {"paths"})) k.paths.emplace_back(view(path.get_string()));
      k.reason = string_at(d, {"reason"});
      k.maybe = bool_at(d, {"maybe"});
      k.embedded = bool_at(d, {"embedded"});
      known.push_back(std::move(k));
    }
  }
  return known;
}

}  // namespace

std::vector<KnownDifference> load_known_differences() { return load("differences.yaml", {}); }
std::vector<KnownDifference> load_real_differences(const std::set<std::string>& traits) {
  return load("real_differences.yaml", traits);
}

std::vector<std::string> steps_of(const std::string& recording) {
  const Json file = load_yaml_file(source_path("tests/conformance/recordings/") + recording + ".yaml");
  std::vector<std::string> steps = titles_of(file);
  steps.emplace_back(kStart);
  return steps;
}

std::string judge(const std::string& recording, const std::string& step, const std::vector<Difference>& found,
                  const std::vector<KnownDifference>& known) {
  std::string complaint;
  std::vector<bool> explained(found.size(), false);
  for (const KnownDifference& k : known) {
    if (k.recording != recording || k.step != step) continue;
    for (const std::string& path : k.paths) {
      bool seen = false;
      for (std::size_t i = 0; i < found.size(); ++i) {
        if (!covers(path, found[i].path)) continue;
        seen = explained[i] = true;
      }
      if (!seen && !differs_in_some_runs_only(known, recording, step, path))
        complaint += "  listed as a difference, but does not differ any more: " + path + "\n";
    }
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!explained[i]) complaint += "  " + found[i].path + ": " + found[i].what + "\n";
  }
  return complaint;
}

std::string compatibility_section(const std::vector<KnownDifference>& known) {
  std::vector<std::string> reasons;
  for (const KnownDifference& k : known) {
    if (std::find(reasons.begin(), reasons.end(), k.reason) == reasons.end()) reasons.push_back(k.reason);
  }
  std::string text;
  for (const std::string& reason : reasons) {
    text += "- " + reason + "\n";
    std::string recording;
    for (const KnownDifference& k : known) {
      if (k.reason != reason) continue;
      text += k.recording == recording ? ", " : (recording.empty() ? "  (" : "; ") + k.recording + ": ";
      text += "\"" + k.step + "\"";
      recording = k.recording;
    }
    text += ")\n";
  }
  return text.empty() ? "None.\n" : text;
}

}  // namespace berth::conformance
