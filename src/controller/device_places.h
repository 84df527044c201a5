// Tells the engine what nodes have of devices and what the claims of pods take of them, so that places in a topology
// look at devices (gate KueueDRADeviceFeasibility). Watches ResourceClaims; templates, classes and slices come from
// DeviceQuota, which owns it. Nothing of this exists while the gate is off.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/node.h"
#include "api/devices/types.h"
#include "api/kueue/device_charge.h"
#include "api/kueue/types.h"
#include "controller/shell.h"
#include "jobs/devices/supply.h"
#include "kube/typed_informer.h"

namespace berth::controller {

class DevicePlaces {
 public:
  using Needs = std::vector<jobs::devices::Need>;

  // `inventory` refers to the maps of the caches of DeviceQuota. `needs_changed` is called when what requests need of
  // nodes has changed: fill() says it. Both must outlive it.
  DevicePlaces(Shell& shell, jobs::devices::Inventory inventory, const jobs::devices::Rules& rules,
               std::function<void()> needs_changed);

  kube::Informer& cache() { return claims_.informer(); }
  // From now on the engine gets events. Before, objects are only collected.
  void start();
  bool started() const { return started_; }

  void pod_changed(const JsonPtr& old, const JsonPtr& now);
  void node_changed(const std::string& name, const std::shared_ptr<const api::Node>& now);
  void slices_changed() { supply_.slices_changed(); }
  void classes_changed() { supply_.classes_changed(); }
  void report();  // what changed since the last call

  Needs needs_of(const api::kueue::Workload& workload) const;
  // A workload has other needs than before; either may be empty.
  void needs_changed(const Needs& before, const Needs& now);
  // The charge with what nodes must have. Kinds of requests that nobody uses are left out.
  engine::Ptr<api::kueue::DeviceCharge> fill(const api::kueue::DeviceCharge& charge, const Needs& needs) const;

 private:
  using Consumer = jobs::devices::Supply::Consumer;
  using ClaimPtr = std::shared_ptr<const api::ResourceClaim>;

  Consumer consumer_of(const api::ResourceClaim& claim) const;
  void claim_changed(const ClaimPtr& old, const ClaimPtr& now);
  void file(const std::string& key, const api::ResourceClaim& claim, bool present);

  Shell& shell_;
  const jobs::devices::Inventory inventory_;
  const bool extended_;
  const std::function<void()> needs_changed_;
  kube::TypedInformer<api::ResourceClaim> claims_;
  jobs::devices::Supply supply_;
  std::map<std::string, Consumer, std::less<>> pods_;                 // that have claims, by UID
  std::map<std::string, std::set<std::string>, std::less<>> of_pod_;  // claims that are reserved for it, by UID
  std::map<std::string, Consumer, std::less<>> consumers_;            // of claims, by UID, as they were known last
  bool started_ = false;
};

}  // namespace berth::controller
