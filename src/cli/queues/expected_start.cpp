#include "cli/queues/expected_start.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "api/visibility/visibility.h"
#include "cli/queues/questions.h"
#include "cli/table.h"
#include "engine/schedule/ever.h"

namespace berth::cli::queues {

ExpectedStart expected_start(const Json& prediction) {
  const std::string after = printable(string_at(prediction, {"start", "after"}));
  const auto cell = [&](std::string_view name) -> std::string {
    const std::string time = printable(string_at(prediction, {"start", name}));
    if (!time.empty()) return time;
    return after.empty() ? "-" : "after " + after;
  };
  return {cell("p50"), cell("p90")};
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
