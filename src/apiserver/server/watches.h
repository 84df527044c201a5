// Running watches: each change that became durable goes to the watches it concerns, in order of revisions.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/rest.h"
#include "apiserver/resource.h"
#include "apiserver/storage/object_store.h"

namespace berth::apiserver {

struct Core;
class Watch;

class Watches {
 public:
  explicit Watches(Core& core) : core_(core) {}
  ~Watches();

  using OnEvent = std::function<void(const api::WatchEvent&)>;
  using OnEnd = std::function<void()>;
  // `resource` is null when it is not served: the watch says so and ends.
  std::unique_ptr<api::WatchHandle> start(ResourcePtr resource, const api::RestRequest& request,
                                          OnEvent on_event, OnEnd on_end);

  void on_change(const Change& change);
  void end_all(const api::GroupVersionResource& gvr);  // the resource is not served any more
  std::size_t size() const;

 private:
  friend class Watch;
  void remove(const Watch* watch);

  Core& core_;
  std::map<std::string, std::vector<std::shared_ptr<Watch>>, std::less<>> by_bucket_;
};

}  // namespace berth::apiserver
