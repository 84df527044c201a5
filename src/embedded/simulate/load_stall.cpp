#include "embedded/simulate/load_stall.h"

#include <fmt/format.h>

#include <string_view>

namespace berth::simulate {
namespace {

constexpr Duration kQuiet = std::chrono::seconds(30);  // shorter pauses are normal

std::string shown(Duration d) { return format_duration(std::chrono::round<std::chrono::seconds>(d)); }

std::string counted(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace

std::string stall_advice(const LoadStall& s) {
  if (s.quiet < kQuiet || s.finished >= s.submitted) return {};
  const std::string what_is_submitted =
      s.as == LoadAs::kPods ? "pods or groups of pods" : std::string(submitted_kind(s.as)) + "s";
  if (s.workloads == 0) {
    return fmt::format(
        "{} {} were submitted and there is no Workload for any of them. No controller for {} runs on this "
        "server, or it does not manage "
        "their namespaces: start `berth controller` (or Kueue) with the same server, and look at its log",
        s.submitted, what_is_submitted,
        s.as == LoadAs::kPods      ? "pods"
        : s.as == LoadAs::kJobSets ? "JobSets"
                                   : "Jobs");
  }
  if (s.admitted > s.finished) {
    if (s.quiet < kQuiet + s.longest_run) return {};
    const std::string what =
        fmt::format("{} not finish: nothing ended for {}, and the longest runs for {}",
                    counted(s.admitted - s.finished, "admitted workload does", "admitted workloads do"), shown(s.quiet),
                    shown(s.longest_run));
    if (s.as == LoadAs::kWorkloads)
      return what +
             ". Their end is written to workloads/status: look whether the user of the "
             "kubeconfig may patch it";
    return what + fmt::format(
                      ". Nothing runs the {} on this server: start machines for them (`berth cluster`), or submit "
                      "workloads that need none (--as workloads)",
                      s.as == LoadAs::kPods ? "pods" : "pods of " + what_is_submitted);
  }
  const std::string waiting = counted(s.submitted - s.finished, "workload waits", "workloads wait") + ", none runs";
  if (s.reason.empty())
    return waiting +
           ". Nobody decides about them: look whether a controller runs on this server, and whether it is "
           "the leader";
  return waiting +
         fmt::format(". Most of them say: {}. Give their queue more quota or nodes, or ask for less", s.reason);
}

}  // namespace berth::simulate
