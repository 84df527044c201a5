// What would follow from changes: who would be admitted, preempted, moved or kept waiting, and the change of each
// queue's usage and share. Nothing is written: both sides are copies of the engine that run by themselves (see
// rehearsal.h), one with the changes and one without.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/amount.h"
#include "base/json.h"
#include "engine/engine.h"
#include "engine/explain/predict.h"

namespace berth::engine {

struct WhatIf {
  struct Item {
    std::string workload, cluster_queue;  // "namespace/name"
    std::string before, after;            // flavors and places of its pods; empty: it holds no quota
    std::string text;                     // why it was preempted, or why it waits
  };
  std::vector<Item> admitted;   // get quota that they do not get without the changes
  std::vector<Item> preempted;  // are preempted on the way, whatever they get after that
  std::vector<Item> moved;      // have other flavors, places or counts
  std::vector<Item> waiting;    // lose their quota, or are new and get none
  std::vector<Item> gone;       // do not exist after the changes
  // How many more of each there are in other namespaces, whose names are hidden.
  struct Others {
    std::size_t admitted = 0, preempted = 0, moved = 0, waiting = 0, gone = 0;
  };
  std::optional<Others> others;  // nullopt: nothing is hidden
  struct Usage {
    std::string flavor, resource;
    Amount before, after;  // reserved
  };
  struct Queue {
    std::string name;
    std::int32_t pending_before = 0, pending_after = 0, reserving_before = 0, reserving_after = 0;
    std::optional<std::int64_t> share_before, share_after;  // with fair sharing: in thousandths
    std::vector<Usage> usage;                               // what differs
  };
  std::vector<Queue> queues;  // cluster queues in which anything differs, by name
  // A workload that the changes bring: what it gets, or why it waits and when it starts.
  struct Arrival {
    std::string workload, cluster_queue;
    std::string got;                         // as `after` of an item; empty: it waits
    std::optional<Explanation> explanation;  // when it waits
    std::optional<Prediction> prediction;    // likewise
  };
  std::vector<Arrival> arrivals;  // at most kMostArrivals
  bool complete = true;           // false: workloads still preempted each other at the limit of passes

  static constexpr std::size_t kMostArrivals = 8;  // each is explained and predicted
};

// `changes`: as if the watch had shown them, in this order. Costs two copies of the engine, and more for each arrival.
// `history`: what predictions rest on; null: arrivals are left out.
WhatIf what_if(const Engine& engine, Time now, const std::vector<Event>& changes, const RunHistory* history = nullptr);

// For a user who may ask about this namespace only: workloads of other namespaces are counted and not named, and of
// queues only those remain that get the workloads of the changes.
void hide_other_namespaces(WhatIf& what_if, std::string_view ns);

Json to_json(const WhatIf& what_if);

}  // namespace berth::engine
