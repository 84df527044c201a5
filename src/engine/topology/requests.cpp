// Interned pod requests.
#include "engine/topology/requests.h"

#include <algorithm>

#include "engine/quota/free_list.h"

namespace berth::engine::topology {

std::uint32_t Columns::add(ResourceId resource) {
  if (by_resource_.size() <= resource.index()) by_resource_.resize(resource.index() + 1, kNone);
  std::uint32_t& column = by_resource_[resource.index()];
  if (column == kNone) {
    column = static_cast<std::uint32_t>(resources_.size());
    resources_.push_back(resource);
  }
  return column;
}

void Columns::add_port(ResourceId resource) {
  const std::uint32_t column = add(resource);
  if (ports_.size() <= column) ports_.resize(column + 1);
  ports_[column] = true;
}

RequestId RequestPool::acquire(std::span<const ResourceAmount> requests) {
  scratch_.assign(requests.begin(), requests.end());
  scratch_.push_back({pods_, Amount::of(1)});
  return intern();
}

void RequestPool::read(const api::ResourceList& requests) {
  scratch_.clear();
  for (const auto& [name, quantity] : requests) scratch_.push_back({names_.resource(name), to_amount(name, quantity)});
}

RequestId RequestPool::acquire(const api::ResourceList& requests) {
  read(requests);
  scratch_.push_back({pods_, Amount::of(1)});
  return intern();
}

RequestId RequestPool::acquire_without_pod(const api::ResourceList& requests) {
  read(requests);
  return intern();
}

RequestId RequestPool::intern() {
  std::erase_if(scratch_, [](const ResourceAmount& each) { return each.amount <= Amount(); });
  std::sort(scratch_.begin(), scratch_.end(), [](const ResourceAmount& a, const ResourceAmount& b) {
    return std::pair(a.resource, a.amount) < std::pair(b.resource, b.amount);
  });
  std::size_t kept = 0;
  for (std::size_t i = 1; i < scratch_.size(); ++i) {
    if (scratch_[i].resource == scratch_[kept].resource) {
      scratch_[kept].amount += scratch_[i].amount;
    } else {
      scratch_[++kept] = scratch_[i];
    }
  }
  if (!scratch_.empty()) scratch_.resize(kept + 1);
  std::string key;
  key.reserve(scratch_.size() * 12);
  for (const ResourceAmount& each : scratch_) {
    const std::uint32_t resource = each.resource.value;
    const std::int64_t amount = each.amount.count();
    key.append(reinterpret_cast<const char*>(&resource), sizeof resource);
    key.append(reinterpret_cast<const char*>(&amount), sizeof amount);
  }
  if (auto it = by_key_.find(key); it != by_key_.end()) {
    ++slots_[it->second.index()].users;
    return it->second;
  }
  const RequestId id = free_slot(slots_, free_);
  Slot& slot = slots_[id.index()];
  for (const ResourceAmount& each : scratch_) {
    if (names_.name(each.resource).starts_with(api::kHostPort)) columns_.add_port(each.resource);
  }
  slot.amounts = scratch_;
  slot.key = key;
  slot.users = 1;
  compile(slot);
  by_key_.emplace(std::move(key), id);
  return id;
}

void RequestPool::release(RequestId id) {
  Slot& slot = slots_[id.index()];
  if (--slot.users > 0) return;
  by_key_.erase(slot.key);
  slot = Slot();
  free_.push_back(id);
}

std::int64_t RequestPool::amount(RequestId id, ResourceId resource) const {
  const auto& amounts = slots_[id.index()].amounts;
  const auto it = std::ranges::find(amounts, resource, &ResourceAmount::resource);
  return it == amounts.end() ? 0 : it->amount.count();
}

void RequestPool::compile(Slot& slot) const {
  slot.cells.clear();
  slot.unknown = ResourceId();
  for (const ResourceAmount& each : slot.amounts) {
    const std::uint32_t column = columns_.find(each.resource);
    if (column != Columns::kNone) {
      slot.cells.push_back({column, each.amount.count()});
    } else if (!slot.unknown.valid() || names_.name(each.resource) < names_.name(slot.unknown)) {
      slot.unknown = each.resource;
    }
  }
  std::sort(slot.cells.begin(), slot.cells.end(), [](const Cell& a, const Cell& b) { return a.column < b.column; });
}

std::uint32_t RequestPool::add_column(ResourceId resource) {
  const std::size_t before = columns_.size();
  const std::uint32_t column = columns_.add(resource);
  if (columns_.size() != before) {
    for (Slot& slot : slots_) {
      if (slot.users > 0) compile(slot);
    }
  }
  return column;
}

}  // namespace berth::engine::topology
