#include "embedded/simulate/rest_audit.h"

#include <map>
#include <utility>

#include "api/meta.h"
#include "embedded/simulate/hands.h"
#include "embedded/simulate/storm.h"

namespace berth::simulation {
namespace {

constexpr std::string_view kKueue = "kueue.x-k8s.io/v1beta2";

std::string brief(Json object) {
  erase_path(object, {"metadata", "managedFields"});
  return to_string(object);
}

std::string key_of(const Json& object) {
  return api::object_key(string_at(object, {"metadata", "namespace"}), string_at(object, {"metadata", "name"}));
}

api::Conditions conditions_of(const Json& object) {
  return api::decode_conditions(Json(array_at(object, {"status", "conditions"})));
}

bool is_deleting(const Json& object) { return find_path(object, {"metadata", "deletionTimestamp"}) != nullptr; }

std::map<std::string, Json> by_uid(const std::vector<Json>& objects) {
  std::map<std::string, Json> out;
  for (const auto& object : objects) out[std::string(string_at(object, {"metadata", "uid"}))] = object;
  return out;
}

}  // namespace

std::vector<std::string> without_reason(simulate::World& world) {
  std::map<std::string, std::string> strategies, targets;
  for (const auto& queue : list_all(world, kKueue, "ClusterQueue"))
    strategies[key_of(queue)] = string_at(queue, {"spec", "queueingStrategy"});
  for (const auto& queue : list_all(world, kKueue, "LocalQueue"))
    targets[key_of(queue)] = string_at(queue, {"spec", "clusterQueue"});
  std::vector<std::string> broken;
  for (const auto& workload : list_all(world, kKueue, "Workload")) {
    if (is_deleting(workload) || !bool_at(workload, {"spec", "active"}, true)) continue;
    const auto conditions = conditions_of(workload);
    if (api::is_true(conditions, "Finished") || api::find_condition(conditions, "QuotaReserved") != nullptr) continue;
    const auto queue =
        api::object_key(string_at(workload, {"metadata", "namespace"}), string_at(workload, {"spec", "queueName"}));
    if (strategies[targets[queue]] != "StrictFIFO")
      broken.push_back("a workload waits without a reason: " + brief(workload));
  }
  return broken;
}

std::vector<std::string> orphaned_requests(simulate::World& world) {
  const auto workloads = by_uid(list_all(world, kKueue, "Workload"));
  std::vector<std::string> broken;
  for (const auto& request : list_all(world, "autoscaling.x-k8s.io/v1", "ProvisioningRequest")) {
    if (is_deleting(request) || string_at(request, {"metadata", "labels", "kueue.x-k8s.io/managed"}) != "true")
      continue;
    for (const auto& owner : api::decode_meta(request).owners) {
      const auto it = workloads.find(owner.uid);
      if (!owner.controller || it == workloads.end() || is_deleting(it->second)) continue;
      const auto conditions = conditions_of(it->second);
      const bool ended = api::is_true(conditions, "Finished");
      if (api::is_true(conditions, "QuotaReserved") && !ended) continue;
      // Quota that was taken without an eviction, as by a queue that stops: it goes on with its requests later.
      if (!api::is_true(conditions, "Evicted") && !ended) continue;
      broken.push_back("ProvisioningRequest " + key_of(request) +
                       " belongs to a workload that holds no quota: " + brief(it->second));
    }
  }
  return broken;
}

std::vector<std::string> set_admission(simulate::World& world) {
  const std::vector<Json> bad = {
      yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: bad}, spec: "
           "{namespaceSelector: {}, resourceGroups: "
           "[{coveredResources: [cpu], flavors: [{name: first, resources: [{name: memory, nominalQuota: "
           "1}]}]}]}}"),
      yaml("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: bad}, spec: "
           "{namespaceSelector: {}, resourceGroups: "
           "[{coveredResources: [cpu], flavors: [{name: first, resources: [{name: cpu, nominalQuota: "
           "-1}]}]}]}}"),
      yaml("{apiVersion: batch/v1, kind: Job, metadata: {name: bad, namespace: default, labels: "
           "{kueue.x-k8s.io/queue-name: Not_A_Name}}, "
           "spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: c, image: "
           "i}]}}}}"),
  };
  std::vector<std::string> broken;
  for (const auto& object : bad) {
    auto request =
        world.request_for(string_at(object, {"apiVersion"}), string_at(object, {"kind"}), "default", "").value();
    request.verb = api::Verb::kCreate;
    request.dry_run = true;
    request.body = object;
    if (world.call(std::move(request)).ok()) broken.push_back("nobody refuses " + to_string(object));
  }
  return broken;
}

std::vector<std::string> without_flavor_labels(simulate::World& world) {
  std::map<std::string, Json> flavors;
  for (const auto& flavor : list_all(world, kKueue, "ResourceFlavor")) flavors[key_of(flavor)] = flavor;
  const auto jobs = by_uid(list_all(world, "batch/v1", "Job"));
  std::vector<std::string> broken;
  for (const auto& workload : list_all(world, kKueue, "Workload")) {
    const auto job = jobs.find(std::string(string_at(workload, {"metadata", "labels", "kueue.x-k8s.io/job-uid"})));
    if (job == jobs.end() || bool_at(job->second, {"spec", "suspend"})) continue;
    for (const auto& assignment : array_at(workload, {"status", "admission", "podSetAssignments"})) {
      for (const auto& flavor : object_at(assignment, {"flavors"})) {
        const auto& labels = object_at(flavors[std::string(view(flavor.value().as_string()))], {"spec", "nodeLabels"});
        for (const auto& label : labels) {
          const auto selected =
              string_at(job->second, {"spec", "template", "spec", "nodeSelector", std::string_view(label.key())});
          if (selected != view(label.value().as_string()))
            broken.push_back("job " + key_of(job->second) + " runs without the label " + std::string(label.key()) +
                             " of its flavor");
        }
      }
    }
  }
  return broken;
}

}  // namespace berth::simulation
