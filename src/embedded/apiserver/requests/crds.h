// The lifecycle of CustomResourceDefinitions: establish them, serve their resources, and on deletion remove all their
// objects.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/lifetime.h"
#include "embedded/apiserver/requests/core.h"

namespace berth::apiserver {

inline constexpr std::string_view kCrdCleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

bool is_crd(const ResourceInfo& resource);
// Sets what the server writes into a CRD when its deletion begins: the cleanup finalizer and the condition
// Terminating.
void prepare_crd_deletion(Json& crd, Time now);

// Keeps the served resources in sync with the stored CRDs. Lives as long as the server.
class Crds {
 public:
  explicit Crds(Core& core) : core_(core) {}
  // Serves the CRDs that the store already holds at startup.
  Result<void> load();
  // Call it after a write of a CRD: accepts its names, serves its versions, or continues its removal.
  void on_written(const std::string& name);
  // Call it after the object with this key was removed: a terminating CRD may be waiting for that.
  void on_removed(std::string_view key);

 private:
  Result<void> serve(const Json& crd);
  void stop_serving(const Json& crd);
  void end_watches(const api::GroupVersionResource& gvr);
  void establish(const Json& crd);
  void clean_up(const Json& crd);
  void delete_instance(const std::string& group, const std::string& plural, const Json& object);
  void later(const std::string& name);  // calls on_written() again after a short delay

  Core& core_;
  Lifetime lifetime_;
};

}  // namespace berth::apiserver
