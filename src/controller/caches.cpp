#include "controller/caches.h"

#include <utility>

#include "api/meta.h"
#include "api/status.h"
#include "base/log.h"
#include "kube/rights.h"

namespace berth::controller {

void Caches::add(kube::Informer& informer) {
  all_.push_back(&informer);
  informer.on_synced([this] {
    if (--unsynced_ == 0) synced_handler_();
  });
  informer.on_list([this, &informer](const api::RestResponse& response) { listed(informer.resource(), response); });
}

void Caches::start(std::function<void()> synced) {
  synced_handler_ = std::move(synced);
  started_ = true;
  unsynced_ = all_.size();
  for (kube::Informer* informer : all_) informer->start();
}

// A failed list is tried again by itself. Log the reason once, until a list succeeds.
void Caches::listed(const api::GroupVersionResource& resource, const api::RestResponse& response) {
  if (response.ok()) {
    unreadable_.erase(resource.resource);
  } else if (unreadable_.insert(resource.resource).second) {
    const bool lacks_rights = response.code == 403;
    (lacks_rights ? log::error : log::warn)(lacks_rights
                                                ? "may not be read; trying again: " + std::string(kube::kGrantRights)
                                                : "cannot be read; trying again",
                                            {{"resource", resource.resource},
                                             {"code", response.code},
                                             {"why", std::string(api::status_message(response))}});
  }
}

void Caches::read_anew(kube::Informer& informer, std::function<void()> done) {
  ++unread_;
  informer.read_anew([this, done = std::move(done)] {
    if (--unread_ == 0) done();
  });
}

JsonPtr Caches::get(const api::GroupVersionResource& resource, std::string_view ns, std::string_view name) const {
  for (const kube::Informer* informer : all_) {
    if (informer->resource() == resource) return informer->get(api::object_key(ns, name));
  }
  return nullptr;
}

std::vector<api::GroupVersionResource> Caches::resources() const {
  std::vector<api::GroupVersionResource> out;
  for (const kube::Informer* informer : all_) out.push_back(informer->resource());
  return out;
}

std::vector<std::string> Caches::missing() const {
  std::vector<std::string> out;
  for (const kube::Informer* informer : all_) {
    const std::string& resource = informer->resource().resource;
    if (!informer->synced() || unreadable_.contains(resource)) out.push_back(resource);
  }
  return out;
}

}  // namespace berth::controller
