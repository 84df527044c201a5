// Messages of the kinds that application manifests contain.
#include "embedded/apiserver/http/protobuf_messages.h"

namespace berth::apiserver::http {

// Source: see protobuf_messages.cpp; in addition kube-aggregator's generated.proto. Where two groups have a message
// of the same name, one of them uses the name of its type in embedded/apiserver/builtin/*.yaml.
constexpr std::string_view kApplicationMessages = R"(
APIService: 1 metadata ObjectMeta, 2 spec APIServiceSpec, 3 status APIServiceStatus;
APIServiceCondition: 1 type string, 2 status string, 3 lastTransitionTime time, 4 reason string, 5 message
  string;
APIServiceReference: 1 namespace string, 2 name string, 3 port int;
APIServiceSpec: 1 service APIServiceReference, 2 group string, 3 version string, 4 insecureSkipTLSVerify
  bool, 5 caBundle bytes, 7 groupPriorityMinimum int, 8 versionPriority int;
APIServiceStatus: 1 conditions []APIServiceCondition;
AggregationRule: 1 clusterRoleSelectors []LabelSelector;
ClientIPConfig: 1 timeoutSeconds int;
ClusterRole: 1 metadata ObjectMeta, 2 rules []PolicyRule, 3 aggregationRule AggregationRule;
ClusterRoleBinding: 1 metadata ObjectMeta, 2 subjects []Subject, 3 roleRef RoleRef;
Condition: 1 type string, 2 status string, 3 observedGeneration int, 4 lastTransitionTime time, 5 reason
  string, 6 message string;
Deployment: 1 metadata ObjectMeta, 2 spec DeploymentSpec, 3 status DeploymentStatus;
DeploymentCondition: 1 type string, 2 status string, 4 reason string, 5 message string, 6 lastUpdateTime
  time, 7 lastTransitionTime time;
DeploymentSpec: 1 replicas int, 2 selector LabelSelector, 3 template PodTemplateSpec, 4 strategy
  DeploymentStrategy, 5 minReadySeconds int, 6 revisionHistoryLimit int, 7 paused bool, 9
  progressDeadlineSeconds int;
DeploymentStatus: 1 observedGeneration int, 2 replicas int, 3 updatedReplicas int, 4 availableReplicas int,
  5 unavailableReplicas int, 6 conditions []DeploymentCondition, 7 readyReplicas int, 8 collisionCount int,
  9 terminatingReplicas int;
DeploymentStrategy: 1 type string, 2 rollingUpdate RollingUpdateDeployment;
ExemptPriorityLevelConfiguration: 1 nominalConcurrencyShares int, 2 lendablePercent int;
FlowDistinguisherMethod: 1 type string;
FlowSchema: 1 metadata ObjectMeta, 2 spec FlowSchemaSpec, 3 status FlowSchemaStatus;
FlowSchemaCondition: 1 type string, 2 status string, 3 lastTransitionTime time, 4 reason string, 5 message
  string;
FlowSchemaSpec: 1 priorityLevelConfiguration PriorityLevelConfigurationReference, 2 matchingPrecedence int,
  3 distinguisherMethod FlowDistinguisherMethod, 4 rules []PolicyRulesWithSubjects;
FlowSchemaStatus: 1 conditions []FlowSchemaCondition;
FlowSubject: 1 kind string, 2 user UserSubject, 3 group GroupSubject, 4 serviceAccount
  ServiceAccountSubject;
GroupSubject: 1 name string;
IPBlock: 1 cidr string, 2 except []string;
LimitResponse: 1 type string, 2 queuing QueuingConfiguration;
LimitedPriorityLevelConfiguration: 1 nominalConcurrencyShares int, 2 limitResponse LimitResponse, 3
  lendablePercent int, 4 borrowingLimitPercent int;
LoadBalancerIngress: 1 ip string, 2 hostname string, 3 ipMode string, 4 ports []PortStatus;
LoadBalancerStatus: 1 ingress []LoadBalancerIngress;
MatchCondition: 1 name string, 2 expression string;
MutatingWebhook: 1 name string, 2 clientConfig WebhookClientConfig, 3 rules []RuleWithOperations, 4
  failurePolicy string, 5 namespaceSelector LabelSelector, 6 sideEffects string, 7 timeoutSeconds int, 8
  admissionReviewVersions []string, 9 matchPolicy string, 10 reinvocationPolicy string, 11 objectSelector
  LabelSelector, 12 matchConditions []MatchCondition;
MutatingWebhookConfiguration: 1 metadata ObjectMeta, 2 webhooks []MutatingWebhook;
NetworkPolicy: 1 metadata ObjectMeta, 2 spec NetworkPolicySpec;
NetworkPolicyEgressRule: 1 ports []NetworkPolicyPort, 2 to []NetworkPolicyPeer;
NetworkPolicyIngressRule: 1 ports []NetworkPolicyPort, 2 from []NetworkPolicyPeer;
NetworkPolicyPeer: 1 podSelector LabelSelector, 2 namespaceSelector LabelSelector, 3 ipBlock IPBlock;
NetworkPolicyPort: 1 protocol string, 2 port intOrString, 3 endPort int;
NetworkPolicySpec: 1 podSelector LabelSelector, 2 ingress []NetworkPolicyIngressRule, 3 egress
  []NetworkPolicyEgressRule, 4 policyTypes []string;
NonResourcePolicyRule: 1 verbs []string, 6 nonResourceURLs []string;
PersistentVolumeClaim: 1 metadata ObjectMeta, 2 spec PersistentVolumeClaimSpec, 3 status
  PersistentVolumeClaimStatus;
PersistentVolumeClaimStatus: 1 phase string, 2 accessModes []string, 3 capacity {}quantity;
PodDisruptionBudget: 1 metadata ObjectMeta, 2 spec PodDisruptionBudgetSpec, 3 status
  PodDisruptionBudgetStatus;
PodDisruptionBudgetSpec: 1 minAvailable intOrString, 2 selector LabelSelector, 3 maxUnavailable intOrString,
  4 unhealthyPodEvictionPolicy string;
PodDisruptionBudgetStatus: 1 observedGeneration int, 2 disruptedPods {}time, 3 disruptionsAllowed int, 4
  currentHealthy int, 5 desiredHealthy int, 6 expectedPods int, 7 conditions []Condition;
PolicyRule: 1 verbs []string, 2 apiGroups []string, 3 resources []string, 4 resourceNames []string, 5
  nonResourceURLs []string;
PolicyRulesWithSubjects: 1 subjects []FlowSubject, 2 resourceRules []ResourcePolicyRule, 3 nonResourceRules
  []NonResourcePolicyRule;
PortStatus: 1 port int, 2 protocol string, 3 error string;
PriorityLevelConfiguration: 1 metadata ObjectMeta, 2 spec PriorityLevelConfigurationSpec, 3 status
  PriorityLevelConfigurationStatus;
PriorityLevelConfigurationCondition: 1 type string, 2 status string, 3 lastTransitionTime time, 4 reason
  string, 5 message string;
PriorityLevelConfigurationReference: 1 name string;
PriorityLevelConfigurationSpec: 1 type string, 2 limited LimitedPriorityLevelConfiguration, 3 exempt
  ExemptPriorityLevelConfiguration;
PriorityLevelConfigurationStatus: 1 conditions []PriorityLevelConfigurationCondition;
QueuingConfiguration: 1 queues int, 2 handSize int, 3 queueLengthLimit int;
ReplicaSet: 1 metadata ObjectMeta, 2 spec ReplicaSetSpec, 3 status ReplicaSetStatus;
ReplicaSetCondition: 1 type string, 2 status string, 3 lastTransitionTime time, 4 reason string, 5 message
  string;
ReplicaSetSpec: 1 replicas int, 2 selector LabelSelector, 3 template PodTemplateSpec, 4 minReadySeconds int;
ReplicaSetStatus: 1 replicas int, 2 fullyLabeledReplicas int, 3 observedGeneration int, 4 readyReplicas int, 5
  availableReplicas int, 6 conditions []ReplicaSetCondition, 7 terminatingReplicas int;
ResourcePolicyRule: 1 verbs []string, 2 apiGroups []string, 3 resources []string, 4 clusterScope bool, 5
  namespaces []string;
Role: 1 metadata ObjectMeta, 2 rules []PolicyRule;
RoleBinding: 1 metadata ObjectMeta, 2 subjects []Subject, 3 roleRef RoleRef;
RoleRef: 1 apiGroup string, 2 kind string, 3 name string;
RollingUpdateDeployment: 1 maxUnavailable intOrString, 2 maxSurge intOrString;
RollingUpdateStatefulSetStrategy: 1 partition int, 2 maxUnavailable intOrString;
Rule: 1 apiGroups []string, 2 apiVersions []string, 3 resources []string, 4 scope string;
RuleWithOperations: 1 operations []string, 2 . Rule;
Service: 1 metadata ObjectMeta, 2 spec ServiceSpec, 3 status ServiceStatus;
ServiceAccountSubject: 1 namespace string, 2 name string;
ServicePort: 1 name string, 2 protocol string, 3 port int, 4 targetPort intOrString, 5 nodePort int, 6
  appProtocol string;
ServiceSpec: 1 ports []ServicePort, 2 selector {}string, 3 clusterIP string, 4 type string, 5 externalIPs
  []string, 7 sessionAffinity string, 8 loadBalancerIP string, 9 loadBalancerSourceRanges []string, 10
  externalName string, 11 externalTrafficPolicy string, 12 healthCheckNodePort int, 13
  publishNotReadyAddresses bool, 14 sessionAffinityConfig SessionAffinityConfig, 17 ipFamilyPolicy string,
  18 clusterIPs []string, 19 ipFamilies []string, 20 allocateLoadBalancerNodePorts bool, 21
  loadBalancerClass string, 22 internalTrafficPolicy string, 23 trafficDistribution string;
ServiceStatus: 1 loadBalancer LoadBalancerStatus, 2 conditions []Condition;
SessionAffinityConfig: 1 clientIP ClientIPConfig;
StatefulSet: 1 metadata ObjectMeta, 2 spec StatefulSetSpec, 3 status StatefulSetStatus;
StatefulSetCondition: 1 type string, 2 status string, 3 lastTransitionTime time, 4 reason string, 5 message
  string;
StatefulSetOrdinals: 1 start int;
StatefulSetPersistentVolumeClaimRetentionPolicy: 1 whenDeleted string, 2 whenScaled string;
StatefulSetSpec: 1 replicas int, 2 selector LabelSelector, 3 template PodTemplateSpec, 4 volumeClaimTemplates
  []PersistentVolumeClaim, 5 serviceName string, 6 podManagementPolicy string, 7 updateStrategy
  StatefulSetUpdateStrategy, 8 revisionHistoryLimit int, 9 minReadySeconds int, 10
  persistentVolumeClaimRetentionPolicy StatefulSetPersistentVolumeClaimRetentionPolicy, 11 ordinals
  StatefulSetOrdinals;
StatefulSetStatus: 1 observedGeneration int, 2 replicas int, 3 readyReplicas int, 4 currentReplicas int, 5
  updatedReplicas int, 6 currentRevision string, 7 updateRevision string, 9 collisionCount int, 10 conditions
  []StatefulSetCondition, 11 availableReplicas int;
StatefulSetUpdateStrategy: 1 type string, 2 rollingUpdate RollingUpdateStatefulSetStrategy;
Subject: 1 kind string, 2 apiGroup string, 3 name string, 4 namespace string;
UserSubject: 1 name string;
ValidatingWebhook: 1 name string, 2 clientConfig WebhookClientConfig, 3 rules []RuleWithOperations, 4
  failurePolicy string, 5 namespaceSelector LabelSelector, 6 sideEffects string, 7 timeoutSeconds int, 8
  admissionReviewVersions []string, 9 matchPolicy string, 10 objectSelector LabelSelector, 11
  matchConditions []MatchCondition;
ValidatingWebhookConfiguration: 1 metadata ObjectMeta, 2 webhooks []ValidatingWebhook;
WebhookClientConfig: 1 service WebhookServiceReference, 2 caBundle bytes, 3 url string;
WebhookServiceReference: 1 namespace string, 2 name string, 3 path string, 4 port int;
)";

std::string_view protobuf_application_notation() { return kApplicationMessages; }

}  // namespace berth::apiserver::http
