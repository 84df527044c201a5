// A local copy of one resource, kept up to date by list and watch; where it may be listed but not watched, by lists now and then.
// Where the server offers it, the list is the beginning of the watch (KEP-3157); else it comes in pages.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/rest.h"
#include "base/executor.h"
#include "base/json.h"
#include "kube/object_copy.h"

namespace berth::kube {

struct InformerOptions {
  std::string ns;  // empty: all namespaces
  std::string label_selector, field_selector;
  std::int64_t page_size = 500;
  // Whether the copy holds the objects. Otherwise only who they are: `old` has a name, namespace, uid and version then, get() and
  // list() find nothing, and who needs more keeps it.
  bool keep_objects = true;
  std::uint64_t seed = 1;                                   // of the jitter
  Duration first_backoff = std::chrono::milliseconds(100);  // after an error; doubles with jitter
  Duration max_backoff = std::chrono::seconds(30);
};

class Informer {
 public:
  // Both must outlive the informer.
  Informer(api::RestClient& client, Executor& executor, api::GroupVersionResource resource,
           InformerOptions options = {});
  ~Informer();

  void on_change(ObjectHandler handler);          // before start()
  void on_synced(std::function<void()> handler);  // once, after every object of the first list was handled
  // After each try to list: how it ended. Of a failed one it says why; another follows by itself. A stream that does not come to the
  // list's end is no failure: pages follow at once.
  void on_list(std::function<void(const api::RestResponse& response)> handler);
  void start();
  // After start(): reads everything anew from the server itself, however far the watch lags behind. `done` is called once, after
  // every object of a list that was asked for after this call was handled; failures are tried again. Not from a handler.
  void read_anew(std::function<void()> done);
  bool synced() const;

  // By "namespace/name", or "name" for cluster-scoped objects; null when unknown.
  JsonPtr get(std::string_view key) const;
  // In order of the key. Empty namespace: all.
  std::vector<JsonPtr> list(std::string_view ns = {}) const;
  const std::string& resource_version() const;  // up to where the copy reaches
  const api::GroupVersionResource& resource() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // shared with callbacks under way, which find it gone
};

}  // namespace berth::kube
