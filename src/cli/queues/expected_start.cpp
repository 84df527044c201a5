#include "cli/queues/expected_start.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "api/visibility/visibility.h"
#include "cli/queues/questions.h"
#include "cli/queues/words.h"
#include "cli/table.h"
#include "engine/schedule/ever.h"

namespace berth::cli::queues {

ExpectedStart expected_start(const Json& prediction) {
  if (find(prediction, "never") != nullptr) return {"never", "never"};
  const std::string after = printable(string_at(prediction, {"start", "after"}));
  const auto cell = [&](std::string_view name) -> std::string {
    const std::string time = printable(string_at(prediction, {"start", name}));
    if (!time.empty()) return time;
    return after.empty() ? "-" : "after " + after;
  };
  return {cell("p50"), cell("p90")};
}

std::string basis_text(const Json& basis) {
  const std::string what = at(basis, "basis");
  const auto count = int_at(basis, {"workloads"});
  const std::string of = std::to_string(count) + (count == 1 ? " workload" : " workloads");
  return what.starts_with("assumed") ? of + " " + what : "rests on " + what + ": " + of;
}

void add_expected_start(const Json& prediction, Json& explanation) {
  JsonObject start;
  for (const std::string_view name : {"p50", "p90", "after"}) {
    if (const Json* time = find_path(prediction, {"start", name})) start[name] = *time;
  }
  for (const std::string_view name : {"never", "at", "summary", "restsOn", "limit"}) {
    if (const Json* value = find(prediction, name)) start[name] = *value;
  }
  explanation.get_object()["expectedStart"] = std::move(start);
}

void add_expected_start(Server& server, Json& explanation) {
  if (!explanation.is_object() || at(explanation, "state") == "Admitted") return;
  const auto prediction =
      ask_about(server, api::visibility::kPrediction, std::string(string_at(explanation, {"metadata", "namespace"})),
                std::string(string_at(explanation, {"metadata", "name"})));
  if (prediction) return add_expected_start(*prediction, explanation);
  explanation.get_object()["expectedStartUnknown"] = prediction.error().message;
}

std::string expected_start_text(const Json& explanation) {
  if (const std::string unknown = at(explanation, "expectedStartUnknown"); !unknown.empty())
    return "not known: " + unknown + "\n";
  const Json* start = find(explanation, "expectedStart");
  if (start == nullptr) return "";
  if (const std::string never = at(*start, "never"); !never.empty()) return "never: " + never + "\n";
  const std::string after = at(*start, "after");
  const auto time = [&](std::string_view name) {
    const std::string known = at(*start, name);
    return known.empty() ? after.empty() ? std::string("not known") : "after " + after : known;
  };
  std::string out = at(*start, "summary") + "\n";
  if (find(*start, "p50") != nullptr || !after.empty())
    out = "P50 " + time("p50") + ", P90 " + time("p90") + ", as of " + at(*start, "at") + "\n" + out;
  for (const Json& basis : array_at(*start, {"restsOn"})) out += basis_text(basis) + "\n";
  if (const std::string limit = at(*start, "limit"); !limit.empty()) out += "not complete: " + limit + "\n";
  return out;
}

std::map<std::pair<std::string, std::string>, ExpectedStart> expected_starts(const Session& session, Server& server,
                                                                             const JsonArray& workloads,
                                                                             const Positions& positions) {
  std::map<std::pair<std::string, std::string>, ExpectedStart> out;
  std::vector<std::tuple<std::int64_t, std::string, std::string>> first;  // position, namespace, name
  for (const Json& workload : workloads) {
    if (state_of(workload) != WorkloadState::kPending) continue;
    const std::pair key{std::string(string_at(workload, {"metadata", "namespace"})),
                        std::string(string_at(workload, {"metadata", "name"}))};
    if (why_it_waits(workload).find(engine::kNeverFits) != std::string::npos) {
      out[key] = {"never", "never"};
    } else if (const auto position = positions.find(key); position != positions.end()) {
      first.emplace_back(position->second, key.first, key.second);
    }
  }
  const std::size_t most = std::min(first.size(), kMostExpectedStarts);
  std::partial_sort(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(most), first.end());
  Progress progress(session);
  const Time begin = server.now();
  bool answered = false;
  for (std::size_t i = 0; i < most && server.now() - begin < kLongestForStarts; ++i) {
    const auto& [position, ns, name] = first[i];
    if (i > 0) progress.show("expected starts: " + std::to_string(i) + " of " + std::to_string(most));
    const auto prediction = ask_about(server, api::visibility::kPrediction, ns, name);
    if (!prediction && !answered) {
      session.failed("expected starts are not known: " + prediction.error().message);
      break;
    }
    answered = true;
    if (prediction) out[{ns, name}] = expected_start(*prediction);  // or it left the queue meanwhile
  }
  return out;
}

}  // namespace berth::cli::queues
