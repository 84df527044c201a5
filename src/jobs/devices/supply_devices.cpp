// Which devices there are and of which kinds they are, after a change of slices, classes or the kinds in use.
#include <algorithm>
#include <numeric>
#include <optional>

#include "api/core/scheduling.h"
#include "jobs/devices/capacity.h"
#include "jobs/devices/supply.h"

namespace berth::jobs::devices {

void Supply::look_anew() {
  by_name_.clear();
  local_.clear();
  roaming_.clear();
  counters_.clear();
  entries_.clear();
  slices_.clear();
  std::set<std::string> drivers;
  std::map<const api::ResourceSlice*, std::shared_ptr<const api::ResourceSlice>> owned;
  for (const auto& [name, slice] : inventory_.slices) {
    drivers.insert(slice->driver);
    owned.emplace(slice.get(), slice);
  }
  for (const std::string& driver : drivers) {
    for_each_complete_slice(inventory_, driver, [&](const api::ResourceSlice& slice) { look_at_slice(owned[&slice]); });
  }
  by_name_.resize(entries_.size());
  std::iota(by_name_.begin(), by_name_.end(), 0u);
  std::ranges::sort(by_name_,
                    [&](std::uint32_t a, std::uint32_t b) { return entries_[a].name() < entries_[b].name(); });
  for (auto& [name, state] : kinds_) state.devices.clear();
  counters_used_.clear();
  used_.clear();
  for (const auto& [uid, claim] : claims_) count(claim, 1);
}

void Supply::look_at_slice(const std::shared_ptr<const api::ResourceSlice>& slice) {
  slices_.push_back(slice);
  for (const auto& [set, values] : slice->shared_counters)
    counters_.emplace(SetId{slice->driver, slice->pool, set}, &values);
  for (const auto& device : slice->devices) {
    const std::size_t i = entries_.size();
    const Entry& entry = entries_.emplace_back(slice.get(), device.get());
    if (entry.place().node.empty()) {
      roaming_.push_back(i);
    } else {
      local_[entry.place().node].push_back(i);
    }
  }
}

void Supply::match(State& state) {
  state.any = state.shared = false;
  state.devices.assign(entries_.size() / 64 + 1, 0);
  auto before = std::exchange(state.known, {});
  std::size_t i = 0;
  for (const auto& slice : slices_) {
    const auto known = before.find(slice);
    const auto& says =
        state.known.emplace(slice, known != before.end() ? std::move(known->second) : match(state.kind, *slice))
            .first->second;
    for (std::size_t k = 0; k < says.size(); ++k, ++i) {
      if (!says[k]) continue;
      state.devices[i / 64] |= std::uint64_t{1} << (i % 64);
      state.any = true;
      state.shared = state.shared || slice->devices[k]->shared;
    }
  }
}

// A selector that fails on a device, or costs too much, does not select it: the scheduler places nothing there either.
std::vector<bool> Supply::match(const Kind& kind, const api::ResourceSlice& slice) {
  std::vector<bool> out(slice.devices.size());
  for (const api::DeviceRequest& request : kind.alternatives) {
    const auto device_class = inventory_.device_class(request.device_class);
    if (!device_class) continue;
    std::vector<Selectors::Compiled> programs;
    bool compiled = true;
    for (const auto* selectors : {&device_class->selectors, &request.selectors}) {
      for (const auto& expression : *selectors) {
        auto program = selectors_.compile(expression);
        compiled = compiled && program.has_value();
        if (program) programs.push_back(std::move(*program));
      }
    }
    if (!compiled) continue;
    std::int64_t cost_left = kMostSelectorCost;
    for (std::size_t k = 0; k < out.size(); ++k) {
      const api::Device& device = *slice.devices[k];
      if (out[k] || !has_capacity(device, request)) continue;
      if (taints_ && api::find_untolerated(device.taints, request.tolerations) != nullptr) continue;
      const cel::Value value = selectable(device, slice.driver);
      out[k] = std::ranges::all_of(programs, [&](const auto& program) {
        const auto yes = selects(*program, value, cost_left);
        return yes && *yes;
      });
    }
  }
  return out;
}

bool Supply::find_needs() {
  bool changed = false;
  parts_.clear();
  for (auto& [name, state] : kinds_) {
    api::ResourceList each{{name, Quantity::of(1)}};
    for (const auto& [other, larger] : kinds_) {
      if (&larger == &state || !state.any || state.shared || larger.shared) continue;
      bool inside = true;
      for (std::size_t i = 0; i < state.devices.size() && inside; ++i)
        inside = (state.devices[i] & ~larger.devices[i]) == 0;
      if (inside) each.emplace(other, Quantity::of(1));
    }
    for (auto& [part, amount] : parts_of(state)) {
      parts_.insert(part);
      each.emplace(part, amount);
    }
    changed = changed || each != state.each;
    state.each = std::move(each);
  }
  return changed;
}

// What every device of the kind takes at least of each counter, and of each dimension of shared capacity.
api::ResourceList Supply::parts_of(const State& state) const {
  std::optional<api::ResourceList> least;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (!has(state.devices, i)) continue;
    const Entry& entry = entries_[i];
    api::ResourceList takes;
    for (const auto& [set, counters] : entry.device->counters) {
      for (const auto& [counter, amount] : counters) {
        Quantity& sum = takes[part(entry.slice->driver, counter)];
        sum = sum + amount;
      }
    }
    // Where alternatives differ in what they take, nothing is certain.
    if (entry.device->shared && state.kind.alternatives.size() == 1) {
      const auto taken = capacity_taken(*entry.device, state.kind.alternatives.front());
      for (const auto& [dimension, amount] : taken.value_or(api::ResourceList()))
        takes[part(entry.slice->driver, dimension)] = amount;
    }
    if (!least) {
      least = std::move(takes);
    } else {
      std::erase_if(*least, [&](const auto& each) { return !takes.contains(each.first); });
      for (auto& [part, amount] : *least) amount = std::min(amount, takes[part]);
    }
    if (least->empty()) break;
  }
  if (!least) return {};
  std::erase_if(*least, [](const auto& each) { return each.second.sign() <= 0; });
  return std::move(*least);
}

}  // namespace berth::jobs::devices
