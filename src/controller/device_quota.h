// Counts the devices of workloads (KEP-2941): watches ResourceClaimTemplates, DeviceClasses and ResourceSlices, and
// gives the engine the charge of each workload whose pods use devices. A workload that holds quota keeps its charge.
// Nothing is watched while the gate KueueDRAIntegration is off. A cluster may lack these kinds: then workloads with
// claims are held and say so.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/devices/types.h"
#include "api/rest.h"
#include "base/lifetime.h"
#include "base/string_map.h"
#include "controller/decoded_workloads.h"
#include "controller/device_places.h"
#include "controller/shell.h"
#include "jobs/devices/workload_charge.h"
#include "kube/typed_informer.h"

namespace berth::controller {

class DeviceQuota {
 public:
  // `settled` is called when settled() becomes true. Both must outlive it.
  DeviceQuota(Shell& shell, const DecodedWorkloads& workloads, std::function<void()> settled);

  void read();  // starts its caches
  // Of each kind it is known which objects there are, or that it is not served or cannot be read.
  bool settled() const { return unsettled_.empty(); }
  std::vector<std::string> missing() const;  // the resources that are not known yet, by name

  // The engine has seen the workload; null: it is gone or finished. `key`: "namespace/name".
  void workload_changed(const std::string& key, const jobs::WorkloadPtr& now);

  void pod_changed(const JsonPtr& old, const JsonPtr& now) {
    if (places_) places_->pod_changed(old, now);
  }
  void node_changed(const std::string& name, const std::shared_ptr<const api::Node>& now) {
    if (places_) places_->node_changed(name, now);
  }

  // For a workload that nobody has created yet; null: its pods use no devices that are counted.
  engine::Ptr<api::kueue::DeviceCharge> charge(const api::kueue::Workload& workload);

 private:
  // A workload whose pods may use devices.
  struct User {
    std::string uid;
    jobs::devices::Uses uses;
    engine::Ptr<api::kueue::DeviceCharge> charge;  // as the engine knows it
    DevicePlaces::Needs needs;                     // of nodes; empty: none, or nobody looks at them
  };
  using Keys = std::set<std::string, std::less<>>;
  template <typename T>
  using Cache = kube::TypedInformer<T>;

  bool on() const { return charges_.rules().enabled; }
  std::vector<kube::Informer*> caches();
  void watch_lists(kube::Informer& cache);
  void settle(const std::string& resource);
  std::string unavailable() const;
  void file(const std::string& key, const jobs::devices::Uses& uses, bool present);
  void count(const std::string& key, User& user, const api::kueue::Workload& workload);
  void count_again(const Keys& keys);
  void report(const std::string& key, User& user, engine::Ptr<api::kueue::DeviceCharge> charge);
  void set_needs(User& user, DevicePlaces::Needs needs);
  void needs_changed();
  void template_changed(const std::string& key);
  void class_changed(const api::DeviceClass* old, const api::DeviceClass* now);
  void count_all_soon();
  void count_all();

  Shell& shell_;
  const DecodedWorkloads& workloads_;
  const std::function<void()> settled_;
  Cache<api::ResourceClaimTemplate> templates_;
  Cache<api::DeviceClass> classes_;
  Cache<api::ResourceSlice> slices_;
  jobs::devices::Charges charges_;
  std::unique_ptr<DevicePlaces> places_;       // null: places do not look at devices
  std::set<std::string> unsettled_;            // by resource
  std::map<std::string, std::string> unread_;  // by resource: why it cannot be read
  StringMap<User> users_;                      // by key
  Keys claimers_;                              // users with claims
  std::map<std::string, Keys, std::less<>> by_template_, by_extended_resource_;
  std::set<std::string> extended_to_count_;  // names of extended resources whose users are counted soon
  bool count_posted_ = false, classes_changed_ = false;
  Lifetime lifetime_;
};

}  // namespace berth::controller
