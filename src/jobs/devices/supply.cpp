#include "jobs/devices/supply.h"

#include <algorithm>

#include "api/kueue/device_charge.h"
#include "base/json.h"
#include "jobs/devices/capacity.h"

namespace berth::jobs::devices {
namespace {

void add_up(api::ResourceList& amounts, const std::string& name, const Quantity& amount) {
  Quantity& sum = amounts[name];
  sum = sum + amount;
}

}  // namespace

std::string Supply::part(std::string_view driver, std::string_view name) {
  return std::string(api::kueue::kDevicePart).append(driver).append("/").append(name);
}

std::vector<Supply::Result> Supply::results_of(const api::ResourceClaim& claim) {
  std::vector<Result> out;
  if (!claim.allocation) return out;
  for (const Json& result : array_at(*claim.allocation, {"devices", "results"})) {
    if (bool_at(result, {"adminAccess"})) continue;
    const std::string_view request = string_at(result, {"request"});
    Result& made = out.emplace_back();
    made.device = {std::string(string_at(result, {"driver"})), std::string(string_at(result, {"pool"})),
                   std::string(string_at(result, {"device"}))};
    made.request = request.substr(0, request.find('/'));
    made.shared = find(result, "shareID") != nullptr;
    if (const Json* capacity = find(result, "consumedCapacity")) {
      if (auto amounts = api::decode_resource_list(*capacity)) made.capacity = std::move(*amounts);
    }
  }
  return out;
}

std::size_t Supply::find_entry(const DeviceId& device) const {
  const auto it = std::lower_bound(by_name_.begin(), by_name_.end(), device, [&](std::uint32_t i, const DeviceId& id) {
    return Before()(entries_[i].name(), id);
  });
  return it == by_name_.end() || Before()(device, entries_[*it].name()) ? kNone : *it;
}

// --- What is known.

void Supply::set_node(const std::string& name, const api::StringMap& labels) {
  const auto [it, fresh] = nodes_.try_emplace(name, labels);
  if (!fresh && it->second == labels) return;
  it->second = labels;
  dirty_nodes_.insert(name);
}

void Supply::remove_node(const std::string& name) {
  if (nodes_.erase(name) != 0) dirty_nodes_.insert(name);
}

void Supply::classes_changed() {
  for (auto& [name, state] : kinds_) state.known.clear();
  stale_ = true;
}

void Supply::use(const Kind& kind) {
  const auto it = kinds_.find(kind.name);
  if (it != kinds_.end()) {
    ++it->second.users;
  } else {
    if (kinds_.size() >= kMostKinds) return;
    State& state = kinds_[kind.name];
    state.kind = kind;
    state.users = 1;
    other_kinds_ = true;
  }
}

void Supply::unuse(const std::string& kind) {
  const auto it = kinds_.find(kind);
  if (it == kinds_.end() || --it->second.users > 0) return;
  kinds_.erase(it);
  other_kinds_ = true;
}

void Supply::set_claim(const std::shared_ptr<const api::ResourceClaim>& claim, Consumer consumer) {
  const std::string& uid = claim->meta.uid;
  if (!claim->allocation) return remove_claim(uid);
  const auto it = claims_.find(uid);
  if (it != claims_.end() && it->second.object && it->second.consumer == consumer &&
      (it->second.object == claim || *it->second.object->allocation == *claim->allocation))
    return;
  Claim made{claim, std::move(consumer), {}};
  if (it != claims_.end()) {
    count(it->second, -1);
    mark_nodes_of(it->second);
    made.reported = std::move(it->second.reported);
  }
  Claim& stored = claims_[uid] = std::move(made);
  count(stored, 1);
  mark_nodes_of(stored);
  dirty_claims_.insert(uid);
}

void Supply::remove_claim(const std::string& uid) {
  const auto it = claims_.find(uid);
  if (it == claims_.end()) return;
  count(it->second, -1);
  mark_nodes_of(it->second);
  it->second.object = nullptr;  // until take_changes() has said that it takes nothing any more
  dirty_claims_.insert(uid);
}

void Supply::count(const Claim& claim, int sign) {
  if (!claim.object) return;
  for (const Result& result : results_of(*claim.object)) {
    Use& use = used_[result.device];
    const bool counts_once = sign > 0 ? use.times == 0 : use.times == 1;  // a shared device takes of counters once
    use.times += sign;
    for (const auto& [dimension, amount] : result.capacity) add_up(use.capacity, dimension, amount * sign);
    if (use.times <= 0) used_.erase(result.device);
    const std::size_t entry = find_entry(result.device);
    if (entry == kNone || !counts_once) continue;
    const auto& [driver, pool, name] = result.device;
    for (const auto& [set, counters] : entries_[entry].device->counters) {
      for (const auto& [counter, amount] : counters)
        add_up(counters_used_[{driver, pool, set}], counter, amount * sign);
    }
  }
}

void Supply::mark_all_nodes() {
  for (const auto& [name, labels] : nodes_) dirty_nodes_.insert(name);
  for (const auto& [name, amounts] : reported_) dirty_nodes_.insert(name);
}

void Supply::mark_nodes_of(const Claim& claim) {
  if (!claim.reported.consumer.node.empty()) dirty_nodes_.insert(claim.reported.consumer.node);
  if (!claim.consumer.node.empty()) dirty_nodes_.insert(claim.consumer.node);
  if (!claim.object) return;
  for (const Result& result : results_of(*claim.object)) {
    const std::size_t entry = find_entry(result.device);
    if (entry == kNone) continue;
    const api::DevicePlace& place = entries_[entry].place();
    if (place.node.empty()) return mark_all_nodes();  // it may be reached from any of them
    dirty_nodes_.insert(place.node);
  }
}

// --- What follows.

Supply::Changes Supply::take_changes() {
  Changes out;
  const bool stale = std::exchange(stale_, false), other_kinds = std::exchange(other_kinds_, false);
  if (stale) look_anew();
  if (stale || other_kinds) {
    for (auto& [name, state] : kinds_) {
      if (state.devices.empty()) match(state);
    }
    out.needs = find_needs();
    mark_all_nodes();
    for (const auto& [uid, claim] : claims_) dirty_claims_.insert(uid);
  }
  for (const std::string& uid : std::exchange(dirty_claims_, {})) {
    const auto it = claims_.find(uid);
    if (it == claims_.end()) continue;
    Claim& claim = it->second;
    Taken now = taken(uid, claim);
    if (!(now == claim.reported) && !(now.amounts.empty() && claim.reported.amounts.empty())) {
      for (const Taken* each : {&claim.reported, &now}) dirty_nodes_.insert(each->consumer.node);
      if (!claim.reported.amounts.empty()) on_node_[claim.reported.consumer.node].erase(uid);
      if (!now.amounts.empty()) on_node_[now.consumer.node].insert(uid);
      claim.reported = now;
      out.claims.push_back(std::move(now));
    }
    if (!claim.object) claims_.erase(it);
  }
  for (const std::string& name : std::exchange(dirty_nodes_, {})) {
    const auto node = nodes_.find(name);
    api::ResourceList now = node == nodes_.end() ? api::ResourceList() : amounts_of(name, node->second);
    const auto reported = reported_.find(name);
    if (reported == reported_.end() ? now.empty() : reported->second == now) continue;
    if (now.empty()) {
      reported_.erase(name);
    } else {
      reported_.insert_or_assign(name, now);
    }
    out.nodes.emplace_back(name, std::move(now));
  }
  return out;
}

const api::ResourceList& Supply::each_of(const std::string& kind) const {
  static const api::ResourceList none;
  const auto it = kinds_.find(kind);
  return it == kinds_.end() ? none : it->second.each;
}

Supply::Taken Supply::taken(const std::string& uid, const Claim& claim) const {
  Taken out{uid, claim.consumer, {}};
  if (!claim.object) return out;
  for (const Result& result : results_of(*claim.object)) {
    const auto request = std::ranges::find(claim.object->requests, result.request, &api::ClaimRequest::name);
    const auto kind = request == claim.object->requests.end() ? std::nullopt : kind_of(*request, taints_);
    const std::size_t entry = find_entry(result.device);
    if (entry == kNone) {  // no slice has it any more
      if (!kind) continue;
      for (const auto& [name, amount] : each_of(kind->name)) add_up(out.amounts, name, amount);
      continue;
    }
    const Entry& at = entries_[entry];
    if (!at.place().node.empty()) out.consumer.node = at.place().node;
    const api::ResourceList& needed = kind ? each_of(kind->name) : each_of("");
    for (const auto& [name, state] : kinds_) {
      if (needed.contains(name) || has(state.devices, entry)) add_up(out.amounts, name, Quantity::of(1));
    }
    const auto take = [&](const std::string& name, const Quantity& amount) {
      if (const std::string of = part(at.slice->driver, name); parts_.contains(of)) add_up(out.amounts, of, amount);
    };
    for (const auto& [set, counters] : at.device->counters) {
      for (const auto& [counter, amount] : counters) take(counter, amount);
    }
    for (const auto& [dimension, amount] : result.capacity) take(dimension, amount);
  }
  if (out.consumer.node.empty()) out.amounts.clear();
  return out;
}

std::vector<std::size_t> Supply::entries_on(const std::string& node, const api::StringMap& labels) const {
  std::vector<std::size_t> out;
  if (const auto local = local_.find(node); local != local_.end()) out = local->second;
  for (const std::size_t i : roaming_) {
    if (entries_[i].place().reaches(node, labels)) out.push_back(i);
  }
  return out;
}

api::ResourceList Supply::amounts_of(const std::string& node, const api::StringMap& labels) const {
  api::ResourceList out;
  const auto entries = entries_on(node, labels);
  if (!entries.empty()) {
    for (const auto& [name, state] : kinds_) {
      if (const std::int64_t free = free_of(state, entries); free > 0) out.emplace(name, Quantity::of(free));
    }
    add_parts(entries, out);
  }
  if (const auto claims = on_node_.find(node); claims != on_node_.end()) {
    for (const std::string& uid : claims->second) {
      for (const auto& [name, amount] : claims_.at(uid).reported.amounts) add_up(out, name, amount);
    }
  }
  std::erase_if(out, [](const auto& each) { return each.second.sign() <= 0; });
  return out;
}

std::int64_t Supply::free_of(const State& state, const std::vector<std::size_t>& entries) const {
  std::int64_t out = 0;
  std::vector<CounterUses> parts;                            // of devices that take of counters
  std::map<std::pair<SetId, std::string>, std::size_t> ids;  // of these counters
  std::vector<Quantity> left;
  for (const std::size_t i : entries) {
    if (!has(state.devices, i)) continue;
    const Entry& entry = entries_[i];
    if (entry.device->shared) {
      out += times_free(state, entry);
    } else if (used_.find(entry.name()) != used_.end()) {
      continue;
    } else if (entry.device->counters.empty()) {
      ++out;
    } else {
      CounterUses& uses = parts.emplace_back();
      for (const auto& [set, counters] : entry.device->counters) {
        for (const auto& [counter, amount] : counters) {
          const SetId id{entry.slice->driver, entry.slice->pool, set};
          const auto [it, fresh] = ids.try_emplace({id, counter}, left.size());
          if (fresh) left.push_back(left_of(id, counter));
          uses.push_back({it->second, amount});
        }
      }
    }
  }
  return out + (parts.empty() ? 0 : most_together(parts, std::move(left)));
}

// How often more a shared device can be given out to requests of this kind.
std::int64_t Supply::times_free(const State& state, const Entry& entry) const {
  const auto used = used_.find(entry.name());
  std::int64_t most = 0;
  for (const api::DeviceRequest& request : state.kind.alternatives) {
    const auto each = capacity_taken(*entry.device, request);
    if (!each) continue;
    std::int64_t times = kUnlimited;
    for (const auto& [dimension, amount] : *each) {
      if (amount.sign() <= 0) continue;
      Quantity left = entry.device->capacity.at(dimension).value;
      if (used != used_.end()) {
        if (const auto it = used->second.capacity.find(dimension); it != used->second.capacity.end())
          left = left - it->second;
      }
      const auto fit = left.sign() <= 0 ? Quantity::Nano{0} : left.nano_value() / amount.nano_value();
      times = std::min(times, static_cast<std::int64_t>(std::min<Quantity::Nano>(fit, kUnlimited)));
    }
    most = std::max(most, times);
  }
  return most;
}

Quantity Supply::left_of(const SetId& set, const std::string& counter) const {
  const auto all = counters_.find(set);
  if (all == counters_.end()) return {};
  const auto value = all->second->find(counter);
  if (value == all->second->end()) return {};
  const auto used = counters_used_.find(set);
  if (used == counters_used_.end()) return value->second;
  const auto amount = used->second.find(counter);
  return amount == used->second.end() ? value->second : value->second - amount->second;
}

// What is left of counters and of shared capacity, of all devices together.
void Supply::add_parts(const std::vector<std::size_t>& entries, api::ResourceList& out) const {
  if (parts_.empty()) return;
  std::set<SetId> sets;
  for (const std::size_t i : entries) {
    const Entry& entry = entries_[i];
    for (const auto& [set, counters] : entry.device->counters)
      sets.emplace(entry.slice->driver, entry.slice->pool, set);
    if (!entry.device->shared) continue;
    const auto used = used_.find(entry.name());
    for (const auto& [dimension, capacity] : entry.device->capacity) {
      const std::string name = part(entry.slice->driver, dimension);
      if (!parts_.contains(name)) continue;
      add_up(out, name, capacity.value);
      if (used == used_.end()) continue;
      if (const auto it = used->second.capacity.find(dimension); it != used->second.capacity.end())
        add_up(out, name, it->second * -1);
    }
  }
  for (const SetId& set : sets) {
    const auto counters = counters_.find(set);
    if (counters == counters_.end()) continue;
    for (const auto& [counter, value] : *counters->second) {
      if (const std::string name = part(std::get<0>(set), counter); parts_.contains(name))
        add_up(out, name, left_of(set, counter));
    }
  }
}

}  // namespace berth::jobs::devices
