#include "e2e/manifests.h"

namespace berth::e2e {

std::string cluster_queue(const std::string& name, int cpus, const std::string& more) {
  return "---\n{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: " + name +
         "}, spec: {namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu], flavors: [{name: default, "
         "resources: [{name: cpu, nominalQuota: " +
         std::to_string(cpus) + "}]}]}]" + (more.empty() ? "" : ", " + more) + "}}\n";
}

std::string local_queue(const std::string& name, const std::string& cluster_queue) {
  return "---\n{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: " + name +
         ", namespace: default}, spec: {clusterQueue: " + cluster_queue + "}}\n";
}

std::string queue_with_flavor(const std::string& name, int cpus) {
  return kDefaultFlavor + cluster_queue(name, cpus) + local_queue(name, name);
}

}  // namespace berth::e2e
