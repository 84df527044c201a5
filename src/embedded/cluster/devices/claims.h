// ResourceClaims of the pretend cluster: makes those of pods from templates, as kube-controller-manager does; gives
// them devices when a pod gets its node, as kube-scheduler does; takes the devices back when the pod has ended.
// https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
//
// A server that does not serve resource.k8s.io/v1 has no claims: pods with some wait.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/rest.h"
#include "base/executor.h"
#include "base/json.h"
#include "base/lifetime.h"
#include "embedded/cluster/devices/allocator.h"
#include "embedded/cluster/shared/pod_writes.h"
#include "kube/informer.h"
#include "kube/typed_informer.h"

namespace berth::cluster::devices {

bool has_claims(const Json& pod);

class Claims {
 public:
  // `pods` must outlive it. `changed`: pods that wait may fit now.
  Claims(api::RestClient& client, Executor& executor, const kube::Informer& pods, std::function<void()> changed);

  void start();
  void pod_changed(const JsonPtr& old, const JsonPtr& now);

  // The pod's claims exist, and the node has what they ask for, or they have it already and it can be used there.
  bool fits(const Json& pod, const NodeView& node);
  // Allocates and reserves the claims of a pod for a node that fits, and calls `done`: whether the server took it.
  void allocate(const Json& pod, const NodeView& node, std::function<void(bool ok)> done);

 private:
  using ClaimPtr = std::shared_ptr<const api::ResourceClaim>;

  void make(const Json& pod);
  void make_one(const Json& pod, const std::string& entry, const std::string& claim_template);
  void record(const std::string& pod_key);
  void release(const Json& pod, bool gone);
  void release_claim(const ClaimPtr& claim, const std::string& uid);
  void claim_changed(const ClaimPtr& old, const ClaimPtr& now);
  std::optional<std::vector<ClaimPtr>> claims_of(const Json& pod) const;
  const Json* allocation_of(const api::ResourceClaim& claim) const;
  bool allocate_new(const std::vector<ClaimPtr>& claims, const NodeView& node, std::map<std::string, Json>& out);
  void write(std::vector<std::pair<ClaimPtr, Json>> statuses, std::size_t next, std::function<void(bool)> done);
  void forget_assumed(const std::string& uid);

  api::RestClient& client_;
  Executor& executor_;
  const kube::Informer& pods_;
  const std::function<void()> changed_;
  kube::TypedInformer<api::ResourceClaimTemplate> templates_;
  kube::TypedInformer<api::ResourceClaim> claims_;
  kube::TypedInformer<api::DeviceClass> classes_;
  kube::TypedInformer<api::ResourceSlice> slices_;
  Allocator allocator_;
  Taken taken_;                          // by allocations that the cache shows, and assumed ones
  std::map<std::string, Json> assumed_;  // by UID of the claim: allocations that the cache does not show yet
  // By UID of the pod and name of the entry: the claim that was made; empty: it is being made.
  std::map<std::pair<std::string, std::string>, std::string> made_;
  Writer writer_;
  Lifetime lifetime_;
};

}  // namespace berth::cluster::devices
