#include "jobs/devices/claim_charge.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "api/field_error.h"
#include "jobs/devices/capacity.h"

namespace berth::jobs::devices {

using api::ClaimRequest;
using api::Device;
using api::DeviceRequest;
using api::ResourceList;
using api::config::DeviceClassMapping;
using api::config::DeviceSource;

const DeviceClassMapping* Rules::mapping_of(std::string_view device_class) const {
  const auto it = std::ranges::find_if(mappings, [&](const auto& each) { return each.maps(device_class); });
  return it == mappings.end() ? nullptr : &*it;
}

Refusal missing_template(std::string_view name) {
  const std::string quoted(name);
  return {"", "Internal error",
          "failed to get claim spec for ResourceClaimTemplate " + quoted +
              " in podset POD_SET: ResourceClaimTemplate.resource.k8s.io \"" + quoted + "\" not found"};
}

namespace {

constexpr std::string_view kInternal = "Internal error", kInvalidNull = "Invalid value: null";

std::string at_request(std::size_t i) { return api::index_path(".devices.requests", i); }

void add(ResourceList& amounts, const std::string& name, const Quantity& amount) {
  const auto [it, fresh] = amounts.emplace(name, amount);
  if (!fresh) it->second = it->second + amount;
}

// The selectors of a request and of its class, compiled.
struct Filter {
  std::vector<Selectors::Compiled> programs;
  // An error: a selector failed on the device.
  Result<bool> accepts(const cel::Value& device, std::int64_t& cost_left) const {
    for (const auto& program : programs) {
      auto yes = selects(*program, device, cost_left);
      if (!yes || !*yes) return yes;
    }
    return true;
  }
};

class Counting {
 public:
  Counting(const api::ResourceClaimTemplate& claim, const Rules& rules, const Inventory& inventory,
           Selectors& selectors)
      : claim_(claim), rules_(rules), inventory_(inventory), selectors_(selectors) {}

  ClaimCharge run() {
    for (std::size_t i = 0; i < claim_.requests.size() && !out_.refused; ++i) count(claim_.requests[i], i);
    if (!out_.refused) look_for_devices();
    for (std::size_t i = 0; i < claim_.requests.size() && !out_.refused; ++i) {
      if (const auto& request = claim_.requests[i].exactly; request && !request->admin_access) measure(*request, i);
    }
    if (out_.refused) out_.amounts.clear();
    return std::move(out_);
  }

 private:
  void refuse(std::string path, std::string_view kind, const std::string& text) {
    out_.refused = {std::move(path), std::string(kind), "ResourceClaimTemplate " + claim_.meta.name + ": " + text};
  }

  // --- The number of devices.

  void count(const ClaimRequest& request, std::size_t i) {
    if (!request.first_available.empty()) return count_first_available(request.first_available, i);
    if (!request.exactly) return refuse(at_request(i), kInvalidNull, "expected exactly or firstAvailable");
    const DeviceRequest& exactly = *request.exactly;
    if (exactly.admin_access) return;
    if (exactly.all)
      return refuse(at_request(i) + ".exactly.allocationMode", "Invalid value: \"All\"",
                    "AllocationMode 'All' is not supported");
    const auto* mapping = rules_.mapping_of(exactly.device_class);
    if (mapping == nullptr) return unmapped(exactly.device_class);
    if (mapping->sources.empty())
      add(out_.amounts, mapping->name, Quantity::of(std::max<std::int64_t>(0, exactly.count)));
  }

  void unmapped(const std::string& device_class) {
    out_.refused = {".resourceClaimTemplateName", "Not found",
                    "\"DeviceClass " + device_class + " is not mapped in DRA configuration for podset POD_SET\""};
  }

