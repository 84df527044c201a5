// The caches that decisions are based on: starts them, reports which resources cannot be listed, and tells when all
// caches are complete.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/rest.h"
#include "base/json.h"
#include "kube/informer.h"

namespace berth::controller {

class Caches {
 public:
  // Call before start(). The informer must outlive this object. Only for resources that every cluster serves, because
  // all caches are waited for.
  void add(kube::Informer& informer);
  // Starts all informers; they complete in any order. `synced` is called once, when all caches are complete.
  void start(std::function<void()> synced);
  bool started() const { return started_; }
  bool synced() const { return started_ && unsynced_ == 0; }

  // Lists one resource again from the server. When several resources are listed again at the same time, only the
  // `done` of the one that completes last is called.
  void read_anew(kube::Informer& informer, std::function<void()> done);
  bool reading_anew() const { return unread_ > 0; }

  // The cached object; null when the cache does not have it, or when no cache holds the resource. `ns` is empty for
  // cluster-scoped objects.
  JsonPtr get(const api::GroupVersionResource& resource, std::string_view ns, std::string_view name) const;
  std::vector<api::GroupVersionResource> resources() const;
  // The resources whose caches are not complete yet, or whose last list failed, by name ("workloads").
  std::vector<std::string> missing() const;

 private:
  void listed(const api::GroupVersionResource& resource, const api::RestResponse& response);

  std::vector<kube::Informer*> all_;
  std::size_t unsynced_ = 0, unread_ = 0;
  bool started_ = false;
  std::set<std::string> unreadable_;  // resources whose last list failed
  std::function<void()> synced_handler_;
};

}  // namespace berth::controller
