#include "journal/usage.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "journal/strips.h"

namespace berth::journal {
namespace {

using Key = std::tuple<std::string, std::string, std::string>;  // ClusterQueue, namespace, resource

Result<StripAnswer> answer_of(StripReader& reader, const StripQuestion& question) {
  for (;;) {
    auto answer = reader.ask(question);
    if (!answer) return tl::unexpected(answer.error());
    if (*answer) return std::move(**answer);
  }
}

double hours(Time from, Time to) { return std::chrono::duration<double, std::ratio<3600>>(to - from).count(); }

double units(const std::string& resource, Amount amount) {
  return static_cast<double>(amount.count()) / (resource == "cpu" ? 1000 : 1);
}

bool holds_quota(const StripSpan& span) { return span.state != StripSpan::State::kWaiting; }

// Whether what the span `i` held was lost: quota was taken from the workload before it had finished.
bool was_lost(const Strip& strip, std::size_t i) {
  while (i + 1 < strip.spans.size() && holds_quota(strip.spans[i + 1])) ++i;
  return i + 1 < strip.spans.size() || strip.spans[i].end == "deactivated";
}

void add(const Strip& strip, Time from, Time to, std::map<Key, UsageLine>& lines) {
  for (std::size_t i = 0; i < strip.spans.size(); ++i) {
    const StripSpan& span = strip.spans[i];
    const Time begin = std::max(span.from, from), end = std::min(span.to.value_or(to), to);
    if (begin >= end || !span.amounts) continue;
    for (const auto& [resource, amount] : *span.amounts) {
      if (amount.is_zero()) continue;
      auto& line = lines
                       .try_emplace({strip.cluster_queue, strip.ns, resource},
                                    UsageLine{strip.cluster_queue, strip.ns, resource})
                       .first->second;
      const double part = units(resource, amount) * hours(begin, end);
      (holds_quota(span) ? line.used : line.waited) += part;
      if (holds_quota(span) && was_lost(strip, i)) line.lost += part;
    }
  }
}

}  // namespace

Result<Usage> usage_of(const std::string& directory, const UsagePeriod& period) {
  StripLimits limits;
  limits.amounts = true;
  StripReader reader(directory, limits);
  StripQuestion question;
  question.to = question.from = period.until;
  question.most = limits.most_strips;
  const auto end = answer_of(reader, question);  // reads the last segment only
  if (!end) return tl::unexpected(end.error());
  if (period.until < end->kept_from)
    return fail("the journal " + directory + " begins at " + format_time(end->kept_from) + ", after " +
                format_time(period.until));
  Usage out;
  out.to = std::min(period.until, end->kept_to);
  out.from = out.to - end->kept_from < period.since ? end->kept_from : out.to - period.since;
  question.from = out.from;
  question.to = out.to;
  const auto answer = answer_of(reader, question);
  if (!answer) return tl::unexpected(answer.error());
  std::map<Key, UsageLine> lines;
  for (const Strip& strip : answer->strips) {
    add(strip, out.from, out.to, lines);
    out.cut += strip.cut ? 1 : 0;
  }
  for (auto& [key, line] : lines) out.lines.push_back(std::move(line));
  out.workloads = answer->strips.size();
  out.truncated = answer->truncated;
  out.damaged = answer->damaged;
  return out;
}

}  // namespace berth::journal
