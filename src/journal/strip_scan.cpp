#include "journal/strip_scan.h"

#include <algorithm>
#include <utility>

#include "api/core/pod_resources.h"
#include "api/meta.h"
#include "engine/lifecycle/state.h"

namespace berth::journal {
namespace {

using api::kueue::Workload;
using engine::lifecycle::State;
using Span = StripSpan;

// Writes of which no outcome was recorded. A shell has a few hundred in flight.
constexpr std::size_t kMostWrites = 100'000;

std::string with_small_letter(std::string reason) {
  if (!reason.empty() && reason[0] >= 'A' && reason[0] <= 'Z') reason[0] = static_cast<char>(reason[0] - 'A' + 'a');
  return reason;
}

std::string reason_of(const Workload& w, std::string_view condition) {
  const auto* found = api::find_condition(w.status.conditions, condition);
  return found == nullptr || !found->status ? "" : with_small_letter(found->reason);
}

bool admitted(const Workload& w) { return api::is_true(w.status.conditions, api::kueue::kAdmitted); }

// Since when it is in its state, by its own conditions.
Time since(const Workload& w, Span::State state) {
  const auto* condition = api::find_condition(
      w.status.conditions, state == Span::State::kAdmitted ? api::kueue::kAdmitted : api::kueue::kQuotaReserved);
  return condition == nullptr ? w.meta.creation : std::max(condition->last_transition, w.meta.creation);
}

bool is_open(const Strip& strip) { return !strip.spans.empty() && !strip.spans.back().to; }

}  // namespace

void StripScan::take(const Record& record) {
  last_ = std::max(last_, record.now);
  if (record.kind == Record::Kind::kCheckpoint) happened_ = true;
  if (record.kind == Record::Kind::kEvent) {
    if (const auto* workload = std::get_if<engine::WorkloadSeen>(&record.event)) {
      seen(*workload->object, record.now);
    } else if (const auto* gone = std::get_if<engine::WorkloadGone>(&record.event)) {
      forget(api::object_key(gone->ns, gone->name), record.now, "deleted");
    } else if (const auto* write = std::get_if<engine::WriteSettled>(&record.event)) {
      settled(*write);
    } else if (const auto* queue = std::get_if<engine::LocalQueueSeen>(&record.event)) {
      cluster_queues_[api::object_key(queue->object->meta)] = queue->object->cluster_queue;
    } else if (const auto* queue_gone = std::get_if<engine::LocalQueueGone>(&record.event)) {
      cluster_queues_.erase(api::object_key(queue_gone->ns, queue_gone->name));
    }
  }
  for (const Decision& decision : record.decisions) {
    if (decision.write == 0) continue;
    if (writes_.size() == kMostWrites) writes_.clear();
    writes_[decision.write] = {decision.action, decision.workload, record.now};
  }
}

void StripScan::seen(const Workload& w, Time now) {
  const std::string key = api::object_key(w.meta);
  auto it = known_.find(key);
  if (it != known_.end() && strips_[it->second.strip].uid != w.meta.uid) {
    forget(key, now, "deleted");
    it = known_.end();
  }
  const State state = engine::lifecycle::state_of(w);
  const bool fresh = it == known_.end();
  if (fresh) {
    if (state == State::kFinished) return;  // before this segment
    it = known_.emplace(key, Known{strips_.size(), "", nullptr}).first;
    strips_.push_back({w.meta.ns, w.meta.name, w.meta.uid, w.queue_name, "", w.priority, {}, false});
  }
  Strip& strip = strips_[it->second.strip];
  strip.queue = w.queue_name;
  strip.priority = w.priority;
  if (w.status.admission) {
    strip.cluster_queue = w.status.admission->cluster_queue;
  } else if (const auto queue = cluster_queues_.find(api::object_key(w.meta.ns, w.queue_name));
             queue != cluster_queues_.end()) {
    strip.cluster_queue = queue->second;
  }
  // What is seen first began before.
  const auto begin = [&](Span::State now_in) { return fresh ? std::clamp(since(w, now_in), Time(), now) : now; };
  const auto holds = [&](Span::State now_in) { enter(strip, now_in, begin(now_in), std::string(name(now_in))); };
  std::string& evicted = it->second.evicted;
  switch (state) {
    case State::kPending:
    case State::kHeld:
      if (evicted.empty()) evicted = reason_of(w, api::kueue::kEvicted);
      enter(strip, Span::State::kWaiting, begin(Span::State::kWaiting), evicted);
      evicted.clear();
      break;
    case State::kReserved:
      holds(Span::State::kReserved);
      break;
    case State::kAdmitted:
      holds(Span::State::kAdmitted);
      break;
    case State::kEvicting:
      if (!is_open(strip) || strip.spans.back().state == Span::State::kWaiting)
        holds(admitted(w) ? Span::State::kAdmitted : Span::State::kReserved);
      evicted = reason_of(w, api::kueue::kEvicted);
      break;
    case State::kInactive:
      close(strip, now, "deactivated");
      break;
    case State::kFinished: {
      const std::string reason = reason_of(w, api::kueue::kFinished);
      close(strip, now, reason == "succeeded" ? "finished" : reason);
      break;
    }
  }
  if (amounts_) note_amounts(it->second, w);
}

void StripScan::note_amounts(Known& known, const Workload& w) {
  if (!known.asked) {
    StripAmounts asked;
    for (const auto& pod_set : w.pod_sets) {
      const Json* spec = pod_set.template_ ? find_path(*pod_set.template_, {"spec"}) : nullptr;
      if (spec == nullptr) continue;
      for (const auto& [resource, quantity] : api::pod_requests(*spec))
        asked[resource] += to_amount(resource, quantity) * pod_set.count;
    }
    known.asked = std::make_shared<const StripAmounts>(std::move(asked));
  }
  Strip& strip = strips_[known.strip];
  if (strip.spans.empty()) return;
  StripSpan& last = strip.spans.back();
  if (last.state == Span::State::kWaiting || !w.status.admission) {
    last.amounts = known.asked;
    return;
  }
  StripAmounts held;
  for (const auto& part : w.status.admission->pod_set_assignments) {
    for (const auto& [resource, quantity] : part.resource_usage) held[resource] += to_amount(resource, quantity);
  }
  if (!last.amounts || *last.amounts != held) last.amounts = std::make_shared<const StripAmounts>(std::move(held));
}

void StripScan::settled(const engine::WriteSettled& settled) {
  const auto it = writes_.find(settled.write);
  if (it == writes_.end()) return;
  if (settled.outcome == engine::WriteSettled::Outcome::kDone) apply(it->second);
  writes_.erase(it);
}

// The watch shows the same, usually later.
void StripScan::apply(const Write& write) {
  const auto it = known_.find(write.workload);
  if (it == known_.end()) return;
  Strip& strip = strips_[it->second.strip];
  if (!is_open(strip) || strip.spans.back().from > write.at) return;  // something newer was seen
  const bool holds = strip.spans.back().state != Span::State::kWaiting;
  switch (write.action) {
    case MonkeyAction::kReserved:
      if (!holds) enter(strip, Span::State::kReserved, write.at, "reserved");
      break;
    case MonkeyAction::kAdmitted:
      enter(strip, Span::State::kAdmitted, write.at, "admitted");
      break;
    case MonkeyAction::kEvicted:
      if (holds && it->second.evicted.empty()) it->second.evicted = "evicted";
      break;
    case MonkeyAction::kReleased:
      enter(strip, Span::State::kWaiting, write.at, std::exchange(it->second.evicted, ""));
      break;
    case MonkeyAction::kFinished:
      close(strip, write.at, "finished");
      break;
    case MonkeyAction::kDeactivated:
      if (!holds) close(strip, write.at, "deactivated");
      break;
    case MonkeyAction::kNoted:
    case MonkeyAction::kExpired:
      break;
  }
  // Until the watch shows the admission.
  if (!strip.spans.empty() && !strip.spans.back().amounts) strip.spans.back().amounts = it->second.asked;
}

void StripScan::enter(Strip& strip, Span::State state, Time at, const std::string& why) {
  if (is_open(strip)) {
    Span& last = strip.spans.back();
    if (last.state == state) return;
    at = std::max(at, last.from);
    last.to = at;
    last.end = why;
    if (last.from == at && last.state == Span::State::kWaiting) strip.spans.pop_back();
  }
  if (strip.spans.size() == kMostSpans) {
    strip.spans.erase(strip.spans.begin(), strip.spans.begin() + kMostSpans / 2);
    strip.cut = true;
  }
  strip.spans.push_back({state, at, std::nullopt, ""});
}

void StripScan::close(Strip& strip, Time at, const std::string& why) {
  if (!is_open(strip)) return;
  Span& last = strip.spans.back();
  last.to = std::max(at, last.from);
  last.end = why;
}

void StripScan::forget(const std::string& key, Time at, const std::string& why) {
  const auto it = known_.find(key);
  if (it == known_.end()) return;
  close(strips_[it->second.strip], at, why);
  known_.erase(it);
}

}  // namespace berth::journal
