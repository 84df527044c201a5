#include "engine/transitions.h"

#include <utility>

#include "api/kueue/job_uid.h"
#include "base/assert.h"
#include "engine/lifecycle/legacy_reasons.h"
#include "engine/lifecycle/pods_ready.h"
#include "engine/lifecycle/words.h"

namespace berth::engine {

using api::kueue::WorkloadRef;

namespace {

constexpr std::size_t kMaxEventNote = 1024;

std::string cut_note(std::string text) {
  if (text.size() <= kMaxEventNote) return text;
  std::size_t end = kMaxEventNote;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  return text;
}

}  // namespace

std::string job_uid_of(const WorkloadRef& w) {
  const auto label = w.meta.labels.find(api::kueue::kJobUidLabel);
  return label == w.meta.labels.end() ? std::string() : label->second;
}

RecordEvent event_about(const WorkloadRef& w, const lifecycle::Note& note) {
  return {"Workload",
          w.meta.ns,
          w.meta.name,
          w.meta.uid,
          w.meta.resource_version,
          note.warning,
          note.reason,
          cut_note(note.text),
          std::string(note.controller)};
}

void Transitions::apply(Tracked& t, lifecycle::Change change) {
  if (!facts_.options.unadmitted_observability) lifecycle::report_legacy_reasons(change, t.now.status());
  if (!lifecycle::waits_for_pods_ready(*t.now, facts_.options.wait_for_pods_ready))
    lifecycle::keep_pods_ready(change.status, t.now.status());
  t.now.decide(std::move(change.status));
  census_.recount(t);
  for (const auto& note : change.notes) t.events.push_back(event_about(*t.now, note));
  if (change.move == lifecycle::Move::kReserve) t.unreported_reason.reset();
  // Drop the job's report from before the reservation: it does not describe a run with this quota.
  if (change.move == lifecycle::Move::kReserve) t.report.reset();
  writes_.want(t);
}

void Transitions::note_pending(Tracked& t, lifecycle::PendingReason why, Time now) {
  if (why.announce && !why.quiet) why.requests = scheduler_.resource_requests(t.id);
  if (!facts_.options.unadmitted_observability) why.reason = lifecycle::legacy_reason(why.reason);
  auto change = lifecycle::note_pending(*t.now, why, now);
  BERTH_INVARIANT(change.has_value());
  if (change) apply(t, std::move(*change));
}

}  // namespace berth::engine
