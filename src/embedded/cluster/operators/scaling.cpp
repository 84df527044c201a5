#include "embedded/cluster/operators/scaling.h"

#include <charconv>
#include <cstdint>
#include <string>

#include "jobs/kinds/pod_sets.h"

namespace berth::cluster {
namespace {

constexpr std::string_view kScale = "berth.dev/scale";

struct Size {
  Duration after;  // the creation of the job
  std::int64_t count = 0;
};

Result<Size> read_size(std::string_view text) {
  const auto split = text.find('=');
  const auto after = parse_duration(text.substr(0, split));
  const std::string_view digits = split == std::string_view::npos ? std::string_view() : text.substr(split + 1);
  std::int64_t count = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (!after || error != std::errc() || end != digits.data() + digits.size() || count < 0)
    return fail("the annotation " + std::string(kScale) + " has \"" + std::string(text) +
                "\", expected a time and a size such as 1m=4");
  return Size{*after, count};
}

// The last one that is due; and when the next one is.
Result<std::optional<std::int64_t>> due(std::string_view series, Time since, Time now, std::optional<Time>& next) {
  std::optional<Size> last;
  while (!series.empty()) {
    const std::string_view text = series.substr(0, series.find(','));
    series.remove_prefix(std::min(series.size(), text.size() + 1));
    const auto size = read_size(text);
    if (!size) return tl::unexpected(size.error());
    const Time at = since + size->after;
    if (at > now) {
      if (!next || at < *next) next = at;
    } else if (!last || size->after >= last->after) {
      last = *size;
    }
  }
  return last ? std::optional(last->count) : std::nullopt;
}

}  // namespace

Result<Scaling> scale(const jobs::kinds::JobKindSpec& kind, const Json& job, const api::kueue::ObjectGetter& get,
                      Time now) {
  Scaling out;
  const auto since = parse_time(string_at(job, {"metadata", "creationTimestamp"}));
  if (!since) return out;
  api::FieldErrors ignored;
  for (const auto& one : find_pod_sets(kind, job, get, ignored, jobs::kinds::Templates::kLeftOut)) {
    const Json* pod_template = one.pod_template.empty() ? nullptr : jobs::kinds::value_at(job, one.pod_template);
    if (pod_template == nullptr) continue;
    const std::string_view series = string_at(*pod_template, {"metadata", "annotations", kScale});
    if (series.empty()) continue;
    if (one.count.empty())
      return fail("the annotation " + std::string(kScale) + " is on the pod set " + one.pod_set.name +
                  ", whose description has no countField");
    const auto wanted = due(series, *since, now, out.next);
    if (!wanted) return tl::unexpected(wanted.error());
    const Json* is = jobs::kinds::value_at(job, one.count);
    if (!*wanted || (is != nullptr && is->is_int64() && is->get_int64() == **wanted)) continue;
    if (!out.job) out.job = job;
    if (Json* count = jobs::kinds::ensure_at(*out.job, one.count)) *count = **wanted;
  }
  return out;
}

}  // namespace berth::cluster
