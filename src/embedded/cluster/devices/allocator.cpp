#include "embedded/cluster/devices/allocator.h"

#include <algorithm>
#include <functional>

#include "api/meta.h"
#include "jobs/devices/capacity.h"

namespace berth::cluster::devices {

using api::Device;
using api::DeviceRequest;
using api::ResourceClaim;
using api::ResourceSlice;

void Taken::take(const DeviceId& device, const api::ResourceList& capacity, int sign) {
  Use& use = used_[device];
  use.times += sign;
  for (const auto& [dimension, amount] : capacity) {
    Quantity& sum = use.capacity[dimension];
    sum = sign > 0 ? sum + amount : sum - amount;
  }
  if (use.times <= 0) used_.erase(device);
}

void Taken::add(const Json& allocation, int sign) {
  for (const Json& result : array_at(allocation, {"devices", "results"})) {
    if (bool_at(result, {"adminAccess"})) continue;
    api::ResourceList capacity;
    if (const Json* consumed = find(result, "consumedCapacity")) {
      if (auto list = api::decode_resource_list(*consumed)) capacity = std::move(*list);
    }
    take({std::string(string_at(result, {"driver"})), std::string(string_at(result, {"pool"})),
          std::string(string_at(result, {"device"}))},
         capacity, sign);
  }
}

int Taken::times(const DeviceId& device) const {
  const auto it = used_.find(device);
  return it == used_.end() ? 0 : it->second.times;
}

Quantity Taken::capacity(const DeviceId& device, std::string_view dimension) const {
  const auto it = used_.find(device);
  if (it == used_.end()) return {};
  const auto amount = it->second.capacity.find(dimension);
  return amount == it->second.capacity.end() ? Quantity() : amount->second;
}

namespace {

constexpr std::size_t kMostOfAClaim = 32;

struct Candidate {
  const ResourceSlice* slice = nullptr;
  const Device* device = nullptr;
  Taken::DeviceId id;
};

// The devices that the node can use, and the counters that its pools have left.
class Offer {
 public:
  Offer(const jobs::devices::Inventory& inventory, const NodeView& node, const Taken& taken) : taken_(taken) {
    std::set<std::string_view> drivers;
    for (const auto& [name, slice] : inventory.slices) drivers.insert(slice->driver);
    for (const auto driver : drivers) {
      jobs::devices::for_each_complete_slice(inventory, driver, [&](const ResourceSlice& slice) { add(slice, node); });
    }
  }
  const std::vector<Candidate>& candidates() const { return candidates_; }
  Taken& taken() { return taken_; }

  // Whether the device has enough left of everything, beside what is taken.
  bool has_room(const Candidate& candidate, const api::ResourceList& capacity) const {
    if (!candidate.device->shared) return taken_.times(candidate.id) == 0 && counters_left(candidate);
    const bool fits = std::ranges::all_of(candidate.device->capacity, [&](const auto& dimension) {
      const auto asked = capacity.find(dimension.first);
      const Quantity wants = asked == capacity.end() ? Quantity() : asked->second;
      return taken_.capacity(candidate.id, dimension.first) + wants <= dimension.second.value;
    });
    return fits && (taken_.times(candidate.id) > 0 || counters_left(candidate));
  }

 private:
  void add(const ResourceSlice& slice, const NodeView& node) {
    auto& pool = pools_[{slice.driver, slice.pool}];
    pool.counters.insert(slice.shared_counters.begin(), slice.shared_counters.end());
    for (const auto& device : slice.devices) {
      const Taken::DeviceId id{slice.driver, slice.pool, device->name};
      pool.devices.push_back({&slice, device.get(), id});
      const auto& place = device->place ? *device->place : slice.place;
      if (place.reaches(node.name, node.labels)) candidates_.push_back({&slice, device.get(), id});
    }
  }

  // All devices of the pool that are in use count, on whichever node.
  bool counters_left(const Candidate& candidate) const {
    const auto& pool = pools_.at({candidate.slice->driver, candidate.slice->pool});
    return std::ranges::all_of(candidate.device->counters, [&](const auto& consumed) {
      const auto set = pool.counters.find(consumed.first);
      if (set == pool.counters.end()) return false;
      return std::ranges::all_of(consumed.second, [&](const auto& counter) {
        const auto total = set->second.find(counter.first);
        if (total == set->second.end()) return false;
        Quantity used = counter.second;
        for (const auto& other : pool.devices) {
          if (taken_.times(other.id) > 0) used = used + consumed_by(*other.device, consumed.first, counter.first);
        }
        return used <= total->second;
      });
    });
  }

