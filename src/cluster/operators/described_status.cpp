#include "cluster/operators/described_status.h"

#include <algorithm>
#include <string>
#include <utility>

namespace berth::cluster {
namespace {

constexpr std::string_view kSince = "lastTransitionTime";

bool has_type(const JsonArray& conditions, std::string_view type) {
  return std::ranges::any_of(conditions, [&](const Json& one) { return string_at(one, {"type"}) == type; });
}

JsonArray with_times(const JsonArray& wanted, const JsonArray& present, Time now) {
  JsonArray out;
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
  for (const Json& other : present) {
    if (!has_type(wanted, string_at(other, {"type"}))) out.push_back(other);
  }
  return out;
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
