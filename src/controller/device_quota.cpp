#include "controller/device_quota.h"

#include <chrono>
#include <utility>

#include "api/meta.h"
#include "api/resources.h"
#include "api/status.h"
#include "base/log.h"

namespace berth::controller {
namespace {

using api::kueue::DeviceCharge;
using api::kueue::Workload;

// How long changes of classes and slices are collected: a driver publishes all of its slices anew.
constexpr Duration kCollect = std::chrono::milliseconds(500);

bool ended(const Workload& workload) { return api::is_true(workload.status.conditions, api::kueue::kFinished); }
bool has_quota(const Workload& workload) {
  return api::is_true(workload.status.conditions, api::kueue::kQuotaReserved);
}

}  // namespace

DeviceQuota::DeviceQuota(Shell& shell, const DecodedWorkloads& workloads, std::function<void()> settled)
    : shell_(shell),
      workloads_(workloads),
      settled_(std::move(settled)),
      templates_(shell.client, shell.executor, api::kResourceClaimTemplates, shell.informer_options(false),
                 api::decode_resource_claim_template, &shell.unreadable),
      classes_(shell.client, shell.executor, api::kDeviceClasses, shell.informer_options(false),
               api::decode_device_class, &shell.unreadable),
      slices_(shell.client, shell.executor, api::kResourceSlices, shell.informer_options(false),
              api::decode_resource_slice, &shell.unreadable),
      charges_(shell.options.devices, {templates_.all(), classes_.all(), slices_.all()}) {
  if (!on()) return;
  if (charges_.rules().places)
    places_ =
        std::make_unique<DevicePlaces>(shell, charges_.inventory(), charges_.rules(), [this] { needs_changed(); });
  for (auto* cache : caches()) {
    unsettled_.insert(cache->resource().resource);
    watch_lists(*cache);
  }
  templates_.on_change([this](const std::string& key, const auto&, const auto&) { template_changed(key); });
  classes_.on_change(
      [this](const std::string&, const auto& old, const auto& now) { class_changed(old.get(), now.get()); });
  slices_.on_change([this](const std::string&, const auto&, const auto&) { count_all_soon(); });
}

std::vector<kube::Informer*> DeviceQuota::caches() {
  std::vector<kube::Informer*> out{&templates_.informer(), &classes_.informer(), &slices_.informer()};
  if (places_) out.push_back(&places_->cache());
  return out;
}

void DeviceQuota::read() {
  if (!on()) return;
  for (auto* cache : caches()) cache->start();
}

std::vector<std::string> DeviceQuota::missing() const { return {unsettled_.begin(), unsettled_.end()}; }

// A failed list is tried again by itself; meanwhile the cache has what it had.
void DeviceQuota::watch_lists(kube::Informer& cache) {
  const std::string resource = cache.resource().resource;
  cache.on_list([this, resource](const api::RestResponse& response) {
    const bool refused = response.code == 401 || response.code == 403;
    if (!response.ok() && response.code != 404 && !refused) return;
    std::string why;
    if (response.code == 404)
      why = "the API server does not serve " + resource + " of resource.k8s.io/v1; upgrade it to 1.34 or later";
    if (refused)
      why = resource + " of resource.k8s.io/v1 cannot be read; give Berth the right to list and watch them: " +
            std::string(api::status_message(response));
    if (std::exchange(unread_[resource], why) != why) {
      if (refused) log::warn("devices of pods cannot be counted", {{"why", why}});
      count_all_soon();
    }
    if (!response.ok()) settle(resource);
  });
  cache.on_synced([this, resource] { settle(resource); });
}

void DeviceQuota::settle(const std::string& resource) {
  if (unsettled_.erase(resource) == 0 || !unsettled_.empty()) return;
  count_all();    // the engine may decide now
  if (places_) {  // with what was not there yet; also for those that hold quota
    places_->start();
    for (const std::string& key : sorted_keys(users_)) {
      if (const auto workload = workloads_.find(key)) count(key, users_[key], *workload);
    }
  }
  settled_();
}

// ResourceSlices alone may be missing: then no device matches a selector.
std::string DeviceQuota::unavailable() const {
  for (const auto& resource : {api::kResourceClaimTemplates.resource, api::kDeviceClasses.resource}) {
    const auto it = unread_.find(resource);
    if (it != unread_.end() && !it->second.empty()) return "the devices of the pods cannot be counted: " + it->second;
  }
  return {};
}

engine::Ptr<DeviceCharge> DeviceQuota::charge(const Workload& workload) {
  auto charge = charges_.charge(workload, jobs::devices::uses_of(workload), unavailable());
  return charge && places_ ? places_->fill(*charge, places_->needs_of(workload)) : charge;
}

void DeviceQuota::file(const std::string& key, const jobs::devices::Uses& uses, bool present) {
  const auto set = [&](auto& index, const auto& names) {
    for (const auto& name : names) {
      if (present) {
        index[name].insert(key);
        continue;
      }
      const auto it = index.find(name);
      if (it == index.end()) continue;
      it->second.erase(key);
      if (it->second.empty()) index.erase(it);
    }
  };
  set(by_template_, uses.templates);
  set(by_extended_resource_, uses.extended_resources);
  if (present && uses.claims)
    claimers_.insert(key);
  else
    claimers_.erase(key);
}

void DeviceQuota::workload_changed(const std::string& key, const jobs::WorkloadPtr& now) {
  if (!on()) return;
  const auto it = users_.find(key);
  const bool known = it != users_.end() && now && it->second.uid == now->meta.uid;
  if (it != users_.end() && (!known || ended(*now))) {
    file(key, it->second.uses, false);
    set_needs(it->second, {});
    users_.erase(it);
  }
  if (!now || ended(*now) || (known && has_quota(*now))) return;
  auto uses = jobs::devices::uses_of(*now);
  if (!known && !uses.any()) return;
  User& user = users_[key];
  if (!known) user.uid = now->meta.uid;
  if (!(user.uses == uses)) {
    file(key, user.uses, false);
    user.uses = std::move(uses);
    file(key, user.uses, true);
  }
  count(key, user, *now);
}

void DeviceQuota::count(const std::string& key, User& user, const Workload& workload) {
  auto charge = charges_.charge(workload, user.uses, unavailable());
  if (places_) {
    set_needs(user, charge && charge->refused.empty() ? places_->needs_of(workload) : DevicePlaces::Needs());
    places_->report();  // the first of a kind: nodes have it from now on
    if (!user.needs.empty()) charge = places_->fill(*charge, user.needs);
  }
  report(key, user, std::move(charge));
}

void DeviceQuota::set_needs(User& user, DevicePlaces::Needs needs) {
  if (!places_ || (user.needs.empty() && needs.empty())) return;
  places_->needs_changed(user.needs, needs);
  user.needs = std::move(needs);
}

// At once: nobody is placed before the places of others say what they need now. Quota stays as it was charged.
void DeviceQuota::needs_changed() {
  for (const std::string& key : sorted_keys(users_)) {
    User& user = users_[key];
    if (user.charge && !user.needs.empty()) report(key, user, places_->fill(*user.charge, user.needs));
  }
}

void DeviceQuota::report(const std::string& key, User& user, engine::Ptr<DeviceCharge> charge) {
  if (charge == user.charge || (charge && user.charge && *charge == *user.charge)) return;
  user.charge = std::move(charge);
  const auto slash = key.find('/');
  shell_.feed(engine::DevicesCounted{key.substr(0, slash), key.substr(slash + 1), user.uid, user.charge});
}

void DeviceQuota::count_again(const Keys& keys) {
  for (const std::string& key : Keys(keys)) {
    const auto it = users_.find(key);
    const auto workload = workloads_.find(key);
    if (it == users_.end() || !workload || workload->meta.uid != it->second.uid || has_quota(*workload)) continue;
    count(key, it->second, *workload);
  }
}

void DeviceQuota::template_changed(const std::string& key) {
  charges_.template_changed(key);
  if (const auto it = by_template_.find(key); it != by_template_.end()) count_again(it->second);
}

void DeviceQuota::class_changed(const api::DeviceClass* old, const api::DeviceClass* now) {
  for (const auto* each : {old, now}) {
    if (each != nullptr && !each->extended_resource_name.empty())
      extended_to_count_.insert(each->extended_resource_name);
  }
  classes_changed_ = true;
  count_all_soon();
}

void DeviceQuota::count_all_soon() {
  charges_.devices_changed();
  if (!settled() || std::exchange(count_posted_, true)) return;
  shell_.executor.after(kCollect, lifetime_.guard([this] { count_all(); }));
}

void DeviceQuota::count_all() {
  count_posted_ = false;
  charges_.devices_changed();
  if (places_ && places_->started()) {
    if (std::exchange(classes_changed_, false)) places_->classes_changed();
    places_->slices_changed();
    places_->report();
  }
  count_again(claimers_);
  for (const auto& resource : std::exchange(extended_to_count_, {})) {
    if (const auto it = by_extended_resource_.find(resource); it != by_extended_resource_.end())
      count_again(it->second);
  }
}

}  // namespace berth::controller
