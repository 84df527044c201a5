// The life of CustomResourceDefinitions: established, serving their resources, terminating with all their
// objects.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "apiserver/server/core.h"

namespace berth::apiserver {

inline constexpr std::string_view kCrdCleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

bool is_crd(const ResourceInfo& resource);
// What the server writes into a CRD whose deletion begins: its finalizer and the condition Terminating.
void prepare_crd_deletion(Json& crd, Time now);

// Keeps the served resources in step with the stored CRDs. Lives as long as the server.
class Crds {
 public:
  explicit Crds(Core& core) : core_(core) {}
  // Serves what the store holds already, when the server starts.
  Result<void> load();
  // After a write of a CRD: accepts its names, serves its versions, or goes on with its removal.
  void on_written(const std::string& name);
  // After the object of this key has gone: a CRD may be waiting for that.
  void on_removed(std::string_view key);

 private:
  Result<void> serve(const Json& crd);
  void stop_serving(const Json& crd);
  void establish(const Json& crd);
  void clean_up(const Json& crd);
  void delete_instance(const std::string& group, const std::string& plural, const Json& object);
  void later(const std::string& name);  // on_written again, after a moment

  Core& core_;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace berth::apiserver