  // All alternatives count the same, so one of them tells what is charged.
  void count_first_available(const std::vector<DeviceRequest>& alternatives, std::size_t i) {
    if (!rules_.prioritized_lists)
      return refuse(at_request(i), kInvalidNull, "FirstAvailable device selection is not supported");
    const DeviceClassMapping* first = nullptr;
    for (std::size_t k = 0; k < alternatives.size(); ++k) {
      const auto& each = alternatives[k];
      const std::string at = api::index_path(at_request(i) + ".firstAvailable", k);
      if (each.all)
        return refuse(at + ".allocationMode", "Invalid value: \"All\"", "AllocationMode 'All' is not supported");
      const auto* mapping = rules_.mapping_of(each.device_class);
      if (mapping == nullptr) return unmapped(each.device_class);
      if (!mapping->sources.empty())
        return refuse(at + ".deviceClassName", "Invalid value: \"" + each.device_class + '"',
                      "a counter-backed or capacity-backed DeviceClass is not supported for firstAvailable");
      if (first == nullptr) first = mapping;
      if (mapping->name != first->name)
        return refuse(
            at + ".deviceClassName", "Invalid value: \"" + each.device_class + '"',
            "every alternative must map to \"" + first->name + "\", this one maps to \"" + mapping->name + '"');
      if (each.count != alternatives.front().count)
        return refuse(at + ".count", "Invalid value: " + std::to_string(each.count),
                      "every alternative must have count " + std::to_string(alternatives.front().count) +
                          ", this one has " + std::to_string(each.count));
      if (!compiled(each.selectors, at + ".selectors")) return;
    }
    add(out_.amounts, first->name, Quantity::of(std::max<std::int64_t>(0, alternatives.front().count)));
  }

  // --- Selectors.

  // nullopt: one does not compile, and the claim is refused.
  std::optional<std::vector<Selectors::Compiled>> compiled(const std::vector<std::string>& expressions,
                                                           const std::string& at) {
    std::vector<Selectors::Compiled> out;
    for (const auto& expression : expressions) {
      auto program = selectors_.compile(expression);
      if (!program) {
        refuse(at, kInvalidNull, "CEL compilation failed: " + program.error().message);
        return std::nullopt;
      }
      out.push_back(std::move(*program));
    }
    return out;
  }

  // Of the request and its class, which must exist.
  std::optional<Filter> filter_of(const DeviceRequest& request, std::size_t i) {
    auto own = compiled(request.selectors, at_request(i) + ".exactly.selectors");
    if (!own) return std::nullopt;
    const auto device_class = inventory_.device_class(request.device_class);
    if (!device_class) {
      refuse(at_request(i), kInternal,
             "failed to get DeviceClass " + request.device_class + ": DeviceClass.resource.k8s.io \"" +
                 request.device_class + "\" not found");
      return std::nullopt;
    }
    auto of_class = compiled(device_class->selectors, at_request(i) + ".exactly.selectors");
    if (!of_class) return std::nullopt;
    Filter out{std::move(*of_class)};
    out.programs.insert(out.programs.end(), own->begin(), own->end());
    return out;
  }

  // Requests with selectors are served in their order, each device once. Nobody asks whether devices are in use.
  void look_for_devices() {
    std::set<const Device*> given;
    for (std::size_t i = 0; i < claim_.requests.size() && !out_.refused; ++i) {
      const auto& request = claim_.requests[i].exactly;
      if (request && !request->selectors.empty() && !request->all) look_for(*request, i, given);
    }
  }

  void look_for(const DeviceRequest& request, std::size_t i, std::set<const Device*>& given) {
    const auto filter = filter_of(request, i);
    if (!filter) return;
    std::int64_t found = 0;
    for (const auto& [name, slice] : inventory_.slices) {
      for (const auto& device : slice->devices) {
        if (found >= request.count) return;
        if (given.contains(device.get())) continue;
        const auto yes = filter->accepts(selectable(*device, slice->driver), cost_left_);
        if (!yes)
          return refuse(at_request(i) + ".exactly.selectors", kInvalidNull,
                        "CEL evaluation failed for DeviceClass " + request.device_class + ": " + yes.error().message);
        if (!*yes) continue;
        ++found;
        given.insert(device.get());
      }
    }
    if (found < request.count)
      refuse(at_request(i) + ".exactly.selectors", kInternal,
             "insufficient matching devices for CEL selector in DeviceClass " + request.device_class + ": " +
                 std::to_string(found) + " device(s) match in the cluster but " + std::to_string(request.count) +
                 " requested");
  }

  // --- Counters and capacity: a class may have several mappings, for different counters.

