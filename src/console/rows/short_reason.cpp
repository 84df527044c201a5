#include "console/rows/short_reason.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <optional>

namespace berth::console {
namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }
bool has_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::ranges::any_of(parts, [text](std::string_view part) { return has(text, part); });
}

// The word that follows the mark, without quotes and punctuation at its end; "" when the mark is not there.
std::string_view word_after(std::string_view text, std::string_view mark) {
  const auto at = text.find(mark);
  if (at == std::string_view::npos) return "";
  std::string_view word = text.substr(at + mark.size());
  word = word.substr(0, word.find_first_of(" ,;\""));
  while (!word.empty() && (word.back() == '.' || word.back() == ':')) word.remove_suffix(1);
  return word;
}

// "RESOURCE in FLAVOR" of the first shortage of this kind.
std::optional<std::string> amount_in(std::string_view text, std::string_view mark) {
  const std::string_view resource = word_after(text, mark);
  if (resource.empty()) return std::nullopt;
  const std::string_view flavor = word_after(text.substr(text.find(mark)), " in flavor ");
  if (flavor.empty()) return std::nullopt;
  return std::string(resource) + " in " + std::string(flavor);
}

std::optional<std::string> of_shortage(std::string_view message) {
  if (has(message, "can never fit")) return "can never fit";
  if (const auto what = amount_in(message, "insufficient unused quota for ")) return "quota: " + *what;
  if (const auto what = amount_in(message, "insufficient quota for ")) return "more than the quota: " + *what;
  if (has_any(message, {"allows to fit only", "doesn't allow to fit", "excluded"})) {
    const std::string_view topology = word_after(message, "topology \"");
    if (!topology.empty()) return "topology: " + std::string(topology);
  }
  return std::nullopt;
}

struct Words {
  std::string_view short_words;
  std::initializer_list<std::string_view> parts;  // one of these is in the message
  std::string_view also{};                        // and this
};

std::optional<std::string> of_text(std::string_view message) {
  static const Words kWords[] = {
      {"preempted, waits again", {"Preempted to accommodate"}},
      {"waits for preempted workloads", {"Pending the preemption of"}},
      {"local queue does not exist", {"LocalQueue "}, "doesn't exist"},
      {"cluster queue does not exist", {"ClusterQueue "}, "doesn't exist"},
      {"missing flavor", {"missing ResourceFlavor"}},
      {"missing topology", {"there is no Topology"}},
      {"admission check of the queue not active", {"missing AdmissionCheck", "inactive AdmissionCheck"}},
      {"cohorts form a cycle", {"Cohorts form a cycle"}},
      {"queue is being deleted", {"it is being deleted"}},
      {"queue inactive", {" is inactive: "}},
      {"queue stopped", {"is stopped", " is inactive"}},
      {"missing queue or flavor", {"does not exist", "not found"}},
      {"taints of the flavor", {"untolerated taint"}},
      {"node affinity of the flavor", {"doesn't match node affinity"}},
      {"topology that the flavor does not have",
       {"does not support TopologyAwareScheduling", "does not contain the requested level"}},
      {"namespace not selected by the queue", {"namespace doesn't match"}},
      {"resource without quota in the queue", {"unavailable in ClusterQueue"}},
      {"pods of others not ready yet", {"admitted workloads to be in PodsReady", "PodsReady condition"}},
      {"other workloads go first", {"is StrictFIFO: workloads that stand before it"}},
      {"outside the limit range", {"LimitRange"}},
      {"request above its limit", {"requests exceed"}},
  };
  for (const Words& each : kWords) {
    if (has_any(message, each.parts) && has(message, each.also)) return std::string(each.short_words);
  }
  return std::nullopt;
}

// "WaitingForPodsReady" as "waiting for pods ready".
std::string in_words(std::string_view reason) {
  std::string out;
  for (const char c : reason) {
    const bool upper = std::isupper(static_cast<unsigned char>(c)) != 0;
    if (upper && !out.empty()) out += ' ';
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

}  // namespace

std::string short_reason(std::string_view reason, std::string_view message) {
  if (auto words = of_shortage(message)) return std::move(*words);
  if (auto words = of_text(message)) return std::move(*words);
  return reason.empty() ? "not considered yet" : in_words(reason);
}

}  // namespace berth::console
