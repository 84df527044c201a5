// The Configuration file: defaults of both versions, and every field.
#include "api/config/configuration.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "api/config/read.h"

namespace berth::api::config::configuration_test {
namespace {

using namespace std::chrono_literals;

using testing_support::kHead;
using testing_support::kOldHead;
using testing_support::read;

bool manages(const Configuration& c, std::string_view ns) {
  return c.managed_jobs_namespaces.matches(JsonObject{{"kubernetes.io/metadata.name", ns}});
}

TEST(Configuration, HowLongPlacesAreWaitedFor) {
  EXPECT_EQ(read(kHead).topology.places_timeout, 15min);
  EXPECT_EQ(read(kHead + "topology: {placesTimeout: 90s}\n").topology.places_timeout, 90s);
  EXPECT_EQ(read(kHead + "topology: {placesTimeout: 0s}\n").topology.places_timeout, 0s);
}

TEST(Configuration, HowLongAnEvictionWithoutAnOwnerIsWaitedFor) {
  EXPECT_EQ(read(kHead).ownerless_workloads.eviction_timeout, 5min);
  EXPECT_EQ(read(kHead + "ownerlessWorkloads: {evictionTimeout: 90s}\n").ownerless_workloads.eviction_timeout, 90s);
  EXPECT_TRUE(read(kHead + "expectedStart: {events: true}\n").expected_start_events);
  EXPECT_FALSE(read(kHead).expected_start_events);
  EXPECT_EQ(read(kHead + "ownerlessWorkloads: {evictionTimeout: 0s}\n").ownerless_workloads.eviction_timeout, 0s);
}

TEST(Configuration, LocalQueuesOfNamespacesAreOffUnlessEnabled) {
  EXPECT_FALSE(read(kHead).default_local_queues.enabled);
  const auto queues = read(kHead + "defaultLocalQueues: {enabled: true}\n").default_local_queues;
  EXPECT_TRUE(queues.enabled);
  EXPECT_EQ(queues.name, "default");
  EXPECT_FALSE(queues.namespaces);
  const auto named =
      read(kHead +
           "defaultLocalQueues: {enabled: true, localQueueName: main, namespaceSelector: {matchLabels: {a: b}}}\n")
          .default_local_queues;
  EXPECT_EQ(named.name, "main");
  EXPECT_TRUE(named.namespaces->matches(JsonObject{{"a", "b"}}));
  const auto each = read(kHead + "defaultLocalQueues: {localQueueNameMode: AsClusterQueue}\n").default_local_queues;
  EXPECT_EQ(each.name, "");
}

TEST(Configuration, EmptyFileHasKueuesDefaults) {
  const Configuration c = read(kHead);
  EXPECT_EQ(c.webhook.port, 9443);
  EXPECT_EQ(c.webhook.cert_dir, "/tmp/k8s-webhook-server/serving-certs");
  EXPECT_TRUE(c.leader_election.leader_elect);
  EXPECT_EQ(c.leader_election.resource_name, "c1f6bfd2.kueue.x-k8s.io");
  EXPECT_EQ(c.leader_election.resource_namespace, "kueue-system");
  EXPECT_EQ(c.leader_election.lease_duration, 15s);
  EXPECT_EQ(c.metrics.bind_address, (BindAddress{true, "", 8443}));
  EXPECT_TRUE(c.metrics.local_queue_metrics);
  EXPECT_EQ(c.health.bind_address, (BindAddress{true, "", 8081}));
  EXPECT_EQ(c.client_connection.qps, 1000);
  EXPECT_EQ(c.client_connection.burst, 1000);
  EXPECT_EQ(c.cache_sync_timeout, 2min);
  EXPECT_EQ(c.visibility_server.bind_port, 8082);
  EXPECT_TRUE(c.internal_cert_management.enable);
  EXPECT_EQ(c.frameworks, std::vector<std::string>{"batch/job"});
  EXPECT_TRUE(c.wait_for_pods_ready.enabled);
  EXPECT_EQ(c.wait_for_pods_ready.timeout, 30min);
  EXPECT_EQ(c.wait_for_pods_ready.recovery_timeout, 30min);
  EXPECT_FALSE(c.wait_for_pods_ready.block_admission);
  EXPECT_EQ(c.wait_for_pods_ready.backoff_base_seconds, 60);
  EXPECT_EQ(c.wait_for_pods_ready.backoff_max_seconds, 3600);
  EXPECT_EQ(c.workload_retention, WorkloadRetention{});
  EXPECT_EQ(c.resources, QuotaResources{});
  EXPECT_TRUE(c.warnings.empty());
  EXPECT_TRUE(manages(c, "default"));
  EXPECT_FALSE(manages(c, "kube-system"));
  EXPECT_FALSE(manages(c, "kueue-system"));
}

TEST(Configuration, OlderVersionWaitsForPodsOnlyWhenEnabled) {
  EXPECT_FALSE(read(kOldHead).wait_for_pods_ready.enabled);
  const auto on = read(kOldHead + "waitForPodsReady: {enable: true}\n").wait_for_pods_ready;
  EXPECT_TRUE(on.enabled);
  EXPECT_EQ(on.timeout, 5min);
  EXPECT_EQ(on.recovery_timeout, 0s);
  EXPECT_TRUE(on.block_admission);
  EXPECT_FALSE(
      read(kOldHead + "waitForPodsReady: {enable: true, blockAdmission: false}\n").wait_for_pods_ready.block_admission);
  EXPECT_FALSE(read(kOldHead + "waitForPodsReady: {enable: false, timeout: 1m}\n").wait_for_pods_ready.enabled);
  EXPECT_TRUE(read(kOldHead + "fairSharing: {enable: false}\n").warnings.empty());
}

TEST(Configuration, SharesFairlyByTheStrategiesThatAreListed) {
  EXPECT_EQ(read(kHead).fair_sharing, (FairSharing{false, true, true}));
  const auto with = [](const std::string& strategies) {
    return read(kHead + "fairSharing: {preemptionStrategies: [" + strategies + "]}\n").fair_sharing;
  };
  EXPECT_EQ(with("LessThanOrEqualToFinalShare"), (FairSharing{true, true, false}));
  EXPECT_EQ(with("LessThanInitialShare"), (FairSharing{true, false, true}));
  EXPECT_EQ(with("LessThanOrEqualToFinalShare, LessThanInitialShare"), (FairSharing{true, true, true}));
  EXPECT_EQ(read(kOldHead + "fairSharing: {enable: true}\n").fair_sharing, (FairSharing{true, true, true}));
  EXPECT_EQ(read(kOldHead + "fairSharing: {preemptionStrategies: [LessThanInitialShare]}\n").fair_sharing,
            (FairSharing{false, false, true}));
}

TEST(Configuration, ReadsEveryField) {
  const Configuration c = read(kHead + R"(
namespace: batch
webhook: {port: 10250, host: 127.0.0.1, certDir: /certs}
leaderElection: {leaderElect: false, resourceName: me, resourceNamespace: ns, resourceLock: leases, leaseDuration: 1m, renewDeadline: 30s, retryPeriod: 5s}
metrics: {bindAddress: "127.0.0.1:9000", enableClusterQueueResources: true, localQueueMetrics: {enable: true, localQueueSelector: {matchLabels: {a: b}}}}
health: {healthProbeBindAddress: "[::1]:1", readinessEndpointName: /ready, livenessEndpointName: live}
controller: {cacheSyncTimeout: 60000000000}
tls: {minVersion: VersionTLS12, cipherSuites: [TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305, TLS_AES_128_GCM_SHA256], curvePreferences: [CurveP384, X25519]}
manageJobsWithoutQueueName: true
managedJobsNamespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [a]}]}
internalCertManagement: {enable: false, webhookServiceName: svc, webhookSecretName: secret}
waitForPodsReady: {timeout: 5m, recoveryTimeout: 0s, blockAdmission: true, requeuingStrategy: {timestamp: Creation, backoffLimitCount: 3, backoffBaseSeconds: 10, backoffMaxSeconds: 100}}
clientConnection: {qps: -1, burst: 7}
integrations: {frameworks: [batch/job], labelKeysToCopy: [team, example.com/cost]}
multiKueue: {gcInterval: 2m, origin: here, workerLostTimeout: 5m, dispatcherName: kueue.x-k8s.io/multikueue-dispatcher-incremental, incrementalDispatcherConfig: {stepSize: 2}}
resources:
  excludeResourcePrefixes: [example.com/]
  quotaCheckStrategy: BlockUndeclared
  transformations:
  - {input: nvidia.com/mig-1g.5gb, strategy: Replace, multiplyBy: cpu, outputs: {example.com/memory: 5Gi, example.com/slices: 1}}
  - {input: cpu, outputs: {example.com/credits: 500m}}
featureGates: {PartialAdmission: false}
objectRetentionPolicies: {workloads: {afterFinished: 1h30m, afterDeactivatedByKueue: 0s}}
visibilityServer: {bindAddress: 127.0.0.1, bindPort: 1234}
)");
  EXPECT_EQ(c.multi_kueue, (MultiKueue{.gc_interval = std::chrono::minutes(2),
                                       .worker_lost_timeout = std::chrono::minutes(5),
                                       .origin = "here",
                                       .incremental = true,
                                       .step_size = 2}));
  EXPECT_EQ(c.ns, "batch");
  EXPECT_EQ(c.webhook.port, 10250);
  EXPECT_EQ(c.webhook.host, "127.0.0.1");
  EXPECT_EQ(c.webhook.cert_dir, "/certs");
  EXPECT_FALSE(c.leader_election.leader_elect);
  EXPECT_EQ(c.leader_election.resource_name, "me");
  EXPECT_EQ(c.leader_election.resource_namespace, "ns");
  EXPECT_EQ(c.leader_election.lease_duration, 1min);
  EXPECT_EQ(c.leader_election.renew_deadline, 30s);
  EXPECT_EQ(c.leader_election.retry_period, 5s);
  EXPECT_EQ(c.metrics.bind_address, (BindAddress{true, "127.0.0.1", 9000}));
  EXPECT_TRUE(c.metrics.enable_cluster_queue_resources);
  ASSERT_TRUE(c.metrics.local_queue_selector);
  EXPECT_TRUE(c.metrics.local_queue_selector->matches({{"a", "b"}}));
  EXPECT_FALSE(c.metrics.local_queue_selector->matches({{"a", "c"}}));
  EXPECT_EQ(c.health.bind_address, (BindAddress{true, "::1", 1}));
  EXPECT_EQ(c.health.readiness_endpoint, "ready");
  EXPECT_EQ(c.health.liveness_endpoint, "live");
  EXPECT_EQ(c.cache_sync_timeout, 1min);
  EXPECT_EQ(c.tls.min_version, Tls::Version::k12);
  EXPECT_EQ(c.tls.cipher_suites, std::vector<std::string>{"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"});
  EXPECT_EQ(c.tls.groups, (std::vector<std::string>{"P-384", "X25519"}));
  EXPECT_TRUE(c.manage_jobs_without_queue_name);
  EXPECT_TRUE(manages(c, "a"));
  EXPECT_FALSE(manages(c, "b"));
  EXPECT_FALSE(c.internal_cert_management.enable);
  EXPECT_EQ(c.internal_cert_management.webhook_service_name, "svc");
  EXPECT_EQ(c.internal_cert_management.webhook_secret_name, "secret");
  const WaitForPodsReady wait{true, 5min, 0s, true, WaitForPodsReady::Timestamp::kCreation, 3, 10, 100};
  EXPECT_EQ(c.wait_for_pods_ready, wait);
  EXPECT_EQ(c.client_connection.qps, -1);
  EXPECT_EQ(c.client_connection.burst, 7);
  EXPECT_EQ(c.label_keys_to_copy, (std::vector<std::string>{"team", "example.com/cost"}));
  ASSERT_EQ(c.resources.transformations.size(), 2u);
  const ResourceTransformation mig{
      "nvidia.com/mig-1g.5gb",
      true,
      "cpu",
      {{"example.com/memory", *Quantity::parse("5Gi")}, {"example.com/slices", Quantity::of(1)}}};
  EXPECT_EQ(c.resources.transformations[0], mig);
  EXPECT_FALSE(c.resources.transformations[1].replace);
  EXPECT_EQ(c.resources.exclude_prefixes, std::vector<std::string>{"example.com/"});
  EXPECT_EQ(c.feature_gates, (std::map<std::string, bool>{{"PartialAdmission", false}}));
  EXPECT_EQ(c.workload_retention, (WorkloadRetention{90min, 0s}));
  EXPECT_EQ(c.visibility_server.bind_address, "127.0.0.1");
  EXPECT_EQ(c.visibility_server.bind_port, 1234);
  ASSERT_EQ(c.warnings.size(), 1u);
  EXPECT_EQ(
      c.warnings[0],
      "tls.cipherSuites[1]: has no effect: TLS_AES_128_GCM_SHA256 is a suite of TLS 1.3, all of which are always on");
}

