// A cache of one resource, kept up to date by list and watch; without the right to watch, by a list every max_backoff
// or less. Where the server offers it, the list is the beginning of the watch (KEP-3157); else it comes in pages.
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
  // Whether the cache holds the objects. If not, it holds only name, namespace, uid and version: handlers get these
  // as `old`, get() and list() find nothing, and a user that needs more must keep it.
  bool keep_objects = true;
  // When lists have answered 404 for so long, the resource is not served any more: its objects are reported as deleted.
  // Zero: never. A server that starts may answer 404 for a moment.
  Duration gone_after = Duration::zero();
  // Asked before that; false: not yet. Empty: yes.
  std::function<bool()> may_be_gone;
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
  // Called after each list with its response; after a failed one the informer retries by itself. A stream that breaks
  // before the end of the list is not reported: the informer lists in pages at once.
  void on_list(std::function<void(const api::RestResponse& response)> handler);
  void start();
  // After start(): lists everything again from the server, however far the watch lags behind. Calls `done` once,
  // after the handlers have seen every object of a list that began after this call; retries failures. Do not call it
  // from a handler.
  void read_anew(std::function<void()> done);
  bool synced() const;

  // By "namespace/name", or "name" for cluster-scoped objects; null when unknown.
  JsonPtr get(std::string_view key) const;
  // In order of the key. Empty namespace: all.
  std::vector<JsonPtr> list(std::string_view ns = {}) const;
  const std::string& resource_version() const;  // of the newest list or event in the cache
  const api::GroupVersionResource& resource() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // pending callbacks hold it weakly and do nothing when it is gone
};

}  // namespace berth::kube
