// Kueue's Configuration file (config.kueue.x-k8s.io, v1beta2 and v1beta1) as typed values, with five more parts
// that only Berth has: topology, ownerlessWorkloads, expectedStart, volcano and defaultLocalQueues. Strict: a field
// that is unknown, of the wrong type, out of range or in conflict with another is an error that names its path. What
// Kueue has and Berth does not is listed in not_honoured.
// https://kueue.sigs.k8s.io/docs/reference/kueue-config.v1beta2/
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/config/default_local_queues.h"
#include "api/config/device_mappings.h"
#include "api/config/fields.h"
#include "api/config/multi_kueue.h"
#include "api/config/policies.h"
#include "api/config/servers.h"
#include "api/config/volcano.h"
#include "api/rest.h"
#include "api/selector.h"
#include "base/json.h"
#include "base/result.h"

namespace berth::api::config {

// A kind whose objects own jobs.
struct OwnerKind {
  GroupVersionResource resource;
  std::string kind;
  bool operator==(const OwnerKind&) const = default;
};

struct Configuration {
  std::string ns = "kueue-system";  // where the controller runs

  Webhook webhook;
  LeaderElection leader_election;
  Metrics metrics;
  Health health;
  Tls tls;
  InternalCertManagement internal_cert_management;
  ClientConnection client_connection;
  VisibilityServer visibility_server;
  Duration cache_sync_timeout = std::chrono::minutes(2);  // controller.cacheSyncTimeout

  bool manage_jobs_without_queue_name = false;
  // The namespaces whose jobs are managed; never kube-system nor `ns`.
  LabelSelector managed_jobs_namespaces = default_managed_namespaces("kueue-system");
  std::vector<std::string> frameworks = {"batch/job"};  // integrations.frameworks
  // integrations.externalFrameworks. The resource is guessed from the kind, as Kubernetes' tools do.
  std::vector<OwnerKind> external_frameworks;
  // jobKinds.directory, not in Kueue's file: the descriptions (*.yaml) in it are managed, too. Empty: none.
  std::string job_kinds_directory;
  std::vector<std::string> label_keys_to_copy;  // integrations.labelKeysToCopy

  WaitForPodsReady wait_for_pods_ready;
  WorkloadRetention workload_retention;
  FairSharing fair_sharing;
  AdmissionFairSharing admission_fair_sharing;
  QuotaResources resources;
  DeviceClassMappings device_class_mappings;  // resources.deviceClassMappings
  TopologyWaits topology;                     // not in Kueue's file
  OwnerlessWorkloads ownerless_workloads;     // not in Kueue's file
  bool expected_start_events = false;         // expectedStart.events; not in Kueue's file
  MultiKueue multi_kueue;
  Volcano volcano;                          // not in Kueue's file
  DefaultLocalQueues default_local_queues;  // not in Kueue's file

  std::map<std::string, bool> feature_gates;  // names are not checked here
  std::vector<std::string> warnings;          // one line each, to log at start: parts that have no effect
  std::vector<NotHonoured> not_honoured;      // to tell at start; of feature gates the controller knows more

  // kubernetes.io/metadata.name NotIn (kube-system, ns).
  static LabelSelector default_managed_namespaces(std::string_view ns);
};

// Reads one document. `origin` names the file in errors; `own_namespace` is the default of `namespace`. The error
// lists the wrong fields in one line: the first eight, and how many more there are.
Result<Configuration> read_configuration(std::string_view yaml, std::string_view origin,
                                         std::string_view own_namespace = "kueue-system");

// The same for a parsed document.
Result<Configuration> decode_configuration(const Json& document, std::string_view origin,
                                           std::string_view own_namespace = "kueue-system");

}  // namespace berth::api::config