TEST(Configuration, VolcanosPartIsOnByDefaultAndStricterThanVolcano) {
  for (const auto& head : {kHead, kOldHead}) {
    const Volcano v = read(head).volcano;
    EXPECT_TRUE(v.enabled);
    EXPECT_EQ(v.tree, (VolcanoTree{"volcano", std::nullopt}));
    EXPECT_EQ(v.admission, (VolcanoAdmission{5, true, false, true, true, true, true}));
    EXPECT_EQ(read(head + "volcano: {}\n").volcano, v);
    EXPECT_EQ(read(head + "volcano: {admission: {}}\n").volcano, v);
  }
}

TEST(Configuration, ReadsVolcanosPart) {
  const Volcano v = read(kHead + R"(
volcano:
  enabled: false
  flavor: spot
  ancestorReclaimLevel: 0
  admission: {maxQueueDepth: 9, rootQueueProtection: false, queueAllocatedPodsCheck: true}
)")
                        .volcano;
  EXPECT_EQ(v, (Volcano{false, {"spot", 0}, {9, false, true, true, true, true, true}}));
  // Each switch changes one field only.
  const auto off = [](const std::string& field) {
    return read(kHead + "volcano: {admission: {" + field + ": false}}\n").volcano.admission;
  };
  EXPECT_EQ(off("cycleCheck"), (VolcanoAdmission{5, true, false, false, true, true, true}));
  EXPECT_EQ(off("subtreeDepthCheck"), (VolcanoAdmission{5, true, false, true, false, true, true}));
  EXPECT_EQ(off("reservationsCheck"), (VolcanoAdmission{5, true, false, true, true, false, true}));
  EXPECT_EQ(off("podGroupLeafCheck"), (VolcanoAdmission{5, true, false, true, true, true, false}));
}