  static Quantity consumed_by(const Device& device, std::string_view set, std::string_view counter) {
    Quantity sum;
    for (const auto& [name, counters] : device.counters) {
      const auto it = counters.find(counter);
      if (name == set && it != counters.end()) sum = sum + it->second;
    }
    return sum;
  }

  struct Pool {
    std::map<std::string, api::ResourceList, std::less<>> counters;
    std::vector<Candidate> devices;
  };
  Taken taken_;
  std::map<std::pair<std::string, std::string>, Pool> pools_;
  std::vector<Candidate> candidates_;
};

// One device that is still to be found.
struct Slot {
  std::size_t claim = 0;
  const api::ClaimRequest* request = nullptr;
};

struct Found {
  std::size_t claim = 0;
  std::string request;  // "main" or "main/sub"
  const DeviceRequest* wanted = nullptr;
  Candidate candidate;
  api::ResourceList capacity;
};

class Search {
 public:
  Search(const std::vector<const ResourceClaim*>& claims, const jobs::devices::Inventory& inventory,
         jobs::devices::Selectors& selectors, const NodeView& node, const Taken& taken)
      : claims_(claims), inventory_(inventory), selectors_(selectors), offer_(inventory, node, taken) {
    for (std::size_t i = 0; i < claims.size(); ++i) {
      for (const auto& request : claims[i]->requests) slots_.push_back({i, &request});
    }
  }

  std::optional<std::vector<Found>> run() {
    return next_request(0) ? std::optional(std::move(results_)) : std::nullopt;
  }

 private:
  bool next_request(std::size_t slot) {
    if (slot == slots_.size()) return true;
    const auto& request = *slots_[slot].request;
    if (request.exactly) return begin(slot, *request.exactly, request.name);
    return std::ranges::any_of(request.first_available, [&](const DeviceRequest& each) {
      return begin(slot, each, request.name + "/" + each.name);
    });
  }

  bool begin(std::size_t slot, const DeviceRequest& wanted, const std::string& name) {
    if (!wanted.all) return find(slot, wanted, name, wanted.count);
    std::vector<const Candidate*> all;
    for (const auto& candidate : offer_.candidates()) {
      if (matches(wanted, candidate)) all.push_back(&candidate);
    }
    if (all.empty()) return false;
    const std::size_t before = results_.size();
    const bool given = std::ranges::all_of(all, [&](const auto* each) { return give(slot, wanted, name, *each); });
    if (given && next_request(slot + 1)) return true;
    while (results_.size() > before) take_back();
    return false;
  }

  bool find(std::size_t slot, const DeviceRequest& wanted, const std::string& name, std::int64_t missing) {
    if (missing <= 0) return next_request(slot + 1);
    for (const auto& candidate : offer_.candidates()) {
      if (++steps_ > Allocator::kMostSteps) return false;
      if (!matches(wanted, candidate) || !give(slot, wanted, name, candidate)) continue;
      if (find(slot, wanted, name, missing - 1)) return true;
      take_back();
    }
    return false;
  }

  bool matches(const DeviceRequest& wanted, const Candidate& candidate) {
    const auto [it, fresh] = matches_.try_emplace({&wanted, candidate.device}, false);
    if (!fresh) return it->second;
    const auto device_class = inventory_.device_class(wanted.device_class);
    if (!device_class) return false;
    const auto value = jobs::devices::selectable(*candidate.device, candidate.slice->driver);
    const auto accepts = [&](const std::string& expression) {
      const auto program = selectors_.compile(expression);
      if (!program) return false;
      const auto yes = jobs::devices::selects(**program, value, cost_left_);
      return yes && *yes;
    };
    it->second = std::ranges::all_of(device_class->selectors, accepts) &&
                 std::ranges::all_of(wanted.selectors, accepts) &&
                 api::find_untolerated(candidate.device->taints, wanted.tolerations) == nullptr;
    return it->second;
  }

  bool give(std::size_t slot, const DeviceRequest& wanted, const std::string& name, const Candidate& candidate) {
    const std::size_t claim = slots_[slot].claim;
    const auto of_claim = [&](const Found& each) { return each.claim == claim; };
    if (static_cast<std::size_t>(std::ranges::count_if(results_, of_claim)) >= kMostOfAClaim) return false;
    if (!jobs::devices::has_capacity(*candidate.device, wanted)) return false;
    Found result{claim, name, &wanted, candidate, {}};
    if (candidate.device->shared) {
      auto capacity = jobs::devices::capacity_taken(*candidate.device, wanted);
      if (!capacity) return false;
      result.capacity = std::move(*capacity);
    }
    if (!wanted.admin_access && !offer_.has_room(candidate, result.capacity)) return false;
    if (std::ranges::any_of(
            results_, [&](const Found& each) { return each.wanted == &wanted && each.candidate.id == candidate.id; }))
      return false;  // one request gets different devices
    if (!keeps_constraints(result)) return false;
    if (!wanted.admin_access) offer_.taken().take(candidate.id, result.capacity);
    results_.push_back(std::move(result));
    return true;
  }

