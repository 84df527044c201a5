// After a restart: past usage finds its workloads, and the messages of waiting workloads say whom they spare.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine_impl.h"
#include "engine/schedule/protected_words.h"

namespace berth::engine {
namespace {

// Whom the workload spares, according to its last message.
std::vector<std::string> protected_by_message(const Tracked& t) {
  if (t.unreported_reason) return protected_uids(t.unreported_reason->message);
  const auto* quota = api::find_condition(t.now.status().conditions, api::kueue::kQuotaReserved);
  return quota == nullptr || quota->status ? std::vector<std::string>() : protected_uids(quota->message);
}

}  // namespace

// By now all workloads that hold quota have taken their claims in the book of usage.
void Engine::Impl::end_recall() {
  if (std::exchange(pass_facts.usage_recalled, false)) scheduler.end_adoption();
}

// By now all workloads are reported to the scheduler.
void Engine::Impl::recall_protected() {
  if (!std::exchange(pass_facts.recalls_protected, false)) return;
  std::vector<std::pair<WorkloadId, std::vector<std::string>>> found;
  workloads.for_each([&](const Tracked& t) {
    if (!scheduler.pending(t.id)) return;
    if (auto uids = protected_by_message(t); !uids.empty()) found.emplace_back(t.id, std::move(uids));
  });
  if (found.empty()) return;
  std::map<std::string, WorkloadId> by_uid;
  workloads.for_each([&](const Tracked& t) { by_uid.emplace(t.base->meta.uid, t.id); });
  for (const auto& [workload, uids] : found) {
    std::vector<WorkloadId> protected_victims;
    for (const std::string& uid : uids) {
      if (const auto other = by_uid.find(uid); other != by_uid.end()) protected_victims.push_back(other->second);
    }
    scheduler.recall_protected(workload, protected_victims);
  }
}

}  // namespace berth::engine
