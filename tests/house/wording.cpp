#include "house/wording.h"

#include <re2/re2.h>

#include <map>
#include <memory>
#include <utility>

namespace berth::house {
namespace {

// Words that no identifier has.
Wording name(std::string pattern, std::string instead, std::string example) {
  return {std::move(pattern), std::move(instead), std::move(example), {}, true};
}

// A line of C++ up to its comment, without what stands in quotes.
std::string code_of(std::string_view line) {
  std::string out;
  for (bool quoted = false; !line.empty(); line.remove_prefix(1)) {
    if (line.front() == '"') quoted = !quoted;
    if (quoted) {
      if (line.front() == '\\' && line.size() > 1) line.remove_prefix(1);
      continue;
    }
    if (line.starts_with("//")) break;
    out += line.front();
  }
  return out;
}

}  // namespace

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
      // Identifiers have the words of Kubernetes and Kueue too.
      name(R"((\b|_)k?(t|T)old(_|\b|[A-Z])|[a-z]Told)", "reported", "  bool told = false;"),
      name(R"((\b|_)(un|Un|UN)told(_|\b)|Untold)", "unreported", "  std::optional<Time> untold_since;"),
      name(R"((\b|_)tells?(_|\b))", "report", "void tell(Sink& sink);"),
      name(R"((\b|_)asks(_|\b)|\bAsks(_|\b))", "requests", "  Asks asks_of(Pod pod);"),
      name(R"((\b|_)(s|S)pared(_|\b)|Spared[A-Z])", "protected", "  std::size_t spared = 0;"),
      name(R"((\b|_)k?(d|D)eeds?(_|\b)|Deed[A-Z])", "action", "struct Deed {"),
      name(R"((\b|_)troops?(_|\b)|Troop)", "group", "  MonkeyTroop troop;"),
      name(R"((\b|_)k?loans?(_|\b)|Loan([A-Z]|\b))", "borrowing", "  Loan loan;"),
      name(R"((\b|_)rosters?(_|\b)|Roster)", "members, replicas", "  Roster roster;"),
      name(R"((\b|_)made_way|MadeWay)", "preempted_for", "  WorkloadId made_way;"),
      name(R"((\b|_)newcomers?(_|\b)|Newcomer)", "arrivals", "  Ids newcomers;"),
      name(R"((\b|_)doors?(_|\b)|Doors)", "admission", "  Doors doors;"),
      name(R"((\b|_)leisure|Leisure)", "write budget", "  Leisure leisure;"),
      name(R"((\b|_)leavers?(_|\b)|Leaver)", "leaving pods", "  Pods leavers;"),
      name(R"((\b|_)patience|Patience)", "wait, timeout", "constexpr Duration kPatience;"),
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

bool has(const Wording& wording, std::string_view line, bool cpp) {
  static std::map<std::string, std::unique_ptr<RE2>> compiled;
  auto& pattern = compiled[wording.pattern];
  if (!pattern) pattern = std::make_unique<RE2>(wording.pattern);
  if (!pattern->ok()) return false;
  if (!wording.identifier) return RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), *pattern);
  return cpp && RE2::PartialMatch(code_of(line), *pattern);
}

}  // namespace berth::house
