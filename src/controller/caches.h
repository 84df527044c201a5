// The caches that decisions are taken from: fills them, says which one cannot be read, and when all of them are there.
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
  // Before start(); it must outlive this. What a cluster may lack does not belong here: all are waited for.
  void add(kube::Informer& informer);
  // Fills them, in any order. `synced` is called once, when all are complete.
  void start(std::function<void()> synced);
  bool started() const { return started_; }
  bool synced() const { return started_ && unsynced_ == 0; }

  // Reads one anew from the server; `done` is called when it, and all others that are being read anew, are.
  void read_anew(kube::Informer& informer, std::function<void()> done);
  bool reading_anew() const { return unread_ > 0; }

  // What they have; null: they do not know the object, or do not hold the resource. Cluster-scoped: `ns` is empty.
  JsonPtr get(const api::GroupVersionResource& resource, std::string_view ns, std::string_view name) const;
  std::vector<api::GroupVersionResource> resources() const;
  std::vector<std::string> missing() const;  // not complete yet, by name ("workloads")

 private:
  void listed(const api::GroupVersionResource& resource, const api::RestResponse& response);

  std::vector<kube::Informer*> all_;
  std::size_t unsynced_ = 0, unread_ = 0;
  bool started_ = false;
  std::set<std::string> unreadable_;  // resources whose last list failed
  std::function<void()> synced_handler_;
};

}  // namespace berth::controller