  void take_back() {
    const Found& last = results_.back();
    if (!last.wanted->admin_access) offer_.taken().take(last.candidate.id, last.capacity, -1);
    results_.pop_back();
  }

  static const Json* attribute(const Candidate& candidate, const std::string& name) {
    const Json* attributes = candidate.device->attributes.get();
    if (attributes == nullptr) return nullptr;
    if (const Json* full = berth::find(*attributes, name)) return full;
    const std::string prefix = candidate.slice->driver + "/";
    return name.starts_with(prefix) ? berth::find(*attributes, name.substr(prefix.size())) : nullptr;
  }

  static bool concerns(const api::DeviceConstraint& constraint, const std::string& request) {
    const std::string main = request.substr(0, request.find('/'));
    return constraint.requests.empty() ||
           std::ranges::any_of(constraint.requests, [&](const auto& name) { return name == request || name == main; });
  }

  bool keeps_constraints(const Found& added) const {
    return std::ranges::all_of(claims_[added.claim]->constraints, [&](const auto& constraint) {
      if (!concerns(constraint, added.request)) return true;
      const bool same = !constraint.match_attribute.empty();
      const std::string& name = same ? constraint.match_attribute : constraint.distinct_attribute;
      const Json* value = attribute(added.candidate, name);
      if (value == nullptr) return false;
      return std::ranges::all_of(results_, [&](const Found& other) {
        if (other.claim != added.claim || !concerns(constraint, other.request)) return true;
        const Json* known = attribute(other.candidate, name);
        return known != nullptr && json_equal(*known, *value) == same;
      });
    });
  }

  const std::vector<const ResourceClaim*>& claims_;
  const jobs::devices::Inventory& inventory_;
  jobs::devices::Selectors& selectors_;
  Offer offer_;
  std::vector<Slot> slots_;
  std::vector<Found> results_;
  std::map<std::pair<const DeviceRequest*, const Device*>, bool> matches_;
  int steps_ = 0;
  std::int64_t cost_left_ = jobs::devices::kMostSelectorCost;
};

Json result_json(const Found& result) {
  JsonObject out{{"request", result.request},
                 {"driver", std::get<0>(result.candidate.id)},
                 {"pool", std::get<1>(result.candidate.id)},
                 {"device", std::get<2>(result.candidate.id)}};
  if (result.wanted->admin_access) out["adminAccess"] = true;
  if (!result.wanted->tolerations.empty()) out["tolerations"] = api::encode_tolerations(result.wanted->tolerations);
  if (!result.capacity.empty()) out["consumedCapacity"] = api::encode_resource_list(result.capacity);
  return out;
}

// A device that other nodes can use as well does not tie the claim to one.
bool tied(const Found& result) {
  const auto& place = result.candidate.device->place ? *result.candidate.device->place : result.candidate.slice->place;
  return !place.all_nodes;
}

Json on_node(std::string_view node) {
  return JsonObject{{"nodeSelectorTerms",
                     JsonArray{JsonObject{{"matchFields", JsonArray{JsonObject{{"key", "metadata.name"},
                                                                               {"operator", "In"},
                                                                               {"values", JsonArray{Json(node)}}}}}}}}};
}

}  // namespace

std::optional<std::vector<Json>> Allocator::allocate(const std::vector<const ResourceClaim*>& claims,
                                                     const NodeView& node, const Taken& taken) {
  const auto results = Search(claims, inventory_, selectors_, node, taken).run();
  if (!results) return std::nullopt;
  std::vector<Json> out;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    JsonArray devices;
    bool is_tied = false;
    for (const auto& result : *results) {
      if (result.claim != i) continue;
      devices.push_back(result_json(result));
      is_tied = is_tied || tied(result);
    }
    JsonObject allocation{{"devices", JsonObject{{"results", std::move(devices)}}}};
    if (is_tied) allocation["nodeSelector"] = on_node(node.name);
    out.emplace_back(std::move(allocation));
  }
  return out;
}

}  // namespace berth::cluster::devices
