#include "house/wording.h"

#include <re2/re2.h>

#include <map>
#include <memory>

namespace berth::house {

const std::vector<Wording>& wordings() {
  // Recorded steps of other systems are quoted here.
  static const std::string kDifferences = "tests/conformance/differences.yaml",
                           kCompatibility = "docs/compatibility.md";
  static const std::vector<Wording> all = {
      // Relative clauses without a noun.
      {R"((?i)\bof one that\b)",
       "name the thing: \"of a pod that\"",
       "// The node of one that ended.",
       {kDifferences, kCompatibility}},
      {R"((?i)\bof whom\b)", "name the thing, in subject, verb, object", "// Those of whom it is known."},
      {R"((?i)\bwhoever\b)", "name the client, the user or the controller", "// Whoever writes the status."},
      {R"((?i)\b(nobody|somebody) who\b)", "\"no workload that\", \"a client that\"", "// Nobody who is parked."},
      {R"((?i)\bwho waits\b)", "\"the workloads that wait\"", "// Who waits comes first."},
      {R"((?i)\bwhat (it |they )?lacked\b)", "\"the quota that it lacked\"", "// It records what lacked."},
      // Idioms.
      {R"((?i)\bspeaks? of\b)", "\"names\", \"is about\"", "// The errors speak of the field."},
      {R"((?i)\blives? on\b)", "\"stays\", \"continues to run\"", "// The workload lives on beside it."},
      {R"((?i)\b(is|are|was|were) over\b)",
       "\"has ended\", \"has passed\", \"exceeds\"",
       "// When the time is over.",
       // Conditions of the pretend cluster have this text.
       {"src/embedded/cluster/autoscaler.cpp", "src/embedded/simulate/pretend_runs.cpp"}},
      {R"((?i)\btold apart\b)", "\"distinguished\"", "// They cannot be told apart."},
      {R"(//.*\b(is|are) told\b)", "\"gets an event\", \"the error says\"", "// The user is told once."},
      // Engine: nodes, domains and places have the names of Kubernetes.
      {R"((?i)\bmachine[ _-]rooms?\b)", "\"the nodes\", \"the topology\"", "  auto machine_room = nodes();"},
      {R"(\bk?Machines?[A-Z]\w*|\bk?\w+Machines?\b|\bmachines?_(\w+\b|\B)|\bmachines?_\b)", "Node",
       "struct MachineState {"},
      {R"((?i)\bseats?\b|\bSeat[A-Z])", "\"place\": the pods of a workload on a node", "  Seat seat = take();"},
      {R"(\bSpot\w*|\bspots?_|\b(a|the|each|every|no) spot\b)",
       "\"node\", \"leaf domain\"",
       "  Spots spots_;",
       // The map of nodes on the page, and flavors of this name.
       {"web", "tests/engine"}},
      {R"(\b(class|struct) \w*Room\b|\bRoom[&*] |\bRoom \w+[;({=])",
       "a room is a folder of src: \"capacity\", \"topology\"", "class Room {"},
  };
  return all;
}

bool may_have_any(std::string_view line) {
  static const RE2 any([] {
    std::string out;
    for (const Wording& one : wordings()) out += (out.empty() ? "(" : "|(") + one.pattern + ")";
    return out;
  }());
  return RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), any);
}

bool has(const Wording& wording, std::string_view line) {
  static std::map<std::string, std::unique_ptr<RE2>> compiled;
  auto& pattern = compiled[wording.pattern];
  if (!pattern) pattern = std::make_unique<RE2>(wording.pattern);
  return pattern->ok() && RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), *pattern);
}

}  // namespace berth::house
