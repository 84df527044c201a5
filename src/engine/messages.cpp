#include "engine/messages.h"

#include "api/kueue/types.h"

namespace berth::engine {
namespace {

bool was_reported(const Tracked& t) {
  return api::find_condition(t.base->status.conditions, api::kueue::kQuotaReserved) != nullptr;
}

}  // namespace

Messages::Messages(const Messages& other, TrackedWorkloads& workloads)
    : write_budget_(other.write_budget_), last_turn_(other.last_turn_) {
  for (const auto& [queue, line] : other.lines_) {
    const auto copy = lines_.emplace(queue, Line()).first;
    Line& mine = copy->second;
    for (const auto& [since, t] : line.all) {
      Tracked* same = workloads.find(t->id);
      same->unreported_line = &copy->first;
      mine.all.emplace_hint(mine.all.end(), since, same);
    }
    for (const auto& [since, t] : line.fresh) mine.fresh.emplace_hint(mine.fresh.end(), since, workloads.find(t->id));
    mine.turn = line.turn;
    mine.fresh_turn = line.fresh_turn;
    turns_.emplace(mine.turn, &copy->first);
    if (!mine.fresh.empty()) fresh_turns_.emplace(mine.fresh_turn, &copy->first);
  }
}

WriteKind Messages::kind_of(const Tracked& t, Time now) {
  const bool fresh = !was_reported(t) && (!t.unreported_since || now - *t.unreported_since < kFresh);
  return fresh ? WriteKind::kFirstMessage : WriteKind::kMessage;
}

bool Messages::must_wait(const Tracked& t, Time now) {
  const WriteKind kind = kind_of(t, now);
  const Turns& before = kind == WriteKind::kFirstMessage ? fresh_turns_ : turns_;
  return !before.empty() || !write_budget_.may(kind, now);
}

void Messages::report_later(Tracked& t, Time now) {
  if (!t.unreported_since) t.unreported_since = now;
  if (t.unreported_line == nullptr) enter(t, *t.unreported_since, kind_of(t, now) == WriteKind::kFirstMessage);
}

void Messages::enter(Tracked& t, Time since, bool fresh) {
  const auto it = lines_.try_emplace(t.local_queue).first;
  Line& line = it->second;
  t.unreported_line = &it->first;
  if (line.all.empty()) turns_.emplace(line.turn = ++last_turn_, &it->first);
  line.all.emplace(since, &t);
  if (!fresh) return;
  if (line.fresh.empty()) fresh_turns_.emplace(line.fresh_turn = ++last_turn_, &it->first);
  line.fresh.emplace(since, &t);
}

void Messages::reported(Tracked& t) {
  if (t.unreported_line != nullptr) {
    const auto it = lines_.find(*t.unreported_line);
    Line& line = it->second;
    const Turn turn{*t.unreported_since, &t};
    if (line.fresh.erase(turn) > 0 && line.fresh.empty()) fresh_turns_.erase(line.fresh_turn);
    line.all.erase(turn);
    t.unreported_line = nullptr;
    if (line.all.empty()) {
      turns_.erase(line.turn);
      lines_.erase(it);
    }
  }
  t.unreported_since.reset();
}

Tracked* Messages::take_fresh(Time now) {
  while (!fresh_turns_.empty()) {
    const auto first = fresh_turns_.begin();
    Line& line = lines_.at(*first->second);
    const auto [since, t] = *line.fresh.begin();
    const std::string* queue = first->second;
    fresh_turns_.erase(first);
    if (now - since >= kFresh) {  // the others came before it
      line.fresh.clear();
      continue;
    }
    fresh_turns_.emplace(line.fresh_turn = ++last_turn_, queue);
    reported(*t);
    return t;
  }
  return nullptr;
}

Tracked* Messages::take_oldest() {
  if (turns_.empty()) return nullptr;
  const auto first = turns_.begin();
  const std::string* queue = first->second;
  Line& line = lines_.at(*queue);
  Tracked* t = line.all.begin()->second;
  turns_.erase(first);
  turns_.emplace(line.turn = ++last_turn_, queue);
  reported(*t);
  return t;
}

std::pair<Tracked*, WriteKind> Messages::take_next(Time now) {
  if (write_budget_.may(WriteKind::kFirstMessage, now)) {
    if (Tracked* t = take_fresh(now)) return {t, WriteKind::kFirstMessage};
  }
  if (!write_budget_.may(WriteKind::kMessage, now)) return {nullptr, WriteKind::kMessage};
  return {take_oldest(), WriteKind::kMessage};
}

}  // namespace berth::engine