TEST(Configuration, AddressesMayBeSwitchedOff) {
  const Configuration c = read(kHead + "metrics: {bindAddress: \"0\"}\nhealth: {healthProbeBindAddress: \"0\"}\n");
  EXPECT_FALSE(c.metrics.bind_address.enabled);
  EXPECT_FALSE(c.health.bind_address.enabled);
}

TEST(Configuration, RecoveryHasAsLongAsTheStart) {
  EXPECT_EQ(read(kHead + "waitForPodsReady: {timeout: 7m}\n").wait_for_pods_ready.recovery_timeout, 7min);
}

TEST(Configuration, OwnNamespaceIsNeverManaged) {
  const auto c = read_configuration(kHead, "config.yaml", "my-kueue");
  ASSERT_TRUE(c);
  EXPECT_EQ(c->ns, "my-kueue");
  EXPECT_EQ(c->leader_election.resource_namespace, "my-kueue");
  EXPECT_FALSE(manages(*c, "my-kueue"));
  EXPECT_TRUE(manages(*c, "kueue-system"));
}

// The file of Kueue's manifests: all frameworks, and workers per kind.
TEST(Configuration, KueuesOwnFileStarts) {
  for (const auto& head : {kHead, kOldHead}) {
    const Configuration c = read(head + R"(
health: {healthProbeBindAddress: ":8081"}
metrics: {bindAddress: ":8443"}
webhook: {port: 9443}
leaderElection: {leaderElect: true, resourceName: c1f6bfd2.kueue.x-k8s.io}
controller:
  groupKindConcurrency: {Job.batch: 5, Pod: 5, Workload.kueue.x-k8s.io: 5, LocalQueue.kueue.x-k8s.io: 1, Cohort.kueue.x-k8s.io: 1, ClusterQueue.kueue.x-k8s.io: 1, ResourceFlavor.kueue.x-k8s.io: 1}
clientConnection: {qps: 50, burst: 100}
integrations:
  frameworks:
  - "batch/job"
  - "kubeflow.org/mpijob"
  - "ray.io/rayjob"
  - "ray.io/rayservice"
  - "ray.io/raycluster"
  - "jobset.x-k8s.io/jobset"
  - "trainer.kubeflow.org/trainjob"
  - "kubeflow.org/paddlejob"
  - "kubeflow.org/pytorchjob"
  - "kubeflow.org/tfjob"
  - "kubeflow.org/xgboostjob"
  - "kubeflow.org/jaxjob"
  - "workload.codeflare.dev/appwrapper"
  - "pod"
  - "deployment"
  - "statefulset"
  - "leaderworkerset.x-k8s.io/leaderworkerset"
)");
    EXPECT_EQ(c.frameworks.size(), 17u);
    EXPECT_EQ(c.warnings, std::vector<std::string>());
    EXPECT_EQ(c.not_honoured, std::vector<NotHonoured>());
  }
}

}  // namespace
}  // namespace berth::api::config::configuration_test
