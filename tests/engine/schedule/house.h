// Cluster queues and quota holders without a scheduler, for tests of preemption: two resources of one flavor.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/schedule/preemption.h"

namespace berth::engine {

inline const FlavorResourceId kCpu(0), kMemory(1);
inline Amount n(std::int64_t v) { return Amount::of(v); }
inline Time second(int s) { return Time(std::chrono::seconds(s)); }

struct House {
  explicit House(FairSharing rules = {}) : fair_sharing(rules) {
    for (const char* resource : {"cpu", "memory"}) names.pair(names.flavor("f"), names.resource(resource));
  }
  FairSharing fair_sharing;
  Names names;
  Ledger ledger;
  Places places{names, {}};
  Slots slots;
  std::map<QuotaNodeId, std::unique_ptr<Holders>> holders;
  std::vector<WorkloadId> workloads;
  Shares shares{ledger, names};
  Preemption preemption{ledger,
                        places,
                        shares,
                        slots,
                        [this](QuotaNodeId node) {
                          auto it = holders.find(node);
                          return it == holders.end() ? nullptr : it->second.get();
                        },
                        fair_sharing};

  QuotaNodeId queue(const std::string& name, const std::string& cohort, std::int64_t cpu, std::int64_t memory = 0) {
    std::vector<QuotaEntry> quotas{{kCpu, {n(cpu)}}, {kMemory, {n(memory)}}};
    QuotaNodeId node = ledger.set_cluster_queue(name, cohort, quotas);
    holders[node] = std::make_unique<Holders>(slots);
    return node;
  }
  WorkloadId runs(QuotaNodeId queue, std::int64_t cpu, int priority, int reserved_at, bool evicted = false,
                  std::int64_t memory = 0) {
    WorkloadId id = slots.enter("w" + std::to_string(workloads.size()), "");
    Slot& slot = slots[id];
    slot.queue = queue;
    slot.priority = priority;
    slot.queued_at = slot.reserved_at = second(reserved_at);
    slot.evicted = evicted;
    slot.place = Slot::Place::kHolder;
    holders[queue]->insert(slot, id);
    ledger.take(id, queue, {{kCpu, n(cpu)}, {kMemory, n(memory)}});
    workloads.push_back(id);
    return id;
  }
  std::vector<WorkloadId> victims(const Preemptor& preemptor, std::int64_t cpu) {
    FlavorResourceAmount usage{kCpu, n(cpu)};
    std::vector<WorkloadId> ids;
    for (const Target& each : preemption.targets(preemptor, {&kCpu, 1}, {&usage, 1})) ids.push_back(each.workload);
    return ids;
  }
};

}  // namespace berth::engine
