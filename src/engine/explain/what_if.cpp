#include "engine/explain/what_if.h"

#include <algorithm>
#include <map>
#include <set>

#include "api/kueue/names.h"
#include "api/meta.h"
#include "engine/explain/rehearsal.h"

namespace berth::engine {
namespace {

// An elastic job that shrank keeps the count of its admission.
std::int32_t count_of(const api::kueue::PodSetAssignment& assigned, const std::vector<api::kueue::PodSet>& pod_sets) {
  const auto found = std::ranges::find(pod_sets, assigned.name, &api::kueue::PodSet::name);
  return found == pod_sets.end() ? assigned.count : std::min(assigned.count, found->count);
}

// "main 3 x default-flavor on rack1/node1:2, rack1/node2:1"
std::string words_of(const api::kueue::Admission& admission, const std::vector<api::kueue::PodSet>& pod_sets) {
  std::string out;
  for (const auto& pod_set : admission.pod_set_assignments) {
    const std::int32_t count = count_of(pod_set, pod_sets);
    std::set<std::string> flavors;
    for (const auto& [resource, flavor] : pod_set.flavors) flavors.insert(flavor);
    std::string names, places;
    for (const auto& flavor : flavors) names += (names.empty() ? "" : "+") + flavor;
    if (pod_set.topology_assignment && count == pod_set.count) {
      for (const auto& domain : pod_set.topology_assignment->domains) {
        std::string path;
        for (const auto& value : domain.values) path += (path.empty() ? "" : "/") + value;
        places += (places.empty() ? " on " : ", ") + path + ":" + std::to_string(domain.count);
      }
    }
    out += (out.empty() ? "" : "; ") + pod_set.name + " " + std::to_string(count) + " x " + names + places;
  }
  return out;
}

struct Held {
  std::string cluster_queue;
  api::kueue::WorkloadRef workload;
  std::string what() const {
    return workload.status.admission ? words_of(*workload.status.admission, workload.pod_sets) : std::string();
  }
};
using ByKey = std::map<std::string, Held, std::less<>>;  // "namespace/name"

ByKey held_in(const Rehearsal& rehearsal) {
  ByKey out;
  for (const auto& held : rehearsal.held())
    out.emplace_hint(out.end(), held.key, Held{std::string(held.cluster_queue), held.workload});
  return out;
}

// The slice of an elastic job whose quota this one took over; end(): none.
ByKey::const_iterator taken_over(const ByKey& before, const ByKey& after, const Held& held) {
  const auto link = held.workload.meta.annotations.find(api::kueue::kSliceReplacementFor);
  if (link == held.workload.meta.annotations.end() || after.contains(link->second)) return before.end();
  return before.find(link->second);
}

std::map<std::string, Amount> reserved_in(const ClusterQueueStatus& status,
                                          std::set<std::pair<std::string, std::string>>& keys) {
  std::map<std::string, Amount> out;
  for (const auto& flavor : status.reservation) {
    for (const auto& resource : flavor.resources) {
      keys.emplace(flavor.flavor, resource.name);
      out[flavor.flavor + "/" + resource.name] = resource.total;
    }
  }
  return out;
}

std::optional<std::int64_t> share_of(const ClusterQueueStatus& status) {
  return status.fair_share ? std::optional(status.fair_share->weighted_share) : std::nullopt;
}

std::optional<WhatIf::Queue> compare(const std::string& name, const ClusterQueueStatus& before,
                                     const ClusterQueueStatus& after) {
  WhatIf::Queue out{
      name, before.pending, after.pending, before.reserving, after.reserving, share_of(before), share_of(after), {}};
  std::set<std::pair<std::string, std::string>> keys;
  auto old_usage = reserved_in(before, keys), new_usage = reserved_in(after, keys);
  for (const auto& [flavor, resource] : keys) {
    const std::string key = flavor + "/" + resource;
    if (old_usage[key] != new_usage[key]) out.usage.push_back({flavor, resource, old_usage[key], new_usage[key]});
  }
  const bool same = out.pending_before == out.pending_after && out.reserving_before == out.reserving_after &&
                    out.share_before == out.share_after && out.usage.empty();
  return same ? std::nullopt : std::optional(std::move(out));
}

std::vector<WhatIf::Arrival> arrivals_of(const std::vector<Event>& changes, const ByKey& held, const Rehearsal& with,
                                         const RunHistory& history) {
  std::vector<WhatIf::Arrival> out;
  std::vector<std::string> waiting;
  for (const Event& change : changes) {
    const auto* seen = std::get_if<WorkloadSeen>(&change);
    if (seen == nullptr || out.size() == WhatIf::kMostArrivals) continue;
    const auto& meta = seen->object->meta;
    const std::string key = api::object_key(meta);
    if (const auto got = held.find(key); got != held.end()) {
      out.push_back({key, got->second.cluster_queue, got->second.what(), std::nullopt, std::nullopt});
    } else if (with.find(key)) {
      out.push_back(
          {key, with.cluster_queue_of(key), "", with.engine().explain(with.now(), meta.ns, meta.name), std::nullopt});
      waiting.push_back(key);
    }
  }
  if (waiting.empty()) return out;
  auto predictions = predict(with.engine(), history, with.now(), waiting);
  auto next = predictions.begin();
  for (WhatIf::Arrival& arrival : out) {
    if (!arrival.got.empty()) continue;
    arrival.prediction = std::move(*next++);
    if (arrival.prediction->never.empty() && arrival.explanation)
      arrival.prediction->never = arrival.explanation->never;
  }
  return out;
}

}  // namespace

WhatIf what_if(const Engine& engine, Time now, const std::vector<Event>& changes, const RunHistory* history) {
  WhatIf out;
  Rehearsal without(engine, now), with(engine, now);
  // A failed node is replaced in a second pass, which comes a second later.
  const Time end = now + std::chrono::seconds(10);
  out.complete = without.settle_until(end);
  for (const Event& change : changes) with.change(change);
  out.complete = with.settle_until(end) && out.complete;
  const ByKey before = held_in(without), after = held_in(with);
  const auto why = [&](const std::string& key) { return with.why_it_waits(key); };
  std::set<std::string_view> replaced;  // slices of elastic jobs
  for (const auto& [key, held] : after) {
    const auto old = before.find(key);
    if (const auto former = taken_over(before, after, held); old == before.end() && former != before.end()) {
      replaced.insert(former->first);
      out.moved.push_back({key, held.cluster_queue, former->second.what(), held.what(), ""});
    } else if (old == before.end()) {
      out.admitted.push_back({key, held.cluster_queue, "", held.what(), ""});
    } else if (!old->second.workload.refers_to_same(held.workload) && old->second.what() != held.what()) {
      out.moved.push_back({key, held.cluster_queue, old->second.what(), held.what(), ""});
    }
  }
  for (const auto& [key, held] : before) {
    if (after.contains(key) || replaced.contains(key)) continue;
    if (with.find(key)) {
      out.waiting.push_back({key, held.cluster_queue, held.what(), "", why(key)});
    } else {
      out.gone.push_back({key, held.cluster_queue, held.what(), "", ""});
    }
  }
  for (const Event& change : changes) {
    const auto* seen = std::get_if<WorkloadSeen>(&change);
    if (seen == nullptr) continue;
    const std::string key = api::object_key(seen->object->meta);
    if (!after.contains(key) && !before.contains(key) && with.find(key))
      out.waiting.push_back({key, with.cluster_queue_of(key), "", "", why(key)});
  }
  if (history != nullptr) out.arrivals = arrivals_of(changes, after, with, *history);
  for (const auto& [key, message] : with.preempted()) {
    if (without.preempted().contains(key)) continue;
    const auto old = before.find(key), again = after.find(key);
    out.preempted.push_back({key, old == before.end() ? "" : old->second.cluster_queue,
                             old == before.end() ? "" : old->second.what(),
                             again == after.end() ? "" : again->second.what(), message});
  }
  std::set<std::string> names;
  for (const Rehearsal* side : {&without, &with}) {
    for (std::string& name : side->cluster_queues()) names.insert(std::move(name));
  }
  for (const std::string& name : names) {
    const auto old = without.engine().cluster_queue_status(name), now_there = with.engine().cluster_queue_status(name);
    if (!old && !now_there) continue;
    if (auto queue = compare(name, old.value_or(ClusterQueueStatus()), now_there.value_or(ClusterQueueStatus())))
      out.queues.push_back(std::move(*queue));
  }
  return out;
}

void hide_other_namespaces(WhatIf& w, std::string_view ns) {
  const std::string own = std::string(ns) + "/";
  WhatIf::Others others;
  const auto hide = [&](std::vector<WhatIf::Item>& list) {
    return std::erase_if(list, [&](const WhatIf::Item& item) { return !item.workload.starts_with(own); });
  };
  others.admitted = hide(w.admitted);
  others.preempted = hide(w.preempted);
  others.moved = hide(w.moved);
  others.waiting = hide(w.waiting);
  others.gone = hide(w.gone);
  w.others = others;
  std::erase_if(w.queues, [&](const WhatIf::Queue& queue) {
    return std::ranges::none_of(w.arrivals, [&](const auto& arrival) { return arrival.cluster_queue == queue.name; });
  });
  for (auto& arrival : w.arrivals) {
    if (arrival.explanation) hide_other_namespaces(*arrival.explanation);
    if (arrival.prediction) hide_other_namespaces(*arrival.prediction);
  }
}

namespace {

Json items(const std::vector<WhatIf::Item>& list) {
  JsonArray out;
  for (const auto& item : list) {
    JsonObject each{{"workload", item.workload}};
    if (!item.cluster_queue.empty()) each["clusterQueue"] = item.cluster_queue;
    if (!item.before.empty()) each["before"] = item.before;
    if (!item.after.empty()) each["after"] = item.after;
    if (!item.text.empty()) each["text"] = item.text;
    out.emplace_back(std::move(each));
  }
  return out;
}

}  // namespace

Json to_json(const WhatIf& w) {
  JsonArray queues;
  for (const auto& queue : w.queues) {
    JsonObject each{{"name", queue.name},
                    {"pending", JsonObject{{"before", queue.pending_before}, {"after", queue.pending_after}}},
                    {"reserving", JsonObject{{"before", queue.reserving_before}, {"after", queue.reserving_after}}}};
    if (queue.share_before || queue.share_after) {
      JsonObject share;
      if (queue.share_before) share["before"] = *queue.share_before;
      if (queue.share_after) share["after"] = *queue.share_after;
      each["weightedShare"] = std::move(share);
    }
    JsonArray usage;
    for (const auto& u : queue.usage) {
      usage.emplace_back(JsonObject{{"flavor", u.flavor},
                                    {"resource", u.resource},
                                    {"before", format_amount(u.resource, u.before)},
                                    {"after", format_amount(u.resource, u.after)}});
    }
    if (!usage.empty()) each["reserved"] = std::move(usage);
    queues.emplace_back(std::move(each));
  }
  JsonArray arrivals;
  for (const auto& arrival : w.arrivals) {
    JsonObject each{{"workload", arrival.workload}};
    if (!arrival.got.empty()) each["got"] = arrival.got;
    if (!arrival.cluster_queue.empty()) each["clusterQueue"] = arrival.cluster_queue;
    if (arrival.prediction) each["prediction"] = to_json(*arrival.prediction);
    if (arrival.explanation) each["explanation"] = to_json(*arrival.explanation);
    arrivals.emplace_back(std::move(each));
  }
  JsonObject out{{"admitted", items(w.admitted)},   {"preempted", items(w.preempted)}, {"moved", items(w.moved)},
                 {"waiting", items(w.waiting)},     {"gone", items(w.gone)},           {"queues", std::move(queues)},
                 {"arrivals", std::move(arrivals)}, {"complete", w.complete}};
  if (w.others)
    out["otherNamespaces"] = JsonObject{{"admitted", w.others->admitted},
                                        {"preempted", w.others->preempted},
                                        {"moved", w.others->moved},
                                        {"waiting", w.others->waiting},
                                        {"gone", w.others->gone}};
  return out;
}

}  // namespace berth::engine
