#include "jobs/devices/inventory.h"

#include <vector>

#include "api/meta.h"

namespace berth::jobs::devices {
namespace {

template <typename T>
std::shared_ptr<const T> find_in(const ByName<T>& objects, std::string_view key) {
  const auto it = objects.find(key);
  return it == objects.end() ? nullptr : it->second;
}

}  // namespace

std::shared_ptr<const api::ResourceClaimTemplate> Inventory::claim_template(std::string_view ns,
                                                                            std::string_view name) const {
  return find_in(templates, api::object_key(ns, name));
}

std::shared_ptr<const api::DeviceClass> Inventory::device_class(std::string_view name) const {
  return find_in(classes, name);
}

std::shared_ptr<const api::DeviceClass> Inventory::class_of_resource(std::string_view extended_resource) const {
  std::shared_ptr<const api::DeviceClass> youngest;
  for (const auto& [name, each] : classes) {  // by name, so of two of one age the first stays
    if (each->extended_resource_name != extended_resource) continue;
    if (!youngest || youngest->meta.creation < each->meta.creation) youngest = each;
  }
  return youngest;
}

void for_each_complete_slice(const Inventory& inventory, std::string_view driver, const VisitSlice& visit) {
  struct Pool {
    std::int64_t generation = -1;
    std::vector<const api::ResourceSlice*> slices;  // of that generation
  };
  std::map<std::string_view, Pool> pools;
  for (const auto& [name, slice] : inventory.slices) {
    if (slice->driver != driver) continue;
    Pool& pool = pools[slice->pool];
    if (slice->generation < pool.generation) continue;
    if (slice->generation > pool.generation) pool = {slice->generation, {}};
    pool.slices.push_back(slice.get());
  }
  for (const auto& [name, pool] : pools) {
    if (pool.slices.empty() || static_cast<std::int64_t>(pool.slices.size()) != pool.slices.front()->pool_slices)
      continue;
    for (const auto* slice : pool.slices) visit(*slice);
  }
}

}  // namespace berth::jobs::devices
