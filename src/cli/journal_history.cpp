#include "cli/journal_history.h"

#include <utility>

#include "base/json.h"

namespace berth::cli {
namespace {

constexpr Duration kRestAfter = std::chrono::minutes(2);  // without a question

std::int64_t ms(Time time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

Json strip_document(const journal::Strip& strip) {
  JsonArray spans;
  for (const auto& span : strip.spans) {
    JsonObject out{{"state", journal::name(span.state)}, {"from", ms(span.from)}};
    if (span.to) out["to"] = ms(*span.to);
    if (!span.end.empty()) out["end"] = span.end;
    spans.push_back(std::move(out));
  }
  return JsonObject{{"workload", strip.ns + "/" + strip.name},
                    {"uid", strip.uid},
                    {"queue", strip.queue},
                    {"cq", strip.cluster_queue},
                    {"priority", strip.priority},
                    {"spans", std::move(spans)}};
}

Json history_document(const journal::StripQuestion& question, const journal::StripAnswer& answer) {
  JsonArray strips;
  for (const auto& strip : answer.strips) strips.push_back(strip_document(strip));
  return JsonObject{{"from", ms(question.from)},
                    {"to", ms(question.to)},
                    {"kept", JsonObject{{"from", ms(answer.kept_from)}, {"to", ms(answer.kept_to)}}},
                    {"truncated", answer.truncated},
                    {"strips", std::move(strips)}};
}

}  // namespace

void JournalHistory::ask(console::HistoryQuestion question, std::function<void(Result<Json>)> done) {
  if (waiting_.size() >= kMaxHistoryQuestions)
    return done(fail("too many questions about the history; try again later"));
  journal::StripQuestion asked;
  asked.from = question.from;
  asked.to = question.to;
  asked.cluster_queue = std::move(question.cluster_queue);
  asked.may_see = std::move(question.may_see);
  asked.most = console::kMaxStrips;
  waiting_.push_back({std::move(asked), std::move(done)});
  asked_ = executor_.now();
  if (waiting_.size() == 1) step_soon();
  if (std::exchange(rests_, false)) rest_later();
}

void JournalHistory::step_soon() {
  executor_.post(lifetime_.guard([this] { step(); }));
}

void JournalHistory::step() {
  Waiting& first = waiting_.front();
  auto answer = reader_.ask(first.question);
  if (answer && !*answer) return step_soon();
  const auto done = std::move(first.done);
  auto document = answer ? Result<Json>(history_document(first.question, **answer)) : tl::unexpected(answer.error());
  waiting_.pop_front();
  if (!waiting_.empty()) step_soon();
  done(std::move(document));
}

void JournalHistory::rest_later() {
  executor_.after(kRestAfter, lifetime_.guard([this] {
    if (!waiting_.empty() || executor_.now() - asked_ < kRestAfter) return rest_later();
    rests_ = true;
    reader_.rest();
  }));
}

}  // namespace berth::cli
