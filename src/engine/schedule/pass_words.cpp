// The messages of a pass to workloads that keep waiting: only the last one of the pass, and only when it is new.
#include <algorithm>

#include "base/text.h"
#include "engine/schedule/bypassed.h"
#include "engine/schedule/ever.h"
#include "engine/schedule/pass.h"
#include "engine/schedule/protected_words.h"
#include "engine/schedule/victims.h"

namespace berth::engine {
namespace {

// FNV-1a hash, to recognize that a workload got the same message before.
class Fingerprint {
 public:
  Fingerprint& add(std::uint64_t v) {
    h_ = (h_ ^ v) * 1099511628211ULL;
    return *this;
  }
  Fingerprint& add(std::string_view text) {
    for (char c : text) add(static_cast<unsigned char>(c));
    return add(text.size());
  }
  std::uint64_t value() const { return h_ == 0 ? 1 : h_; }  // 0 means "no message yet"

 private:
  std::uint64_t h_ = 14695981039346656037ULL;
};

std::uint64_t fingerprint(std::string_view reason, std::string_view text) {
  return Fingerprint().add(reason).add(text).value();
}

// Hash of the message for an entry's assignment, without building the text. `victims`: how many it waits for.
// `protected_victims`: the end of the text.
std::uint64_t fingerprint(std::string_view reason, const Entry& entry, std::size_t victims,
                          std::string_view protected_victims) {
  const Assignment& assignment = entry.assignment;
  Fingerprint print;
  print.add(reason).add(victims).add(entry.preemption_gated ? 1 : 0).add(protected_victims);
  for (const Shortage& each : assignment.shortages) {
    print.add(static_cast<std::uint64_t>(each.kind)).add(each.unit).add(each.resource.value).add(each.flavor.value);
    for (Amount amount : {each.a, each.b, each.c}) print.add(static_cast<std::uint64_t>(amount.count()));
    if (each.text != nullptr) print.add(*each.text);
  }
  if (const auto& none = assignment.no_place) {
    print.add(none->pod_set).add(none->failure.text);
    for (std::int32_t n : {none->failure.fits, none->failure.wanted}) print.add(static_cast<std::uint64_t>(n));
  }
  return print.value();
}

}  // namespace

// Returns false when the workload already got this message; then a pending message of this pass is withdrawn.
bool Pass::news(WorkloadId workload, std::uint64_t print) {
  if (state_.slots[workload].reported != print) return true;
  nothing_new(workload);
  return false;
}

void Pass::nothing_new(WorkloadId workload) {
  Slot& slot = state_.slots[workload];
  if (slot.wait_index == Slot::kNoWait) return;
  words_[slot.wait_index].workload = WorkloadId();
  slot.wait_index = Slot::kNoWait;
}

void Pass::wait(WorkloadId workload, std::string_view reason, std::string_view text) {
  std::uint64_t print = fingerprint(reason, text);
  if (news(workload, print)) say({workload, reason, text, {}, print, false});
}

void Pass::wait_for_leaving_pods(const Entry& entry) {
  std::string text =
      "Workload fits once pods that leave their nodes are gone; others have to give way if they are still "
      "there at " +
      format_time(*entry.wait_ends);
  const std::uint64_t print = fingerprint(kWaitingForPreemptedWorkloads, text);
  if (news(entry.workload, print))
    say({entry.workload, kWaitingForPreemptedWorkloads, {}, std::move(text), print, false});
}

void Pass::say(Word word) {
  nothing_new(word.workload);
  state_.slots[word.workload].wait_index = static_cast<std::uint32_t>(words_.size());
  words_.push_back(std::move(word));
}

std::string Pass::words_of_protected(const Entry& entry) const {
  if (entry.protected_victims == 0) return {};
  std::vector<std::string> uids;
  for (const WorkloadId each :
       state_.precedence.protected_victims(state_.ledger.root(entry.queue->node), entry.workload)) {
    if (state_.slots.known(each)) uids.push_back(state_.slots[each].who->uid);
  }
  std::ranges::sort(uids);
  return protected_text(entry.protected_victims, uids);
}

// Asked once for each class and state of the configuration. If only the nodes are too small, the workload also waits
// for larger ones.
const std::string& Pass::never_fits(Entry& entry) {
  PendingQueue::Never& known = entry.queue->pending.never(entry.workload);
  const PendingQueue::Never now{entry.queue->generation, state_.ledger.configuration(), state_.node_changes};
  if (!known.found_for(now)) {
    known = now;
    // In the mode kPreempt the queue may have so much, and places were found as if the nodes were empty.
    const bool may_fit = entry.assignment.mode != Mode::kNoFit;
    EverFits ever(state_.ledger, state_.places, state_.names);
    if (const auto never = may_fit ? std::nullopt : ever.ask(entry)) {
      known.never = true;
      known.by_places = never->cause == NeverFits::Cause::kPlaces;
      // Kueue's text about flavors and uncovered resources says so itself.
      if (known.by_places || never->cause == NeverFits::Cause::kQuota) known.text = text_of(*never);
    }
  }
  if (known.by_places) {
    for (const FlavorId flavor : entry.queue->topology_flavors) entry.assignment.lacks.push_back({.place = flavor});
  }
  return known.text;
}

// A message with the text of the assignment; `victims`: how many it waits for.
void Pass::report(Entry& entry, std::string_view reason, std::size_t victims) {
  static const std::string kMayFit;
  const std::string protected_victims = words_of_protected(entry);
  const std::string& never = victims > 0 ? kMayFit : never_fits(entry);
  std::uint64_t print = fingerprint(reason, entry, victims, protected_victims + never);
  PendingQueue& pending = entry.queue->pending;
  const bool is_news = news(entry.workload, print);
  const bool for_others = victims == 0 && pending.needs_verdict(entry.workload, print);
  if (!is_news && !for_others) return;
  std::string text =
      message(entry.assignment, *entry.plan, *entry.shape, state_.names, nominator_.placer().explain(entry));
  if (!never.empty()) text += ". " + never;
  if (for_others) pending.set_verdict(entry.workload, print, std::string(cut_text(text, kMostBypassedText)));
  if (!is_news) return;
  if (victims > 0) text += pending_preemption(victims);
  text += protected_victims;
  say({entry.workload, reason, {}, std::move(text), print, entry.preemption_gated});
}

// Only the last message of the pass counts.
void Pass::report_waits() {
  for (Word& word : words_) {
    if (!word.workload.valid()) continue;
    Slot& slot = state_.slots[word.workload];
    slot.wait_index = Slot::kNoWait;
    if (slot.place == Slot::Place::kHolder) continue;
    slot.reported = word.fingerprint;
    slot.reported_reason = word.reason;
    slot.reported_of_other = false;
    if (!word.constant.empty()) word.text = word.constant;
    out_->push_back(Wait{word.workload, std::string(word.reason), std::move(word.text), true, word.preemption_gated});
  }
  words_.clear();
}

void Pass::report_unreported(Queue& queue) {
  for (const auto& [workload, reason, verdict] : queue.pending.take_unreported()) {
    Slot& slot = state_.slots[workload];
    if (slot.reported != 0 && slot.reported_reason == reason)
      continue;  // it already got its own message with this reason
    slot.reported = fingerprint(reason, kBypassed);
    slot.reported_reason = reason;
    slot.reported_of_other = true;
    const std::string text = verdict->of == nullptr
                                 ? std::string(kBypassed)
                                 : bypassed_text(slot.who->key, verdict->of->key, verdict->of->uid, verdict->text);
    out_->push_back(Wait{workload, std::string(reason), text, false});
  }
}

}  // namespace berth::engine