  void measure(const DeviceRequest& request, std::size_t i) {
    for (const auto& mapping : rules_.mappings) {
      if (!mapping.maps(request.device_class)) continue;
      for (const auto& source : mapping.sources) {
        if (out_.refused) return;
        const auto taken = largest(request, source, i);
        if (!taken) return;
        add(out_.amounts, mapping.name,
            Quantity::from_billionths((*taken * std::max<std::int64_t>(0, request.count)).billionths(),
                                      Quantity::Format::kBinarySi));
      }
    }
  }

  // The most that one of the matching devices takes; nullopt: refused.
  std::optional<Quantity> largest(const DeviceRequest& request, const DeviceSource& source, std::size_t i) {
    const bool counter = source.kind == DeviceSource::Kind::kCounter;
    auto filter = filter_of(request, i);
    if (!filter) return std::nullopt;
    const auto of_source = compiled({source.selector}, at_request(i) + ".exactly");
    if (!of_source) return std::nullopt;
    filter->programs.insert(filter->programs.begin(), of_source->begin(), of_source->end());

    Matches matches;
    for_each_complete_slice(inventory_, source.driver, [&](const api::ResourceSlice& slice) {
      for (const auto& device : slice.devices) {
        if (matches.failure) return;
        const auto yes = filter->accepts(selectable(*device, source.driver), cost_left_);
        if (!yes) matches.failure = yes.error().message;
        if (!yes || !*yes) continue;
        ++matches.count;
        counter ? see_counters(*device, source, matches) : see_capacity(*device, request, source, matches);
      }
    });
    return judged(matches, request, source, i);
  }

  struct Matches {
    std::int64_t count = 0;
    bool has_name = false;        // a device has the counter or the dimension
    bool refused_amount = false;  // a policy refused the amount
    std::optional<Quantity> most;
    std::optional<std::string> failure;
    void see(const Quantity& amount) { most = std::max(most.value_or(Quantity()), amount); }
  };

  static void see_counters(const Device& device, const DeviceSource& source, Matches& matches) {
    for (const auto& [set, counters] : device.counters) {
      const auto counter = counters.find(source.name);
      if (counter == counters.end()) continue;
      matches.has_name = true;
      matches.see(counter->second);
    }
  }

  static void see_capacity(const Device& device, const DeviceRequest& request, const DeviceSource& source,
                           Matches& matches) {
    const auto capacity = device.capacity.find(source.name);
    if (capacity == device.capacity.end()) return;
    matches.has_name = true;
    if (const auto amount = capacity_taken(capacity->second, request, source.name))
      matches.see(*amount);
    else
      matches.refused_amount = true;
  }

  std::optional<Quantity> judged(const Matches& matches, const DeviceRequest& request, const DeviceSource& source,
                                 std::size_t i) {
    const bool counter = source.kind == DeviceSource::Kind::kCounter;
    const std::string at = at_request(i) + ".exactly", name = '"' + source.name + '"';
    if (matches.failure)
      refuse(at + ".selectors", kInternal,
             "CEL evaluation failed for DeviceClass " + request.device_class + ": " + *matches.failure);
    else if (matches.count < request.count)
      refuse(at + ".selectors", kInternal,
             std::string("insufficient matching devices for ") + (counter ? "counter" : "capacity") +
                 " driver: " + std::to_string(matches.count) + " device(s) match but " + std::to_string(request.count) +
                 " requested");
    else if (!matches.has_name)
      refuse(at, kInternal,
             counter ? "matched devices have no consumesCounters entry for counter " + name
                     : "matched devices have no capacity dimension " + name);
    else if (!matches.most && matches.refused_amount)
      refuse(at + ".capacity.requests", kInvalidNull,
             "capacity request cannot be satisfied by any matched device's RequestPolicy for dimension " + name);
    if (out_.refused) return std::nullopt;
    return matches.most.value_or(Quantity());
  }

  const api::ResourceClaimTemplate& claim_;
  const Rules& rules_;
  const Inventory& inventory_;
  Selectors& selectors_;
  std::int64_t cost_left_ = kMostSelectorCost;
  ClaimCharge out_;
};

}  // namespace

ClaimCharge charge_of(const api::ResourceClaimTemplate& claim_template, const Rules& rules, const Inventory& inventory,
                      Selectors& selectors) {
  return Counting(claim_template, rules, inventory, selectors).run();
}

}  // namespace berth::jobs::devices
