#include "controller/start_notices.h"

#include <algorithm>
#include <utility>

#include "api/kueue/names.h"
#include "api/meta.h"
#include "engine/explain/rehearsal.h"

namespace berth::controller {
namespace {

using engine::Prediction;

constexpr Duration kMuch = std::chrono::minutes(5);

}  // namespace

bool differs_much(const Prediction& before, const Prediction& now) {
  if (before.never != now.never) return true;
  if (before.p50.has_value() != now.p50.has_value() || before.p90.has_value() != now.p90.has_value()) return true;
  const auto moved = [&](const std::optional<Time>& old, const std::optional<Time>& fresh) {
    if (!old || !fresh) return false;
    const Duration by = *old < *fresh ? *fresh - *old : *old - *fresh;
    return by >= std::max<Duration>(kMuch, std::max<Duration>(Duration(), *old - now.at) / 4);
  };
  return moved(before.p50, now.p50) || moved(before.p90, now.p90) ||
         (!now.p50 && !before.p50 && moved(before.after, now.after));
}

std::string note_of(const Prediction& p) {
  if (!p.never.empty()) return "The workload never starts: " + p.never;
  if (!p.p50 && !p.after) return "";
  const auto time = [&](const std::optional<Time>& known) {
    return known ? "by " + format_time(*known) : "after " + format_time(*p.after);
  };
  std::string out = "Expected to start ";
  if (!p.p50) {
    out += time(p.p50);
  } else if (p.p90 && *p.p50 == *p.p90) {
    out += time(p.p90);
  } else if (p.p90 || p.after) {
    out += time(p.p50) + " in half of the cases (P50), " + time(p.p90) + " in nine of ten (P90)";
  } else {
    out += time(p.p50) + " in half of the cases (P50)";
  }
  out += ", as of " + format_time(p.at);
  if (!p.rests_on.empty()) out += ". Rests on " + p.rests_on.front().what;
  return out;
}

StartNotices::~StartNotices() { shell_.executor.cancel(timer_); }

void StartNotices::start() {
  if (!shell_.options.expected_start_events || timer_ != 0) return;
  look();
}

void StartNotices::look() {
  timer_ = shell_.executor.after(kEvery, lifetime_.guard([this] { look(); }));
  if (round_.empty()) collect();
  left_ = kAtOnce;
  for (std::size_t looks = 0; looks < kLooksAtOnce && left_ > 0 && !round_.empty(); ++looks) {
    const auto [ns, name] = std::move(round_.back());
    round_.pop_back();
    look_at(ns, name);
  }
}

// A new round: the heads of all queues come first.
void StartNotices::collect() {
  const Time now = shell_.executor.now();
  std::erase_if(reported_, [&](const auto& each) { return now - each.second.at > 2 * kForgotten; });
  std::vector<std::vector<engine::PendingWorkload>> queues;
  for (const std::string& queue : engine::Rehearsal::cluster_queues_of(shell_.engine())) {
    if (auto first = shell_.engine().pending_in_cluster_queue(queue, 0, kOfQueue)) queues.push_back(std::move(*first));
  }
  for (std::size_t place = kOfQueue; place-- > 0;) {
    for (const auto& queue : queues) {
      if (place < queue.size() && now - queue[place].object->meta.creation >= kFirst)
        round_.emplace_back(queue[place].object->meta.ns, queue[place].object->meta.name);
    }
  }
}

void StartNotices::look_at(const std::string& ns, const std::string& name) {
  const auto position = shell_.engine().pending_position(ns, name);
  if (!position) return;
  const std::string key = api::object_key(ns, name);
  const auto page = shell_.engine().pending_in_cluster_queue(position->cluster_queue, position->in_cluster_queue, 1);
  if (!page || page->empty() || api::object_key(page->front().object->meta) != key) return;
  const auto& meta = page->front().object->meta;
  auto known = reported_.find(key);
  if (known != reported_.end() && known->second.uid != meta.uid) {
    reported_.erase(known);
    known = reported_.end();
  }
  const Time now = shell_.executor.now();
  if (known != reported_.end() && now - known->second.at < kAgain) return;
  const auto prediction = shell_.host.forecasts().about(ns, name);
  if (!prediction || !prediction->waits()) return;
  std::string note = note_of(*prediction);
  if (note.empty()) return;
  if (known != reported_.end() && now - known->second.at < kForgotten && !differs_much(known->second.what, *prediction))
    return;
  reported_[key] = {meta.uid, now, *prediction};
  --left_;
  kube::EventText text;
  text.reason = "ExpectedStart";
  text.note = std::move(note);
  text.controller = "kueue-workload-controller";
  text.by_note = true;
  shell_.events.record(
      {std::string(api::kueue::kGroup) + "/v1beta2", "Workload", meta.ns, meta.name, meta.uid, meta.resource_version},
      std::move(text));
}

}  // namespace berth::controller
