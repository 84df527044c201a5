// The messages of QuotaReserved=False, with Kueue's texts.
#include <algorithm>

#include "engine/schedule/assignment.h"

namespace berth::engine {
namespace {

std::string text(const Shortage& shortage, const Names& names) {
  using Kind = Shortage::Kind;
  if (shortage.kind == Kind::kMismatch) return *shortage.text;
  if (shortage.kind == Kind::kKept) {
    return "could not assign " + names.name(shortage.flavor) +
           " flavor since the original workload is assigned: " + *shortage.text;
  }
  if (shortage.kind == Kind::kNotNominated) {
    return "skipping flavor " + names.name(shortage.flavor) + " as it is not the one of the nomination";
  }
  const std::string& resource = names.name(shortage.resource);
  if (shortage.kind == Kind::kUncovered) return "resource " + resource + " unavailable in ClusterQueue";
  std::string where = " quota for " + resource + " in flavor " + names.name(shortage.flavor) + ", ";
  auto amount = [&](Amount a) { return format_amount(resource, a); };
  if (shortage.kind == Kind::kUnused) return "insufficient unused" + where + amount(shortage.b) + " more needed";
  std::string most = " > maximum capacity (" + amount(shortage.c) + ")";
  if (shortage.kind == Kind::kProbe) {
    return "insufficient" + where + "one pod per zero-count podset request (" + amount(shortage.b) + ")" + most;
  }
  return "insufficient" + where + "previously considered podsets requests (" + amount(shortage.a) +
         ") + current podset request (" + amount(shortage.b) + ")" + most;
}

// "fits with borrowed quota", "needs a preemption"
std::string in_words(const Assignment::Attempt& attempt) {
  std::string out = attempt.mode == "Fit"       ? "fits"
                    : attempt.mode == "Reclaim" ? "fits if others give back what they borrow"
                    : attempt.mode == "Preempt" ? "fits after a preemption"
                    : attempt.mode == "NoFit"   ? "does not fit"
                                                : "has too little free, and nobody may be preempted for it";
  const bool fits = attempt.mode != "NoFit" && attempt.mode != "NoCandidates";
  return fits && attempt.borrow > 0 ? out + " with borrowed quota" : out;
}

std::string join_sorted(std::vector<std::string> texts) {
  std::sort(texts.begin(), texts.end());
  std::string joined;
  for (const std::string& each : texts) joined += (joined.empty() ? "" : ", ") + each;
  return joined;
}

struct Separators {
  std::string_view flavors, pod_sets;
};

// "pod set: flavor, flavor; pod set: ..." of the flavors that were tried; `one(attempt, missing)` is the text of one.
std::string each_attempt(const Assignment& assignment, const Plan& plan, const Shape& shape, const Names& names,
                         const Separators& between, const auto& one) {
  std::string all;
  for (std::size_t unit = 0; unit < plan.units.size(); ++unit) {
    std::string flavors;
    for (const Assignment::Attempt& attempt : assignment.attempts) {
      if (attempt.unit != unit) continue;
      std::vector<std::string> texts;
      for (std::size_t i = attempt.first_shortage; i < attempt.last_shortage; ++i)
        texts.push_back(text(assignment.attempt_shortages[i], names));
      if (!flavors.empty()) flavors += between.flavors;
      flavors += one(attempt, join_sorted(std::move(texts)));
    }
    if (flavors.empty()) continue;
    for (std::size_t pod_set : plan.units[unit].pod_sets) {
      if (!all.empty()) all += between.pod_sets;
      all += shape.pod_sets[pod_set].name + ": " + flavors;
    }
  }
  return all;
}

}  // namespace

std::string couldnt_assign(const std::string& pod_set) {
  return "couldn't assign flavors to pod set " + pod_set + ": ";
}

std::string message(const Assignment& assignment, const Plan& plan, const Shape& shape, const Names& names,
                    const std::string& no_place) {
  std::vector<std::pair<std::size_t, std::string>> by_pod_set;
  for (std::size_t unit = 0; unit < plan.units.size(); ++unit) {
    std::vector<std::string> texts;
    for (const Shortage& shortage : assignment.shortages) {
      if (shortage.unit == unit) texts.push_back(text(shortage, names));
    }
    for (std::size_t pod_set : plan.units[unit].pod_sets) {
      std::vector<std::string> of_pod_set = texts;
      if (assignment.no_place && assignment.no_place->pod_set == pod_set) of_pod_set.push_back(no_place);
      if (of_pod_set.empty()) continue;
      by_pod_set.emplace_back(pod_set,
                              couldnt_assign(shape.pod_sets[pod_set].name) + join_sorted(std::move(of_pod_set)));
    }
  }
  std::string all;
  for (const auto& [pod_set, each] : by_pod_set) all += (all.empty() ? "" : "; ") + each;
  return all;
}

std::string considered(const Assignment& assignment, const Plan& plan, const Shape& shape, const Names& names) {
  const auto one = [&](const Assignment::Attempt& attempt, const std::string& missing) {
    std::string what = attempt.mode == "Fit" ? std::string("Fit") : "preemptionMode=" + std::string(attempt.mode);
    if (attempt.borrow > 0) what += ";borrow=" + std::to_string(attempt.borrow);
    if (!missing.empty()) what += ";" + missing;
    return names.name(attempt.flavor) + "(" + what + ")";
  };
  const std::string all = each_attempt(assignment, plan, shape, names, {", ", "; "}, one);
  return all.empty() ? all : "Flavors considered: " + all;
}

std::string considered_in_words(const Assignment& assignment, const Plan& plan, const Shape& shape,
                                const Names& names) {
  const auto one = [&](const Assignment::Attempt& attempt, const std::string& missing) {
    const std::string what = names.name(attempt.flavor) + " " + in_words(attempt);
    return missing.empty() ? what : what + ": " + missing;
  };
  return each_attempt(assignment, plan, shape, names, {"; ", ". "}, one);
}

}  // namespace berth::engine
