// What the devices of a workload's pods count against quota (KEP-2941): claims that are made from templates, and
// extended resources that devices of a class provide.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "api/kueue/device_charge.h"
#include "api/kueue/types.h"
#include "jobs/devices/claim_charge.h"

namespace berth::jobs::devices {

// What of the cluster the charge of a workload depends on.
struct Uses {
  bool claims = false;                                    // its pods have claims
  std::set<std::string, std::less<>> templates;           // by "namespace/name"
  std::set<std::string, std::less<>> extended_resources;  // that a DeviceClass may provide
  bool any() const { return claims || !extended_resources.empty(); }
  bool operator==(const Uses&) const = default;
};
Uses uses_of(const api::kueue::Workload& workload);

// Computes charges. Claims of one template are computed once until something changes.
class Charges {
 public:
  // `inventory` refers to maps that must outlive this object. An error names the mapping whose expression does not
  // compile, or whose gate is off.
  Charges(Rules rules, Inventory inventory) : rules_(std::move(rules)), inventory_(inventory) {}
  static Result<void> check(const Rules& rules);

  // The inventory changed: of one template ("namespace/name"), or of classes or slices.
  void template_changed(std::string_view key);
  void devices_changed() { known_.clear(); }

  // Null: the pods use no devices that are counted. `uses`: uses_of() the workload. `unavailable`: why claims cannot be
  // counted at all, such as a server that does not serve them; empty: they can.
  std::shared_ptr<const api::kueue::DeviceCharge> charge(const api::kueue::Workload& workload, const Uses& uses,
                                                         const std::string& unavailable = {});
  const Rules& rules() const { return rules_; }
  const Inventory& inventory() const { return inventory_; }

 private:
  using Charge = api::kueue::DeviceCharge;
  std::string charge_claims(const api::kueue::Workload& workload, Charge& out);
  std::string charge_extended(const api::kueue::Workload& workload, Charge& out);
  const ClaimCharge& claim_charge(std::string_view ns, const std::string& name);

  const Rules rules_;
  const Inventory inventory_;
  Selectors selectors_;
  std::map<std::string, ClaimCharge, std::less<>> known_;  // by "namespace/name" of the template
};

}  // namespace berth::jobs::devices
