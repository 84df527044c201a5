// Manifests that several tests apply.
#pragma once

#include <string>

namespace berth::e2e {

// A flavor "default" of any node.
inline constexpr const char* kDefaultFlavor =
    "---\n{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: default}}\n";
// A ClusterQueue for all namespaces with this much cpu of the flavor "default". `more`: more fields of its spec.
std::string cluster_queue(const std::string& name, int cpus, const std::string& more = "");
// A LocalQueue in the namespace default.
std::string local_queue(const std::string& name, const std::string& cluster_queue);
// All three; both queues have this name.
std::string queue_with_flavor(const std::string& name, int cpus);

}  // namespace berth::e2e
