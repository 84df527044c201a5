#include "embedded/cluster/operators/described_status.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace berth::cluster {
namespace {

constexpr std::string_view kSince = "lastTransitionTime";

bool has_type(const JsonArray& conditions, std::string_view type) {
  return std::ranges::any_of(conditions, [&](const Json& one) { return string_at(one, {"type"}) == type; });
}

// Those of others first, and those that hold last: clients show the last one as the state of the job.
JsonArray with_times(const JsonArray& wanted, const JsonArray& present, Time now) {
  std::vector<Json> out;
  for (const Json& other : present) {
    if (!has_type(wanted, string_at(other, {"type"}))) out.push_back(other);
  }
  const auto own = static_cast<std::ptrdiff_t>(out.size());
  for (const Json& each : wanted) {
    Json condition = each;
    if (condition.is_object() && find(condition, kSince) == nullptr) {
      std::string since = format_time(now);
      for (const Json& old : present) {
        const bool same = string_at(old, {"type"}) == string_at(condition, {"type"}) &&
                          string_at(old, {"status"}) == string_at(condition, {"status"});
        if (const auto when = string_at(old, {kSince}); same && !when.empty()) since = when;
      }
      condition.as_object()[kSince] = since;
    }
    out.push_back(std::move(condition));
  }
  std::stable_partition(out.begin() + own, out.end(),
                        [](const Json& one) { return string_at(one, {"status"}) != "True"; });
  return JsonArray(out.begin(), out.end());
}

}  // namespace

Result<Json> described_status(const jobs::kinds::JobKindSpec& kind, const Json& job, const Json& pods,
                              std::string_view phase, Time now) {
  jobs::kinds::Scope scope(job);
  auto wanted = kind.pretend.status.json(scope.with_pods(pods, phase));
  if (!wanted) return tl::unexpected(wanted.error());
  if (!wanted->is_object())
    return fail("the expression \"" + kind.pretend.status.source() + "\" is no map, expected the status of the job");
  Json status = JsonObject();
  if (const Json* old = find_path(job, {"status"}); old != nullptr && old->is_object()) status = *old;
  for (auto& [name, value] : wanted->as_object()) {
    const std::string_view member(name.data(), name.size());
    if (member == "conditions" && value.is_array())
      value = with_times(value.get_array(), array_at(status, {"conditions"}), now);
    status.as_object()[member] = std::move(value);
  }
  return status;
}

}  // namespace berth::cluster
