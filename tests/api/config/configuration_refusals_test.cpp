// Configuration files that are refused: one line names what is wrong.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/config/read.h"

namespace berth::api::config::configuration_refusals_test {
namespace {

using testing_support::error_of;
using testing_support::kHead;
using testing_support::kOldHead;
using testing_support::read;

struct Wrong {
  std::string fields, message;  // `message`: a prefix of the error after "config.yaml: "
};

void expect_refused(const std::string& head, const std::vector<Wrong>& cases) {
  for (const auto& [fields, message] : cases) {
    const std::string found = error_of(head + fields);
    EXPECT_TRUE(found.starts_with("config.yaml: " + message))
        << fields << "\n  gives    " << found << "\n  expected config.yaml: " << message;
    EXPECT_EQ(found.find('\n'), std::string::npos) << found;
  }
}

TEST(Configuration, RefusesWhatIsNotAConfiguration) {
  EXPECT_EQ(error_of(""), "config.yaml: holds 0 documents, expected one Configuration of config.kueue.x-k8s.io");
  EXPECT_EQ(error_of(kHead + "---\n" + kHead),
            "config.yaml: holds 2 documents, expected one Configuration of config.kueue.x-k8s.io");
  EXPECT_EQ(error_of("[1]"), "config.yaml: the document: is [1], expected an object");
  EXPECT_EQ(error_of("apiVersion: config.kueue.x-k8s.io/v1beta3\nkind: Configuration"),
            "config.yaml: apiVersion: is \"config.kueue.x-k8s.io/v1beta3\", expected config.kueue.x-k8s.io/v1beta2 or "
            "config.kueue.x-k8s.io/v1beta1");
  EXPECT_EQ(error_of("apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: ConfigMap"),
            "config.yaml: kind: is \"ConfigMap\", expected Configuration");
  EXPECT_TRUE(error_of("a: [").starts_with("config.yaml: ")) << error_of("a: [");
}

TEST(Configuration, RefusesTransformationsThatTakeAway) {
  expect_refused(kHead,
                 {{"resources: {transformations: [{input: a, outputs: {cpu: '-1'}}]}",
                   "resources.transformations[0].outputs[cpu]: is \"-1\", expected a quantity such as 2, 500m or 5Gi, "
                   "not a negative "
                   "one"},
                  {"resources: {transformations: [{input: a, outputs: {pods: 1}}]}",
                   "resources.transformations[0].outputs[pods]: cannot be an output: Berth counts pods itself"}});
}

TEST(Configuration, RefusesWhatIsWrongInVolcanosPart) {
  expect_refused(kHead,
                 {
                     {"topology: {placesTimeout: soon}",
                      "topology.placesTimeout: is \"soon\", expected a duration such as 90s or 1h30m"},
                     {"ownerlessWorkloads: {evictionTimeout: -1s}",
                      "ownerlessWorkloads.evictionTimeout: is \"-1s\", expected a duration of 0s or more"},
                     {"defaultLocalQueues: {localQueueName: a, localQueueNameMode: AsClusterQueue}",
                      "defaultLocalQueues.localQueueName: is set, and localQueueNameMode is AsClusterQueue; remove "
                      "one of them"},
                     {"defaultLocalQueues: {localQueueName: A}",
                      "defaultLocalQueues.localQueueName: is \"A\", expected the name of a LocalQueue"},
                     {"ownerlessWorkloads: {timeout: 5m}",
                      "ownerlessWorkloads.timeout: unknown field; \"ownerlessWorkloads\" has evictionTimeout"},
                     {"topology: {timeout: 5m}", "topology.timeout: unknown field; \"topology\" has placesTimeout"},
                     {"volcano: true", "volcano: is true, expected an object"},
                     {"volcano: {enabled: maybe}", "volcano.enabled: is \"maybe\", expected true or false"},
                     {"volcano: {maxQueueDepth: 5}",
                      "volcano.maxQueueDepth: unknown field; \"volcano\" has enabled, flavor, ancestorReclaimLevel, "
                      "admission"},
                     {"volcano: {flavor: ''}", "volcano.flavor: is \"\", expected the name of a ResourceFlavor: "},
                     {"volcano: {flavor: A_b}", "volcano.flavor: is \"A_b\", expected the name of a ResourceFlavor: "},
                     {"volcano: {ancestorReclaimLevel: -1}",
                      "volcano.ancestorReclaimLevel: is -1, expected an integer from 0 to 2147483647"},
                     {"volcano: {admission: {maxQueueDepth: 0}}",
                      "volcano.admission.maxQueueDepth: is 0, expected an integer from 1 to 2147483647"},
                     {"volcano: {admission: {leafCheck: true}}",
                      "volcano.admission.leafCheck: unknown field; \"volcano.admission\" has maxQueueDepth, "},
                 });
}

TEST(Configuration, NamesUnknownFieldsWithTheirPath) {
  expect_refused(
      kHead,
      {
          {"waitForPodReady: {}",
           "waitForPodReady: unknown field; at the top there are kind, apiVersion, namespace, webhook"},
          {"waitForPodsReady: {requeuingStrategy: {timeStamp: Eviction}}",
           "waitForPodsReady.requeuingStrategy.timeStamp: unknown field; \"waitForPodsReady.requeuingStrategy\" has "
           "timestamp, "
           "backoffLimitCount, backoffBaseSeconds, backoffMaxSeconds"},
          {"waitForPodsReady: {enable: true}", "waitForPodsReady.enable: unknown field"},
          {"fairSharing: {enable: true}", "fairSharing.enable: unknown field"},
          {"queueVisibility: {}", "queueVisibility: unknown field"},
          {"integrations: {podOptions: {}}", "integrations.podOptions: unknown field"},
          {"webhook: {ports: 1}", "webhook.ports: unknown field"},
          {"leaderElection: {lease: 1s}", "leaderElection.lease: unknown field"},
          {"metrics: {localQueueMetrics: {selector: {}}}", "metrics.localQueueMetrics.selector: unknown field"},
          {"health: {x: 1}", "health.x: unknown field"},
          {"controller: {x: 1}", "controller.x: unknown field"},
          {"tls: {maxVersion: VersionTLS13}", "tls.maxVersion: unknown field"},
          {"internalCertManagement: {x: 1}", "internalCertManagement.x: unknown field"},
          {"clientConnection: {QPS: 1}", "clientConnection.QPS: unknown field"},
          {"multiKueue: {x: 1}", "multiKueue.x: unknown field"},
          {"resources: {transformations: [{input: cpu, output: {}}]}",
           "resources.transformations[0].output: unknown field"},
          {"objectRetentionPolicies: {workload: {}}", "objectRetentionPolicies.workload: unknown field"},
          {"objectRetentionPolicies: {workloads: {after: 1s}}",
           "objectRetentionPolicies.workloads.after: unknown field"},
          {"visibilityServer: {port: 1}", "visibilityServer.port: unknown field"},
          {"managedJobsNamespaceSelector: {matchLabel: {}}", "managedJobsNamespaceSelector.matchLabel: unknown field"},
          {"managedJobsNamespaceSelector: {matchExpressions: [{key: a, op: In}]}",
           "managedJobsNamespaceSelector.matchExpressions[0].op: unknown field"},
      });
}

TEST(Configuration, NamesWrongTypesAndValues) {
  expect_refused(
      kHead,
      {
          {"namespace: Batch",
           "namespace: is \"Batch\", expected the name of a namespace: a lowercase RFC 1123 label must consist"},
          {"namespace: a/b",
           "namespace: is \"a/b\", expected the name of a namespace: a lowercase RFC 1123 label must consist"},
          {"webhook: 9443", "webhook: is 9443, expected an object"},
          {"webhook: {port: 0}", "webhook.port: is 0, expected an integer from 1 to 65535"},
          {"webhook: {port: 65536}", "webhook.port: is 65536, expected an integer from 1 to 65535"},
          {"webhook: {port: \"9443\"}", "webhook.port: is \"9443\", expected an integer"},
          {"webhook: {host: 1}", "webhook.host: is 1, expected a text"},
          {"leaderElection: {leaderElect: \"yes\"}", "leaderElection.leaderElect: is \"yes\", expected true or false"},
          {"leaderElection: {resourceName: A}",
           "leaderElection.resourceName: is \"A\", expected a name: a lowercase RFC 1123 subdomain"},
          {"leaderElection: {resourceNamespace: a.b}", "leaderElection.resourceNamespace: is \"a.b\", expected"},
          {"leaderElection: {resourceLock: endpoints}",
           "leaderElection.resourceLock: is \"endpoints\", expected leases"},
          {"leaderElection: {leaseDuration: 15}",
           "leaderElection.leaseDuration: is 15, expected a duration such as 90s or 1h30m"},
          {"leaderElection: {retryPeriod: 0s}", "leaderElection.retryPeriod: is 0s, expected more"},
          {"leaderElection: {leaseDuration: 10s}",
           "leaderElection.leaseDuration: is 10s, expected more than renewDeadline (10s)"},
          {"leaderElection: {renewDeadline: 2s}",
           "leaderElection.renewDeadline: is 2s, expected more than 1.2 times retryPeriod (2s)"},
          {"metrics: {bindAddress: \"8443\"}",
           "metrics.bindAddress: is \"8443\", expected an address such as \":8443\""},
          {"metrics: {bindAddress: \":70000\"}", "metrics.bindAddress: is \":70000\", expected an address"},
          {"metrics: {bindAddress: \"::1:80\"}", "metrics.bindAddress: is \"::1:80\", expected an address"},
          {"metrics: {customLabels: [{name: 1team}]}",
           "metrics.customLabels[0].name: is \"1team\", expected letters, digits and _, beginning with a letter"},
          {"metrics: {customLabels: [{sourceLabelKey: team}]}", "metrics.customLabels[0].name: is \"\", expected"},
          {"metrics: {customLabels: [{name: a}, {name: a}]}",
           "metrics.customLabels[1].name: is \"a\", which is the name of another label too"},
          {"metrics: {customLabels: [{name: a_}]}", "metrics.customLabels[0].name: is \"a_\", expected"},
          {"metrics: {customLabels: [{name: a, sourceLabelKey: '-'}]}",
           "metrics.customLabels[0].sourceLabelKey: is \"-\", expected"},
          {"metrics: {customLabels: [{name: a, sourceAnnotationKey: a/b/c}]}",
           "metrics.customLabels[0].sourceAnnotationKey: is \"a/b/c\", expected"},
          {"metrics: {customLabels: [{name: a, sourceLabelKey: b, sourceAnnotationKey: c}]}",
           "metrics.customLabels[0].sourceAnnotationKey: cannot be given together with sourceLabelKey"},
          {"metrics: {customLabels: [{name: a, sourceKind: Node}]}",
           "metrics.customLabels[0].sourceKind: is \"Node\", expected ClusterQueue, LocalQueue, Cohort or Workload"},
          {"metrics: {customLabels: [{name: a, sourceKind: Workload}]}",
           "metrics.customLabels[0].trackedValues: is empty, expected 1 to 12 values"},
          {"metrics: {customLabels: [{name: a, sourceKind: Workload, trackedValues: [a, b, c, d, e, f, g, h, i, j, k, "
           "l, "
           "m]}]}",
           "metrics.customLabels[0].trackedValues: has 13 values, expected at most 12"},
          {"metrics: {customLabels: [{name: a, sourceKind: Workload, trackedValues: [x]}, {name: b, sourceKind: "
           "Workload, "
           "trackedValues: [x]}, {name: c, sourceKind: Workload, trackedValues: [x]}]}",
           "metrics.customLabels: has 3 labels of the kind Workload, expected at most 2"},
          {"metrics: {customLabels: [{name: a, trackedValues: [x, x]}]}",
           "metrics.customLabels[0].trackedValues: names a value twice"},
          {"metrics: {customLabels: [{name: a, trackedValues: [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q]}]}",
           "metrics.customLabels[0].trackedValues: has 17 values, expected at most 16"},
          {"metrics: {customLabels: [{name: a}, {name: b}, {name: c}, {name: d}, {name: e}, {name: f}, {name: g}]}",
           "metrics.customLabels: has 7 labels of the kind ClusterQueue, expected at most 6"},
          {"metrics: {customLabels: [{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, "
           "{}]}",
           "metrics.customLabels: has 21 labels, expected at most 20"},
          {"metrics: {customLabels: [{name: a, value: x}]}", "metrics.customLabels[0].value: "},
          {"metrics: {customLabels: {name: a}}", "metrics.customLabels: "},
          {"health: {livenessEndpointName: readyz}", "health.readinessEndpointName: is the livenessEndpointName too"},
          {"controller: {groupKindConcurrency: {Job.batch: 0}}",
           "controller.groupKindConcurrency[Job.batch]: is 0, expected an integer of at least 1"},
          {"controller: {cacheSyncTimeout: -1}", "controller.cacheSyncTimeout: is -1, expected nanoseconds"},
          {"tls: {minVersion: VersionTLS11}",
           "tls.minVersion: is \"VersionTLS11\", expected VersionTLS12 or VersionTLS13"},
          {"tls: {minVersion: VersionTLS13, cipherSuites: [TLS_RSA_WITH_AES_128_CBC_SHA]}",
           "tls.cipherSuites: cannot be chosen with minVersion VersionTLS13; remove one of the two"},
          {"tls: {cipherSuites: [ECDHE-RSA-AES128-GCM-SHA256]}",
           "tls.cipherSuites[0]: is \"ECDHE-RSA-AES128-GCM-SHA256\", expected the IANA name of a suite of TLS 1.2"},
          {"tls: {curvePreferences: [X25519MLKEM768]}",
           "tls.curvePreferences[0]: is \"X25519MLKEM768\", expected X25519"},
          {"internalCertManagement: {webhookServiceName: a.b}",
           "internalCertManagement.webhookServiceName: is \"a.b\", expected"},
          {"clientConnection: {qps: fast}", "clientConnection.qps: is \"fast\", expected a number"},
          {"clientConnection: {burst: -1}", "clientConnection.burst: is -1, expected an integer from 0 to 2147483647"},
          {"visibilityServer: {bindPort: 100000}",
           "visibilityServer.bindPort: is 100000, expected an integer from 1 to 65535"},
          {"manageJobsWithoutQueueName: 1", "manageJobsWithoutQueueName: is 1, expected true or false"},
          {"managedJobsNamespaceSelector: {}",
           "managedJobsNamespaceSelector: matches the namespace kube-system, expected to leave it out"},
          {"managedJobsNamespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: NotIn, "
           "values: [kube-system]}]}",
           "managedJobsNamespaceSelector: matches the namespace kueue-system"},
          {"managedJobsNamespaceSelector: {matchExpressions: [{key: a, operator: Is}]}",
           "managedJobsNamespaceSelector: \"Is\" is not a valid label selector operator"},
          {"managedJobsNamespaceSelector: {matchLabels: {a: 1}}",
           "managedJobsNamespaceSelector.matchLabels[a]: is 1, expected a text"},
          {"integrations: {frameworks: batch/job}",
           "integrations.frameworks: is \"batch/job\", expected a list of texts"},
          {"integrations: {frameworks: [batch/job, batch/jobs]}",
           "integrations.frameworks[1]: is \"batch/jobs\", expected one of batch/job, deployment, "
           "jobset.x-k8s.io/jobset"},
          {"integrations: {frameworks: [batch/job, batch/job]}",
           "integrations.frameworks[1]: lists batch/job again; remove it"},
          {"integrations: {frameworks: [batch/job, deployment]}",
           "integrations.frameworks: lists deployment, which needs pod; add it"},
          {"integrations: {frameworks: [batch/job, statefulset]}",
           "integrations.frameworks: lists statefulset, which needs pod; add it"},
          {"integrations: {externalFrameworks: [Workflow]}",
           "integrations.externalFrameworks[0]: is \"Workflow\", expected Kind.version.group"},
          {"integrations: {externalFrameworks: [Foo.v1.example.com, Foo.v1.example.com]}",
           "integrations.externalFrameworks[1]: lists Foo.v1.example.com again"},
          {"integrations: {labelKeysToCopy: [\"a b\"]}",
           "integrations.labelKeysToCopy[0]: is \"a b\", expected the key of a label"},
          {"featureGates: {PartialAdmission: \"no\"}",
           "featureGates.PartialAdmission: is \"no\", expected true or false"},
      });
}

TEST(Configuration, NamesWhatIsWrongWithPolicies) {
  expect_refused(
      kHead,
      {
          {"waitForPodsReady: {timeout: soon}",
           "waitForPodsReady.timeout: is \"soon\", expected a duration such as 90s or 1h30m"},
          {"waitForPodsReady: {timeout: -1s}",
           "waitForPodsReady.timeout: is \"-1s\", expected a duration of 0s or more"},
          {"waitForPodsReady: {recoveryTimeout: -1s}",
           "waitForPodsReady.recoveryTimeout: is \"-1s\", expected a duration of 0s or more"},
          {"waitForPodsReady: {requeuingStrategy: {timestamp: Evicted}}",
           "waitForPodsReady.requeuingStrategy.timestamp: is \"Evicted\", expected Eviction or Creation"},
          {"waitForPodsReady: {requeuingStrategy: {backoffLimitCount: -1}}",
           "waitForPodsReady.requeuingStrategy.backoffLimitCount: is -1, expected an integer from 0 to 2147483647"},
          {"waitForPodsReady: {requeuingStrategy: {backoffBaseSeconds: 1.5}}",
           "waitForPodsReady.requeuingStrategy.backoffBaseSeconds: is 1.5, expected an integer"},
          {"waitForPodsReady: {requeuingStrategy: {backoffMaxSeconds: -1}}",
           "waitForPodsReady.requeuingStrategy.backoffMaxSeconds: is -1"},
          {"fairSharing: {}",
           "fairSharing.preemptionStrategies: expected [LessThanOrEqualToFinalShare], [LessThanInitialShare] or both"},
          {"fairSharing: {preemptionStrategies: [LessThanInitialShare, LessThanOrEqualToFinalShare]}",
           "fairSharing.preemptionStrategies: expected"},
          {"fairSharing: {preemptionStrategies: [LessThanFinalShare]}", "fairSharing.preemptionStrategies: expected"},
          {"admissionFairSharing: week", "admissionFairSharing: is \"week\", expected an object"},
          {"admissionFairSharing: {usageHalfLifeTime: -1h}",
           "admissionFairSharing.usageHalfLifeTime: is \"-1h\", expected a duration of 0s or more"},
          {"admissionFairSharing: {usageHalfLifeTime: a week}",
           "admissionFairSharing.usageHalfLifeTime: is \"a week\", expected a duration"},
          {"admissionFairSharing: {usageHalfLifeTime: 99999999999999999999h}",
           "admissionFairSharing.usageHalfLifeTime: is \"99999999999999999999h\", expected a duration"},
          {"admissionFairSharing: {usageSamplingInterval: 0s}",
           "admissionFairSharing.usageSamplingInterval: is 0s, expected a duration of more than 0s"},
          {"admissionFairSharing: {usageSamplingInterval: -5m}",
           "admissionFairSharing.usageSamplingInterval: is \"-5m\", expected a duration of 0s or more"},
          {"admissionFairSharing: {usageSamplingInterval: 5}",
           "admissionFairSharing.usageSamplingInterval: is 5, expected a duration"},
          {"admissionFairSharing: {resourceWeights: {cpu: -1}}",
           "admissionFairSharing.resourceWeights[cpu]: is -1, expected a number from 0 to 1000000000"},
          {"admissionFairSharing: {resourceWeights: {cpu: 1000000001}}",
           "admissionFairSharing.resourceWeights[cpu]: is 1000000001, expected a number from 0 to 1000000000"},
          {"admissionFairSharing: {resourceWeights: {cpu: \"2\"}}",
           "admissionFairSharing.resourceWeights[cpu]: is \"2\", expected a number"},
          {"admissionFairSharing: {resourceWeights: [cpu]}",
           "admissionFairSharing.resourceWeights: is [\"cpu\"], expected an object"},
          {"admissionFairSharing: {halfLife: 1h}",
           "admissionFairSharing.halfLife: unknown field; \"admissionFairSharing\" has usageHalfLifeTime, "
           "usageSamplingInterval, resourceWeights"},
          {"admissionFairSharing: {usageHalfLifeTime: 3600}",
           "admissionFairSharing.usageHalfLifeTime: is 3600, expected a duration"},
          {"admissionFairSharing: {usageHalfLifeTime: {hours: 1}}",
           "admissionFairSharing.usageHalfLifeTime: is {\"hours\":1}, expected a duration"},
          {"admissionFairSharing: {usageSamplingInterval: 99999999999999999999h}",
           "admissionFairSharing.usageSamplingInterval: is \"99999999999999999999h\", expected a duration"},
          {"admissionFairSharing: {usageSamplingInterval: true}",
           "admissionFairSharing.usageSamplingInterval: is true, expected a duration"},
          {"admissionFairSharing: {resourceWeights: {cpu: 1e300}}",
           "admissionFairSharing.resourceWeights[cpu]: is 1e+300, expected a number from 0 to 1000000000"},
          {"admissionFairSharing: {resourceWeights: {cpu: null}}",
           "admissionFairSharing.resourceWeights[cpu]: is null, expected a number"},
          {"admissionFairSharing: {resourceWeights: {\"g p u\": 1}}",
           "admissionFairSharing.resourceWeights[g p u]: is \"g p u\", expected the name of a resource"},
          {"resources: {quotaCheckStrategy: Block}",
           "resources.quotaCheckStrategy: is \"Block\", expected BlockUndeclared or IgnoreUndeclared"},
          {"resources: {quotaCheckStrategy: IgnoreUndeclared, excludeResourcePrefixes: [a]}",
           "resources.excludeResourcePrefixes: cannot be used with quotaCheckStrategy IgnoreUndeclared; remove one of "
           "the two"},
          {"resources: {transformations: [{strategy: Retain}]}", "resources.transformations[0].input: is missing"},
          {"resources: {transformations: [{input: cpu}, {input: cpu}]}",
           "resources.transformations[1].input: is cpu, as of another transformation"},
          {"resources: {transformations: [{input: cpu, strategy: Keep}]}",
           "resources.transformations[0].strategy: is \"Keep\", expected Retain or Replace"},
          {"resources: {transformations: [{input: cpu, outputs: {a: lots}}]}",
           "resources.transformations[0].outputs[a]: is \"lots\", expected a quantity such as 2, 500m or 5Gi"},
          {"resources: {deviceClassMappings: [a]}", "resources.deviceClassMappings[0]: is \"a\", expected an object"},
          {"objectRetentionPolicies: {workloads: {afterFinished: -1s}}",
           "objectRetentionPolicies.workloads.afterFinished: is \"-1s\", expected a duration of 0s or more"},
          {"objectRetentionPolicies: {workloads: {afterDeactivatedByKueue: 5}}",
           "objectRetentionPolicies.workloads.afterDeactivatedByKueue: is 5, expected a duration"},
          {"waitForPodsReady: {maxTimeoutOnWorkload: 0s}",
           "waitForPodsReady.maxTimeoutOnWorkload: is \"0s\", expected a duration of 1s or more"},
          {"waitForPodsReady: {unscheduledTimeout: 5}",
           "waitForPodsReady.unscheduledTimeout: is 5, expected a duration such as 90s or 1h30m"},
          {"waitForPodsReady: {unscheduledTimeout: -1s}",
           "waitForPodsReady.unscheduledTimeout: is \"-1s\", expected a duration of 0s or more"},
          {"waitForPodsReady: {timeout: 5m, unscheduledTimeout: 301s}",
           "waitForPodsReady.unscheduledTimeout: is \"5m1s\", expected at most the timeout, 5m0s"},
          {"multiKueue: {gcInterval: -1s}", "multiKueue.gcInterval: is \"-1s\", expected a duration of 0s or more"},
          {"multiKueue: {origin: 'no label'}", "multiKueue.origin: "},
          {"multiKueue: {incrementalDispatcherConfig: {stepSize: 2}}",
           "multiKueue.incrementalDispatcherConfig: expected only with dispatcherName "
           "kueue.x-k8s.io/multikueue-dispatcher-incremental"},
          {"multiKueue: {dispatcherName: kueue.x-k8s.io/multikueue-dispatcher-incremental, "
           "incrementalDispatcherConfig: {stepSize: 0}}",
           "multiKueue.incrementalDispatcherConfig.stepSize: is 0, expected an integer from 1"},
      });
  expect_refused(kOldHead, {
                               {"queueVisibility: {clusterQueues: {maxCount: 4001}}",
                                "queueVisibility.clusterQueues.maxCount: is 4001, expected an integer from 0 to 4000"},
                               {"queueVisibility: {updateIntervalSeconds: 0}",
                                "queueVisibility.updateIntervalSeconds: is 0, expected an integer from 1"},
                               {"fairSharing: {enable: true, preemptionStrategies: [Any]}",
                                "fairSharing.preemptionStrategies: expected"},
                           });
}

TEST(Configuration, WhatIsOverInTheNewerVersionHasNoEffect) {
  const Configuration c =
      read(kOldHead +
           "queueVisibility: {clusterQueues: {maxCount: 10}}\nintegrations: {podOptions: {namespaceSelector: {}}}\n"
           "pprofBindAddress: \":8083\"\n");
  EXPECT_EQ(c.warnings,
            (std::vector<std::string>{
                "pprofBindAddress: has no effect: there are no Go profiles to serve",
                "integrations.podOptions: has no effect: managedJobsNamespaceSelector selects the namespaces of pods",
                "queueVisibility: has no effect: ask the visibility API for pending workloads"}));
}

TEST(Configuration, WhatKueueHasAndBerthDoesNotIsReported) {
  const auto reported = [](const std::string& part) {
    std::vector<std::string> lines;
    for (const auto& each : read(kHead + part).not_honoured) {
      EXPECT_TRUE(each.line.starts_with(each.setting + ": Berth does not have it: ")) << each.line;
      lines.push_back(each.setting);
    }
    return lines;
  };
  EXPECT_EQ(reported("waitForPodsReady: {timeout: 5m, unscheduledTimeout: 5m, maxTimeoutOnWorkload: 2h}"),
            std::vector<std::string>());
  EXPECT_EQ(reported("multiKueue: {externalFrameworks: []}"),
            std::vector<std::string>{"multiKueue.externalFrameworks"});
  EXPECT_EQ(reported("multiKueue: {origin: here, workerLostTimeout: 1m, dispatcherName: example.com/mine}"),
            std::vector<std::string>());
}

TEST(Configuration, OneLineTellsAllThatIsWrong) {
  EXPECT_EQ(
      error_of(kHead + "webhook: {port: 0}\nhealth: {x: 1}\nmultiKueue: {origin: 1}"),
      "config.yaml: webhook.port: is 0, expected an integer from 1 to 65535; health.x: unknown field; \"health\" has "
      "healthProbeBindAddress, readinessEndpointName, livenessEndpointName; multiKueue.origin: is 1, expected a text");
  std::string many = kHead;
  for (int i = 0; i < 11; ++i) many += "x" + std::to_string(i) + ": 1\n";
  EXPECT_TRUE(error_of(many).ends_with("; and 3 more")) << error_of(many);
}

TEST(Configuration, AKeyWithALineBreakStartsNoLine) {
  EXPECT_TRUE(error_of(kHead + "\"a\\nb\": 1").starts_with("config.yaml: a?b: unknown field;"))
      << error_of(kHead + "\"a\\nb\": 1");
}

TEST(Configuration, LongValuesAreCut) {
  EXPECT_EQ(error_of(kHead + "webhook: {port: \"" + std::string(100, 'x') + "\"}"),
            "config.yaml: webhook.port: is \"" + std::string(59, 'x') + "..., expected an integer from 1 to 65535");
}

}  // namespace
}  // namespace berth::api::config::configuration_refusals_test
