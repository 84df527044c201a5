#include "engine/schedule/worlds/play.h"

#include <algorithm>

#include "engine/schedule/worlds/dice.h"

namespace berth::engine::worlds {
namespace {

using Findings = std::vector<std::string>;

std::string joined(const std::vector<std::string>& all) {
  std::string out;
  for (const std::string& each : all) out += (out.empty() ? "" : ", ") + each;
  return out;
}

void add(Findings& to, const std::vector<std::string>& found, const std::string& where) {
  for (const std::string& each : found) to.push_back(where + each);
}

// Whether the head of a StrictFIFO queue waits. In which flavor it reserves something changes from cycle to cycle, as
// it tries one after the other; so who loses to it depends on when it is looked at.
bool may_reserve(const Life& life) {
  return std::ranges::any_of(life.queues(), [&](const auto& queue) {
    return queue.second.object.queueing_strategy == api::kueue::QueueingStrategy::kStrictFifo &&
           life.scheduler().pending_count(queue.first) > 0;
  });
}

void check_state(const Life& life, Findings& findings) {
  std::vector<std::string> broken = life.check();
  if (may_reserve(life))
    std::erase_if(broken, [](const std::string& each) { return each.ends_with("fits but nobody looks at it"); });
  add(findings, broken, "");
}

// A scheduler that starts on the objects at rest has nothing to do.
void check_start(const Life& life, Findings& findings) {
  if (may_reserve(life)) return;
  Life other(life, "");
  Findings at_start;
  if (const auto moves = other.rest(at_start); !moves.empty())
    findings.push_back("a scheduler that starts does this: " + joined(moves));
  add(findings, at_start, "after a start: ");
  add(findings, other.check(), "after a start: ");
}

// Whether heads of StrictFIFO queues may keep the workload waiting: one before it in its own queue, or one of another
// queue that reserves quota or places.
bool blocked(const Life& life, const std::string& name) {
  const Life::Job& job = life.jobs().at(name);
  for (const auto& [queue, object] : life.queues()) {
    if (object.object.queueing_strategy != api::kueue::QueueingStrategy::kStrictFifo) continue;
    const auto first = life.scheduler().pending_page(queue, 0, 1);
    if (queue == job.pending.cluster_queue ? first.front() != job.id : !first.empty()) return true;
  }
  return false;
}

// Alone in line, with the free choice of flavors and with each one: it is not admitted, and if nobody was preempted
// before (so that it spares nobody), it does not preempt either.
void check_alone(const Life& life, const std::string& name, bool preempts, Findings& findings) {
  std::vector<std::string> selected{""};
  for (const auto& [flavor, object] : life.flavors()) {
    if (object.node_labels.contains("pool")) selected.push_back(flavor);
  }
  for (const std::string& flavor : selected) {
    Life other(life, name);
    if (!flavor.empty()) other.select(name, "pool", flavor);
    Findings ignored;
    const auto moves = other.rest(ignored);
    const bool admitted_at_once = !moves.empty() && moves.front().starts_with("admit ");
    if (!moves.empty() && (preempts || admitted_at_once))
      findings.push_back("alone in line" + (flavor.empty() ? "" : " with flavor " + flavor) + ", " + name +
                         " does this: " + joined(moves));
  }
}

bool waits(const Life& life, const Life::Job& job) {
  const auto queue = life.queues().find(job.pending.cluster_queue);
  return !job.admission && queue != life.queues().end() && queue->second.active;
}

}  // namespace

Played play(const Script& script) {
  Played out;
  Life life(script.rules);
  bool preempted = false;
  const int last = script.actions.empty() ? 0 : script.actions.back().batch;
  auto action = script.actions.begin();
  for (int batch = 0; batch <= last && out.findings.empty(); ++batch) {
    for (; action != script.actions.end() && action->batch == batch; ++action) action->act(life);
    out.moves.push_back(life.rest(out.findings));
    for (const std::string& each : out.moves.back()) preempted = preempted || each.starts_with("preempt ");
    check_state(life, out.findings);
    if (out.findings.empty()) check_start(life, out.findings);
  }
  out.places = life.text();
  if (!out.findings.empty()) return out;
  if (!may_reserve(life)) add(out.findings, life.check_copy(), "in a copy: ");
  for (const auto& [name, job] : life.jobs()) {
    if (waits(life, job) && !blocked(life, name)) check_alone(life, name, !preempted, out.findings);
  }
  return out;
}

namespace {

Findings faults(const Script& script, std::uint64_t seed, Tally& tally) {
  const Played played = play(script);
  for (const auto& batch : played.moves) {
    for (const std::string& each : batch) ++(each.starts_with("preempt ") ? tally.preemptions : tally.admissions);
  }
  if (!played.findings.empty() || !script.any_order) return played.findings;
  Script other = script;
  Dice dice(~seed);
  dice.shuffle(other.actions);
  std::ranges::stable_sort(other.actions, {}, &MonkeyAction::batch);
  const Played again = play(other);
  if (!again.findings.empty()) return again.findings;
  for (std::size_t i = 0; i < std::min(played.moves.size(), again.moves.size()); ++i) {
    std::vector<std::string> ones = played.moves[i], others = again.moves[i];
    std::ranges::sort(ones);  // which tree of cohorts comes first does not matter
    std::ranges::sort(others);
    if (ones != others)
      return {"in another order, batch " + std::to_string(i) + " ends otherwise: " + joined(played.moves[i]) +
              " INSTEAD OF " + joined(again.moves[i])};
  }
  return {};
}

// Leaves out actions while something is still found.
Script smaller(Script script, std::uint64_t seed) {
  for (bool shrinks = true; shrinks;) {
    shrinks = false;
    for (std::size_t i = script.actions.size(); i-- > 0;) {
      Script less = script;
      less.actions.erase(less.actions.begin() + static_cast<std::ptrdiff_t>(i));
      Tally ignored;
      if (faults(less, seed, ignored).empty()) continue;
      script = std::move(less);
      shrinks = true;
    }
  }
  return script;
}

}  // namespace

std::string find_fault(std::uint64_t seed, Tally& tally) {
  const Script whole = draw(seed);
  if (faults(whole, seed, tally).empty()) return "";
  const Script script = smaller(whole, seed);
  const Played played = play(script);
  std::string out = "world " + std::to_string(seed) + ":" + script.rules_text + "\n";
  std::size_t batch = 0;
  const auto report_moves = [&] {
    if (batch < played.moves.size()) out += "  => " + joined(played.moves[batch]) + "\n";
  };
  for (const MonkeyAction& action : script.actions) {
    for (; static_cast<int>(batch) < action.batch; ++batch) report_moves();
    out += action.text + "\n";
  }
  report_moves();
  out += played.places;
  Tally ignored;
  for (const std::string& each : faults(script, seed, ignored)) out += "FOUND: " + each + "\n";
  return out;
}

}  // namespace berth::engine::worlds
