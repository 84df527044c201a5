// Pages of pending workloads and their positions, for the visibility API (KEP-168).
#include <map>
#include <utility>

#include "api/meta.h"
#include "base/assert.h"
#include "engine/engine_impl.h"

namespace berth::engine {

// Workloads of one local queue have the same relative order in the cluster queue: so only the position of the first
// one of a page must be looked up.
std::vector<PendingWorkload> Engine::Impl::pending_page(std::string_view cluster_queue, std::size_t offset,
                                                        std::size_t limit) const {
  std::vector<PendingWorkload> out;
  std::map<std::string_view, std::size_t> next;  // by local queue
  for (const WorkloadId id : scheduler.pending_page(cluster_queue, offset, limit)) {
    const Tracked* t = workloads.find(id);
    BERTH_INVARIANT(t != nullptr);
    auto it = next.find(t->local_queue);
    if (it == next.end()) it = next.emplace(t->local_queue, scheduler.pending_position(id)->in_local_queue).first;
    out.push_back({t->base, offset + out.size(), it->second++});
  }
  return out;
}

std::vector<PendingWorkload> Engine::Impl::pending_page(std::string_view cluster_queue, std::string_view local_queue,
                                                        std::size_t offset, std::size_t limit) const {
  std::vector<PendingWorkload> out;
  for (const WorkloadId id : scheduler.pending_page(cluster_queue, local_queue, offset, limit)) {
    const Tracked* t = workloads.find(id);
    BERTH_INVARIANT(t != nullptr);
    out.push_back({t->base, scheduler.pending_position(id)->in_cluster_queue, offset + out.size()});
  }
  return out;
}

std::optional<std::vector<PendingWorkload>> Engine::pending_in_cluster_queue(std::string_view name, std::size_t offset,
                                                                             std::size_t limit) const {
  if (impl_->registries.cluster_queue(name) == nullptr) return std::nullopt;
  return impl_->pending_page(name, offset, limit);
}

std::optional<std::vector<PendingWorkload>> Engine::pending_in_local_queue(std::string_view ns, std::string_view name,
                                                                           std::size_t offset,
                                                                           std::size_t limit) const {
  const std::string key = api::object_key(ns, name);
  const auto* queue = impl_->registries.local_queue(key);
  if (queue == nullptr) return std::nullopt;
  return impl_->pending_page(queue->cluster_queue, key, offset, limit);
}

std::optional<PendingPosition> Engine::pending_position(std::string_view ns, std::string_view workload) const {
  const Tracked* t = std::as_const(impl_->workloads).find(api::object_key(ns, workload));
  const auto position = t == nullptr ? std::nullopt : impl_->scheduler.pending_position(t->id);
  if (!position) return std::nullopt;
  return PendingPosition{t->cluster_queue, position->in_cluster_queue, position->in_local_queue};
}

}  // namespace berth::engine
