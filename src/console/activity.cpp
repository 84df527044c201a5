#include "console/activity.h"

#include "api/kueue/types.h"
#include "console/rows/fields.h"

namespace berth::console {
namespace {

constexpr std::int64_t kMinute = 60'000;  // ms

std::int64_t ms_of(Time time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

std::string rate_key(const std::string& ns, std::int64_t minute) { return ns + "|" + std::to_string(minute); }

}  // namespace

void Activity::workload_changed(const std::string& key, const Json* now, Time time) {
  if (now == nullptr) {
    workloads_.erase(key);
    return;
  }
  const std::string ns(string_at(*now, {"metadata", "namespace"}));
  Seen& seen = workloads_[key];
  const auto count_condition = [&](What what, std::string_view type, std::string_view reason) {
    const Json* condition = condition_of(*now, type);
    if (!is_true(condition) || (!reason.empty() && string_at(*condition, {"reason"}) != reason)) return;
    count(ns, what, millis_at(*condition, {"lastTransitionTime"}).value_or(0), seen, time);
  };
  count(ns, kSubmitted, millis_at(*now, {"metadata", "creationTimestamp"}).value_or(0), seen, time);
  count_condition(kAdmittedNow, api::kueue::kAdmitted, "");
  count_condition(kEvictedNow, api::kueue::kEvicted, "");
  count_condition(kPreemptedNow, api::kueue::kEvicted, "Preempted");
  count_condition(kFinishedNow, api::kueue::kFinished, "");
}

void Activity::count(const std::string& ns, What what, std::int64_t at, Seen& seen, Time time) {
  const std::int64_t now = ms_of(time);
  // A time in the future is a wrong clock, or somebody's joke.
  if (at == seen[what] || at > now + kMinute || at < now - ms_of(Time(kKeptActivity))) return;
  seen[what] = at;
  const std::int64_t minute = at - at % kMinute;
  Counts& counts = minutes_[{minute, ns}];
  ++counts[what];
  show(minute, ns, counts);
  while (minutes_.size() > kMaxRateRows) {
    rates_.erase(rate_key(minutes_.begin()->first.second, minutes_.begin()->first.first));
    minutes_.erase(minutes_.begin());
  }
}

void Activity::show(std::int64_t minute, const std::string& ns, const Counts& counts) {
  const std::string key = rate_key(ns, minute);
  rates_.set({key, ns,
              to_string(JsonObject{{"key", key},
                                   {"ns", ns},
                                   {"t", minute},
                                   {"submitted", counts[kSubmitted]},
                                   {"admitted", counts[kAdmittedNow]},
                                   {"evicted", counts[kEvictedNow]},
                                   {"preempted", counts[kPreemptedNow]},
                                   {"finished", counts[kFinishedNow]}})});
}

void Activity::forget_old(Time time) {
  const std::int64_t oldest = ms_of(time) - ms_of(Time(kKeptActivity));
  while (!minutes_.empty() && minutes_.begin()->first.first < oldest) {
    rates_.erase(rate_key(minutes_.begin()->first.second, minutes_.begin()->first.first));
    minutes_.erase(minutes_.begin());
  }
}

}  // namespace berth::console
