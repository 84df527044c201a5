// Running watches: delivers each durable change, in order of revisions, to the watches that it concerns.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/rest.h"
#include "embedded/apiserver/resource.h"
#include "embedded/apiserver/storage/object_store.h"

namespace berth::apiserver {

struct Core;
class Watch;

class Watches {
 public:
  explicit Watches(Core& core) : core_(core) {}
  ~Watches();

  using OnEvent = std::function<void(const api::WatchEvent&)>;
  using OnEnd = std::function<void()>;
  // `resource` is null when it is not served: the watch then reports an error and ends.
  std::unique_ptr<api::WatchHandle> start(ResourcePtr resource, const api::RestRequest& request, OnEvent on_event,
                                          OnEnd on_end);

  void on_change(const Change& change);
  void end_all(const api::GroupVersionResource& gvr);  // when the resource is no longer served
  std::size_t size() const;

 private:
  friend class Watch;
  void remove(const Watch* watch);

  Core& core_;
  std::map<std::string, std::vector<std::shared_ptr<Watch>>, std::less<>> by_bucket_;
};

}  // namespace berth::apiserver
