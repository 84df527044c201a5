#include "embedded/apiserver/http/protobuf_messages.h"

namespace berth::apiserver::http {

// Source: the published protocol buffer definitions of Kubernetes 1.36
// (https://github.com/kubernetes/api and apimachinery, generated.proto); the numbers never change.

constexpr std::string_view kMessages1 = R"(
AWSElasticBlockStoreVolumeSource: 1 volumeID string, 2 fsType string, 3 partition int, 4 readOnly bool;
Affinity: 1 nodeAffinity NodeAffinity, 2 podAffinity PodAffinity, 3 podAntiAffinity PodAntiAffinity;
AppArmorProfile: 1 type string, 2 localhostProfile string;
AttachedVolume: 1 name string, 2 devicePath string;
AzureDiskVolumeSource: 1 diskName string, 2 diskURI string, 3 cachingMode string, 4 fsType string, 5
  readOnly bool, 6 kind string;
AzureFileVolumeSource: 1 secretName string, 2 shareName string, 3 readOnly bool;
Binding: 1 metadata ObjectMeta, 2 target ObjectReference;
BoundObjectReference: 1 kind string, 2 apiVersion string, 3 name string, 4 uid string;
CSIVolumeSource: 1 driver string, 2 readOnly bool, 3 fsType string, 4 volumeAttributes {}string, 5
  nodePublishSecretRef LocalObjectReference;
Capabilities: 1 add []string, 2 drop []string;
CephFSVolumeSource: 1 monitors []string, 2 path string, 3 user string, 4 secretFile string, 5 secretRef
  LocalObjectReference, 6 readOnly bool;
CinderVolumeSource: 1 volumeID string, 2 fsType string, 3 readOnly bool, 4 secretRef LocalObjectReference;
ClusterTrustBundleProjection: 1 name string, 2 signerName string, 3 labelSelector LabelSelector, 4 path
  string, 5 optional bool, 6 user int;
ConfigMap: 1 metadata ObjectMeta, 2 data {}string, 3 binaryData {}bytes, 4 immutable bool;
ConfigMapEnvSource: 1 . LocalObjectReference, 2 optional bool;
ConfigMapKeySelector: 1 . LocalObjectReference, 2 key string, 3 optional bool;
ConfigMapNodeConfigSource: 1 namespace string, 2 name string, 3 uid string, 4 resourceVersion string, 5
  kubeletConfigKey string;
ConfigMapProjection: 1 . LocalObjectReference, 2 items []KeyToPath, 4 optional bool;
ConfigMapVolumeSource: 1 . LocalObjectReference, 2 items []KeyToPath, 3 defaultMode int, 4 optional bool,
  5 defaultUser int;
Container: 1 name string, 2 image string, 3 command []string, 4 args []string, 5 workingDir string, 6
  ports []ContainerPort, 7 env []EnvVar, 8 resources ResourceRequirements, 9 volumeMounts []VolumeMount,
  10 livenessProbe Probe, 11 readinessProbe Probe, 12 lifecycle Lifecycle, 13 terminationMessagePath
  string, 14 imagePullPolicy string, 15 securityContext SecurityContext, 16 stdin bool, 17 stdinOnce bool,
  18 tty bool, 19 envFrom []EnvFromSource, 20 terminationMessagePolicy string, 21 volumeDevices
  []VolumeDevice, 22 startupProbe Probe, 23 resizePolicy []ContainerResizePolicy, 24 restartPolicy string,
  25 restartPolicyRules []ContainerRestartRule;
ContainerExtendedResourceRequest: 1 containerName string, 2 resourceName string, 3 requestName string;
ContainerImage: 1 names []string, 2 sizeBytes int;
ContainerPort: 1 name string, 2 hostPort int, 3 containerPort int, 4 protocol string, 5 hostIP string;
ContainerResizePolicy: 1 resourceName string, 2 restartPolicy string;
ContainerRestartRule: 1 action string, 2 exitCodes ContainerRestartRuleOnExitCodes;
ContainerRestartRuleOnExitCodes: 1 operator string, 2 values []int;
ContainerState: 1 waiting ContainerStateWaiting, 2 running ContainerStateRunning, 3 terminated
  ContainerStateTerminated;
ContainerStateRunning: 1 startedAt time;
ContainerStateTerminated: 1 exitCode int, 2 signal int, 3 reason string, 4 message string, 5 startedAt
  time, 6 finishedAt time, 7 containerID string;
ContainerStateWaiting: 1 reason string, 2 message string;
ContainerStatus: 1 name string, 2 state ContainerState, 3 lastState ContainerState, 4 ready bool, 5
  restartCount int, 6 image string, 7 imageID string, 8 containerID string, 9 started bool, 10
  allocatedResources {}quantity, 11 resources ResourceRequirements, 12 volumeMounts []VolumeMountStatus,
  13 user ContainerUser, 14 allocatedResourcesStatus []ResourceStatus, 15 stopSignal string;
ContainerUser: 1 linux LinuxContainerUser;
DaemonEndpoint: 1 Port int;
DeleteOptions: 1 gracePeriodSeconds int, 2 preconditions Preconditions, 3 orphanDependents bool, 4
  propagationPolicy string, 5 dryRun []string, 6 ignoreStoreReadErrorWithClusterBreakingPotential bool;
DownwardAPIProjection: 1 items []DownwardAPIVolumeFile;
DownwardAPIVolumeFile: 1 path string, 2 fieldRef ObjectFieldSelector, 3 resourceFieldRef
  ResourceFieldSelector, 4 mode int, 5 user int;
DownwardAPIVolumeSource: 1 items []DownwardAPIVolumeFile, 2 defaultMode int, 3 defaultUser int;
EmptyDirVolumeSource: 1 medium string, 2 sizeLimit quantity, 3 mode int;
EnvFromSource: 1 prefix string, 2 configMapRef ConfigMapEnvSource, 3 secretRef SecretEnvSource;
EnvVar: 1 name string, 2 value string, 3 valueFrom EnvVarSource;
EnvVarSource: 1 fieldRef ObjectFieldSelector, 2 resourceFieldRef ResourceFieldSelector, 3 configMapKeyRef
  ConfigMapKeySelector, 4 secretKeyRef SecretKeySelector, 5 fileKeyRef FileKeySelector;
EphemeralContainer: 1 . EphemeralContainerCommon, 2 targetContainerName string;
EphemeralContainerCommon: 1 name string, 2 image string, 3 command []string, 4 args []string, 5 workingDir
  string, 6 ports []ContainerPort, 7 env []EnvVar, 8 resources ResourceRequirements, 9 volumeMounts
  []VolumeMount, 10 livenessProbe Probe, 11 readinessProbe Probe, 12 lifecycle Lifecycle, 13
  terminationMessagePath string, 14 imagePullPolicy string, 15 securityContext SecurityContext, 16 stdin
  bool, 17 stdinOnce bool, 18 tty bool, 19 envFrom []EnvFromSource, 20 terminationMessagePolicy string, 21
  volumeDevices []VolumeDevice, 22 startupProbe Probe, 23 resizePolicy []ContainerResizePolicy, 24
  restartPolicy string, 25 restartPolicyRules []ContainerRestartRule;
EphemeralVolumeSource: 1 volumeClaimTemplate PersistentVolumeClaimTemplate;
Event: 1 metadata ObjectMeta, 2 involvedObject ObjectReference, 3 reason string, 4 message string, 5
  source EventSource, 6 firstTimestamp time, 7 lastTimestamp time, 8 count int, 9 type string, 10
  eventTime microTime, 11 series EventSeries, 12 action string, 13 related ObjectReference, 14
  reportingComponent string, 15 reportingInstance string;
EventSeries: 1 count int, 2 lastObservedTime microTime;
EventSource: 1 component string, 2 host string;
EventsEvent: 1 metadata ObjectMeta, 2 eventTime microTime, 3 series EventsEventSeries, 4
  reportingController string, 5 reportingInstance string, 6 action string, 7 reason string, 8 regarding
  ObjectReference, 9 related ObjectReference, 10 note string, 11 type string, 12 deprecatedSource
  EventSource, 13 deprecatedFirstTimestamp time, 14 deprecatedLastTimestamp time, 15 deprecatedCount int;
EventsEventSeries: 1 count int, 2 lastObservedTime microTime;
Eviction: 1 metadata ObjectMeta, 2 deleteOptions DeleteOptions;
EvictionResponder: 1 name string, 2 priority int;
ExecAction: 1 command []string;
FCVolumeSource: 1 targetWWNs []string, 2 lun int, 3 fsType string, 4 readOnly bool, 5 wwids []string;
FieldSelectorAttributes: 1 rawSelector string, 2 requirements []FieldSelectorRequirement;
FieldSelectorRequirement: 1 key string, 2 operator string, 3 values []string;
FileKeySelector: 1 volumeName string, 2 path string, 3 key string, 4 optional bool;
FlexVolumeSource: 1 driver string, 2 fsType string, 3 secretRef LocalObjectReference, 4 readOnly bool, 5
  options {}string;
FlockerVolumeSource: 1 datasetName string, 2 datasetUUID string;
GCEPersistentDiskVolumeSource: 1 pdName string, 2 fsType string, 3 partition int, 4 readOnly bool;
GRPCAction: 1 port int, 2 service string, 3 mode string;
GitRepoVolumeSource: 1 repository string, 2 revision string, 3 directory string;
GlusterfsVolumeSource: 1 endpoints string, 2 path string, 3 readOnly bool;
HTTPGetAction: 1 path string, 2 port intOrString, 3 host string, 4 scheme string, 5 httpHeaders
  []HTTPHeader, 6 protocol string;
HTTPHeader: 1 name string, 2 value string;
HostAlias: 1 ip string, 2 hostnames []string;
HostIP: 1 ip string;
HostPathVolumeSource: 1 path string, 2 type string;
ISCSIVolumeSource: 1 targetPortal string, 2 iqn string, 3 lun int, 4 iscsiInterface string, 5 fsType
  string, 6 readOnly bool, 7 portals []string, 8 chapAuthDiscovery bool, 10 secretRef
  LocalObjectReference, 11 chapAuthSession bool, 12 initiatorName string;
ImageVolumeSource: 1 reference string, 2 pullPolicy string;
ImageVolumeStatus: 1 imageRef string;
Job: 1 metadata ObjectMeta, 2 spec JobSpec, 3 status JobStatus;
JobCondition: 1 type string, 2 status string, 3 lastProbeTime time, 4 lastTransitionTime time, 5 reason
  string, 6 message string;
JobSpec: 1 parallelism int, 2 completions int, 3 activeDeadlineSeconds int, 4 selector LabelSelector, 5
  manualSelector bool, 6 template PodTemplateSpec, 7 backoffLimit int, 8 ttlSecondsAfterFinished int, 9
  completionMode string, 10 suspend bool, 11 podFailurePolicy PodFailurePolicy, 12 backoffLimitPerIndex
  int, 13 maxFailedIndexes int, 14 podReplacementPolicy string, 15 managedBy string, 16 successPolicy
  SuccessPolicy;
JobStatus: 1 conditions []JobCondition, 2 startTime time, 3 completionTime time, 4 active int, 5 succeeded
  int, 6 failed int, 7 completedIndexes string, 8 uncountedTerminatedPods UncountedTerminatedPods, 9 ready
  int, 10 failedIndexes string, 11 terminating int;
KeyToPath: 1 key string, 2 path string, 3 mode int, 4 user int;
LabelSelector: 1 matchLabels {}string, 2 matchExpressions []LabelSelectorRequirement;
LabelSelectorAttributes: 1 rawSelector string, 2 requirements []LabelSelectorRequirement;
LabelSelectorRequirement: 1 key string, 2 operator string, 3 values []string;
Lease: 1 metadata ObjectMeta, 2 spec LeaseSpec;
LeaseSpec: 1 holderIdentity string, 2 leaseDurationSeconds int, 3 acquireTime microTime, 4 renewTime
  microTime, 5 leaseTransitions int, 6 strategy string, 7 preferredHolder string;
Lifecycle: 1 postStart LifecycleHandler, 2 preStop LifecycleHandler, 3 stopSignal string;
LifecycleHandler: 1 exec ExecAction, 2 httpGet HTTPGetAction, 3 tcpSocket TCPSocketAction, 4 sleep
  SleepAction;
LimitRange: 1 metadata ObjectMeta, 2 spec LimitRangeSpec;
LimitRangeItem: 1 type string, 2 max {}quantity, 3 min {}quantity, 4 default {}quantity, 5 defaultRequest
  {}quantity, 6 maxLimitRequestRatio {}quantity;
LimitRangeSpec: 1 limits []LimitRangeItem;
LinuxContainerUser: 1 uid int, 2 gid int, 3 supplementalGroups []int;
LocalObjectReference: 1 name string;
LocalSubjectAccessReview: 1 metadata ObjectMeta, 2 spec SubjectAccessReviewSpec, 3 status
  SubjectAccessReviewStatus;
ManagedFieldsEntry: 1 manager string, 2 operation string, 3 apiVersion string, 4 time time, 6 fieldsType
  string, 7 fieldsV1 json, 8 subresource string;
NFSVolumeSource: 1 server string, 2 path string, 3 readOnly bool;
Namespace: 1 metadata ObjectMeta, 2 spec NamespaceSpec, 3 status NamespaceStatus;
NamespaceCondition: 1 type string, 2 status string, 4 lastTransitionTime time, 5 reason string, 6 message
  string;
NamespaceSpec: 1 finalizers []string;
NamespaceStatus: 1 phase string, 2 conditions []NamespaceCondition;
Node: 1 metadata ObjectMeta, 2 spec NodeSpec, 3 status NodeStatus;
NodeAddress: 1 type string, 2 address string;
NodeAffinity: 1 requiredDuringSchedulingIgnoredDuringExecution NodeSelector, 2
  preferredDuringSchedulingIgnoredDuringExecution []PreferredSchedulingTerm;
NodeAllocatableMappedResources: 1 name string, 2 quantity quantity;
NodeAllocatableOverheadResources: 1 name string, 2 perPod quantity, 3 perContainer quantity;
NodeAllocatableResourceClaimStatus: 1 resourceClaimName string, 2 containers []string, 4 mapping
  []NodeAllocatableMappedResources, 5 overhead []NodeAllocatableOverheadResources;
NodeCondition: 1 type string, 2 status string, 3 lastHeartbeatTime time, 4 lastTransitionTime time, 5
  reason string, 6 message string;
NodeConfigSource: 2 configMap ConfigMapNodeConfigSource;
NodeConfigStatus: 1 assigned NodeConfigSource, 2 active NodeConfigSource, 3 lastKnownGood
  NodeConfigSource, 4 error string;
NodeDaemonEndpoints: 1 kubeletEndpoint DaemonEndpoint;
NodeFeatures: 1 supplementalGroupsPolicy bool;
NodePodPreemptionPolicy: 1 disableResizePreemption []string;
NodeRuntimeHandler: 1 name string, 2 features NodeRuntimeHandlerFeatures;
NodeRuntimeHandlerFeatures: 1 recursiveReadOnlyMounts bool, 2 userNamespaces bool;
NodeSelector: 1 nodeSelectorTerms []NodeSelectorTerm;
NodeSelectorRequirement: 1 key string, 2 operator string, 3 values []string;
NodeSelectorTerm: 1 matchExpressions []NodeSelectorRequirement, 2 matchFields []NodeSelectorRequirement;
NodeSpec: 1 podCIDR string, 2 externalID string, 3 providerID string, 4 unschedulable bool, 5 taints
  []Taint, 6 configSource NodeConfigSource, 7 podCIDRs []string, 8 podPreemptionPolicy
  NodePodPreemptionPolicy;
NodeStatus: 1 capacity {}quantity, 2 allocatable {}quantity, 3 phase string, 4 conditions []NodeCondition,
  5 addresses []NodeAddress, 6 daemonEndpoints NodeDaemonEndpoints, 7 nodeInfo NodeSystemInfo, 8 images
  []ContainerImage, 9 volumesInUse []string, 10 volumesAttached []AttachedVolume, 11 config
  NodeConfigStatus, 12 runtimeHandlers []NodeRuntimeHandler, 13 features NodeFeatures, 14 declaredFeatures
  []string;
NodeSwapStatus: 1 capacity int;
NodeSystemInfo: 1 machineID string, 2 systemUUID string, 3 bootID string, 4 kernelVersion string, 5
  osImage string, 6 containerRuntimeVersion string, 7 kubeletVersion string, 8 kubeProxyVersion string, 9
  operatingSystem string, 10 architecture string, 11 swap NodeSwapStatus;
NonResourceAttributes: 1 path string, 2 verb string;
NonResourceRule: 1 verbs []string, 2 nonResourceURLs []string;
)";

constexpr std::string_view kMessages2 = R"(
ObjectFieldSelector: 1 apiVersion string, 2 fieldPath string;
ObjectMeta: 1 name string, 2 generateName string, 3 namespace string, 4 selfLink string, 5 uid string, 6
  resourceVersion string, 7 generation int, 8 creationTimestamp time, 9 deletionTimestamp time, 10
  deletionGracePeriodSeconds int, 11 labels {}string, 12 annotations {}string, 13 ownerReferences
  []OwnerReference, 14 finalizers []string, 17 managedFields []ManagedFieldsEntry;
ObjectReference: 1 kind string, 2 namespace string, 3 name string, 4 uid string, 5 apiVersion string, 6
  resourceVersion string, 7 fieldPath string;
Overhead: 1 podFixed {}quantity;
OwnerReference: 1 kind string, 3 name string, 4 uid string, 5 apiVersion string, 6 controller bool, 7
  blockOwnerDeletion bool;
PersistentVolumeClaimSpec: 1 accessModes []string, 2 resources VolumeResourceRequirements, 3 volumeName
  string, 4 selector LabelSelector, 5 storageClassName string, 6 volumeMode string, 7 dataSource
  TypedLocalObjectReference, 8 dataSourceRef TypedObjectReference, 9 volumeAttributesClassName string;
PersistentVolumeClaimTemplate: 1 metadata ObjectMeta, 2 spec PersistentVolumeClaimSpec;
PersistentVolumeClaimVolumeSource: 1 claimName string, 2 readOnly bool;
PhotonPersistentDiskVolumeSource: 1 pdID string, 2 fsType string;
Pod: 1 metadata ObjectMeta, 2 spec PodSpec, 3 status PodStatus;
PodAffinity: 1 requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm, 2
  preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm;
PodAffinityTerm: 1 labelSelector LabelSelector, 2 namespaces []string, 3 topologyKey string, 4
  namespaceSelector LabelSelector, 5 matchLabelKeys []string, 6 mismatchLabelKeys []string;
PodAntiAffinity: 1 requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm, 2
  preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm;
PodCertificateProjection: 1 signerName string, 2 keyType string, 3 maxExpirationSeconds int, 4
  credentialBundlePath string, 5 keyPath string, 6 certificateChainPath string, 7 userAnnotations
  {}string, 8 user int;
PodCondition: 1 type string, 2 status string, 3 lastProbeTime time, 4 lastTransitionTime time, 5 reason
  string, 6 message string, 7 observedGeneration int;
PodDNSConfig: 1 nameservers []string, 2 searches []string, 3 options []PodDNSConfigOption;
PodDNSConfigOption: 1 name string, 2 value string;
PodExtendedResourceClaimStatus: 1 requestMappings []ContainerExtendedResourceRequest, 2 resourceClaimName
  string;
PodFailurePolicy: 1 rules []PodFailurePolicyRule;
PodFailurePolicyOnExitCodesRequirement: 1 containerName string, 2 operator string, 3 values []int;
PodFailurePolicyOnPodConditionsPattern: 1 type string, 2 status string;
PodFailurePolicyRule: 1 action string, 2 onExitCodes PodFailurePolicyOnExitCodesRequirement, 3
  onPodConditions []PodFailurePolicyOnPodConditionsPattern;
PodIP: 1 ip string;
PodOS: 1 name string;
PodReadinessGate: 1 conditionType string;
PodResourceClaim: 1 name string, 3 resourceClaimName string, 4 resourceClaimTemplateName string;
PodResourceClaimStatus: 1 name string, 2 resourceClaimName string;
PodSchedulingGate: 1 name string;
PodSchedulingGroup: 1 podGroupName string;
PodSecurityContext: 1 seLinuxOptions SELinuxOptions, 2 runAsUser int, 3 runAsNonRoot bool, 4
  supplementalGroups []int, 5 fsGroup int, 6 runAsGroup int, 7 sysctls []Sysctl, 8 windowsOptions
  WindowsSecurityContextOptions, 9 fsGroupChangePolicy string, 10 seccompProfile SeccompProfile, 11
  appArmorProfile AppArmorProfile, 12 supplementalGroupsPolicy string, 13 seLinuxChangePolicy string;
PodSpec: 1 volumes []Volume, 2 containers []Container, 3 restartPolicy string, 4
  terminationGracePeriodSeconds int, 5 activeDeadlineSeconds int, 6 dnsPolicy string, 7 nodeSelector
  {}string, 8 serviceAccountName string, 9 serviceAccount string, 10 nodeName string, 11 hostNetwork bool,
  12 hostPID bool, 13 hostIPC bool, 14 securityContext PodSecurityContext, 15 imagePullSecrets
  []LocalObjectReference, 16 hostname string, 17 subdomain string, 18 affinity Affinity, 19 schedulerName
  string, 20 initContainers []Container, 21 automountServiceAccountToken bool, 22 tolerations
  []Toleration, 23 hostAliases []HostAlias, 24 priorityClassName string, 25 priority int, 26 dnsConfig
  PodDNSConfig, 27 shareProcessNamespace bool, 28 readinessGates []PodReadinessGate, 29 runtimeClassName
  string, 30 enableServiceLinks bool, 31 preemptionPolicy string, 32 overhead {}quantity, 33
  topologySpreadConstraints []TopologySpreadConstraint, 34 ephemeralContainers []EphemeralContainer, 35
  setHostnameAsFQDN bool, 36 os PodOS, 37 hostUsers bool, 38 schedulingGates []PodSchedulingGate, 39
  resourceClaims []PodResourceClaim, 40 resources ResourceRequirements, 41 hostnameOverride string, 43
  schedulingGroup PodSchedulingGroup, 44 evictionResponders []EvictionResponder;
PodStatus: 1 phase string, 2 conditions []PodCondition, 3 message string, 4 reason string, 5 hostIP
  string, 6 podIP string, 7 startTime time, 8 containerStatuses []ContainerStatus, 9 qosClass string, 10
  initContainerStatuses []ContainerStatus, 11 nominatedNodeName string, 12 podIPs []PodIP, 13
  ephemeralContainerStatuses []ContainerStatus, 14 resize string, 15 resourceClaimStatuses
  []PodResourceClaimStatus, 16 hostIPs []HostIP, 17 observedGeneration int, 18 extendedResourceClaimStatus
  PodExtendedResourceClaimStatus, 19 allocatedResources {}quantity, 20 resources ResourceRequirements, 21
  nodeAllocatableResourceClaimStatuses []NodeAllocatableResourceClaimStatus, 22 volumeHealth
  []PodVolumeHealth;
PodTemplate: 1 metadata ObjectMeta, 2 template PodTemplateSpec;
PodTemplateSpec: 1 metadata ObjectMeta, 2 spec PodSpec;
PodVolumeHealth: 1 name string, 2 healthConditions []VolumeHealthCondition, 3 lastTransitionTime time;
PortworxVolumeSource: 1 volumeID string, 2 fsType string, 3 readOnly bool;
Preconditions: 1 uid string, 2 resourceVersion string;
PreferredSchedulingTerm: 1 weight int, 2 preference NodeSelectorTerm;
PriorityClass: 1 metadata ObjectMeta, 2 value int, 3 globalDefault bool, 4 description string, 5
  preemptionPolicy string;
Probe: 1 . ProbeHandler, 2 initialDelaySeconds int, 3 timeoutSeconds int, 4 periodSeconds int, 5
  successThreshold int, 6 failureThreshold int, 7 terminationGracePeriodSeconds int;
ProbeHandler: 1 exec ExecAction, 2 httpGet HTTPGetAction, 3 tcpSocket TCPSocketAction, 4 grpc GRPCAction;
ProjectedVolumeSource: 1 sources []VolumeProjection, 2 defaultMode int, 3 defaultUser int;
QuobyteVolumeSource: 1 registry string, 2 volume string, 3 readOnly bool, 4 user string, 5 group string, 6
  tenant string;
RBDVolumeSource: 1 monitors []string, 2 image string, 3 fsType string, 4 pool string, 5 user string, 6
  keyring string, 7 secretRef LocalObjectReference, 8 readOnly bool;
ResourceAttributes: 1 namespace string, 2 verb string, 3 group string, 4 version string, 5 resource
  string, 6 subresource string, 7 name string, 8 fieldSelector FieldSelectorAttributes, 9 labelSelector
  LabelSelectorAttributes;
ResourceClaim: 1 name string, 2 request string;
ResourceFieldSelector: 1 containerName string, 2 resource string, 3 divisor quantity;
ResourceHealth: 1 resourceID string, 2 health string, 6 message string;
ResourceRequirements: 1 limits {}quantity, 2 requests {}quantity, 3 claims []ResourceClaim;
ResourceRule: 1 verbs []string, 2 apiGroups []string, 3 resources []string, 4 resourceNames []string;
ResourceStatus: 1 name string, 2 resources []ResourceHealth;
RuntimeClass: 1 metadata ObjectMeta, 2 handler string, 3 overhead Overhead, 4 scheduling Scheduling;
SELinuxOptions: 1 user string, 2 role string, 3 type string, 4 level string;
ScaleIOVolumeSource: 1 gateway string, 2 system string, 3 secretRef LocalObjectReference, 4 sslEnabled
  bool, 5 protectionDomain string, 6 storagePool string, 7 storageMode string, 8 volumeName string, 9
  fsType string, 10 readOnly bool;
Scheduling: 1 nodeSelector {}string, 2 tolerations []Toleration;
SeccompProfile: 1 type string, 2 localhostProfile string;
Secret: 1 metadata ObjectMeta, 2 data {}bytes, 3 type string, 4 stringData {}string, 5 immutable bool;
SecretEnvSource: 1 . LocalObjectReference, 2 optional bool;
SecretKeySelector: 1 . LocalObjectReference, 2 key string, 3 optional bool;
SecretProjection: 1 . LocalObjectReference, 2 items []KeyToPath, 4 optional bool;
SecretVolumeSource: 1 secretName string, 2 items []KeyToPath, 3 defaultMode int, 4 optional bool, 5
  defaultUser int;
SecurityContext: 1 capabilities Capabilities, 2 privileged bool, 3 seLinuxOptions SELinuxOptions, 4
  runAsUser int, 5 runAsNonRoot bool, 6 readOnlyRootFilesystem bool, 7 allowPrivilegeEscalation bool, 8
  runAsGroup int, 9 procMount string, 10 windowsOptions WindowsSecurityContextOptions, 11 seccompProfile
  SeccompProfile, 12 appArmorProfile AppArmorProfile;
SelfSubjectAccessReview: 1 metadata ObjectMeta, 2 spec SelfSubjectAccessReviewSpec, 3 status
  SubjectAccessReviewStatus;
SelfSubjectAccessReviewSpec: 1 resourceAttributes ResourceAttributes, 2 nonResourceAttributes
  NonResourceAttributes;
SelfSubjectReview: 1 metadata ObjectMeta, 2 status SelfSubjectReviewStatus;
SelfSubjectReviewStatus: 1 userInfo UserInfo;
SelfSubjectRulesReview: 1 metadata ObjectMeta, 2 spec SelfSubjectRulesReviewSpec, 3 status
  SubjectRulesReviewStatus;
SelfSubjectRulesReviewSpec: 1 namespace string;
ServiceAccount: 1 metadata ObjectMeta, 2 secrets []ObjectReference, 3 imagePullSecrets
  []LocalObjectReference, 4 automountServiceAccountToken bool;
ServiceAccountTokenProjection: 1 audience string, 2 expirationSeconds int, 3 path string, 4 user int;
SleepAction: 1 seconds int;
StorageOSVolumeSource: 1 volumeName string, 2 volumeNamespace string, 3 fsType string, 4 readOnly bool, 5
  secretRef LocalObjectReference;
SubjectAccessReview: 1 metadata ObjectMeta, 2 spec SubjectAccessReviewSpec, 3 status
  SubjectAccessReviewStatus;
SubjectAccessReviewSpec: 1 resourceAttributes ResourceAttributes, 2 nonResourceAttributes
  NonResourceAttributes, 3 user string, 4 groups []string, 5 extra {}texts, 6 uid string;
SubjectAccessReviewStatus: 1 allowed bool, 2 reason string, 3 evaluationError string, 4 denied bool;
SubjectRulesReviewStatus: 1 resourceRules []ResourceRule, 2 nonResourceRules []NonResourceRule, 3
  incomplete bool, 4 evaluationError string;
SuccessPolicy: 1 rules []SuccessPolicyRule;
SuccessPolicyRule: 1 succeededIndexes string, 2 succeededCount int;
Sysctl: 1 name string, 2 value string;
TCPSocketAction: 1 port intOrString, 2 host string;
Taint: 1 key string, 2 value string, 3 effect string, 4 timeAdded time;
TokenRequest: 1 metadata ObjectMeta, 2 spec TokenRequestSpec, 3 status TokenRequestStatus;
TokenRequestSpec: 1 audiences []string, 3 boundObjectRef BoundObjectReference, 4 expirationSeconds int;
TokenRequestStatus: 1 token string, 2 expirationTimestamp time;
TokenReview: 1 metadata ObjectMeta, 2 spec TokenReviewSpec, 3 status TokenReviewStatus;
TokenReviewSpec: 1 token string, 2 audiences []string;
TokenReviewStatus: 1 authenticated bool, 2 user UserInfo, 3 error string, 4 audiences []string;
Toleration: 1 key string, 2 operator string, 3 value string, 4 effect string, 5 tolerationSeconds int;
TopologySpreadConstraint: 1 maxSkew int, 2 topologyKey string, 3 whenUnsatisfiable string, 4 labelSelector
  LabelSelector, 5 minDomains int, 6 nodeAffinityPolicy string, 7 nodeTaintsPolicy string, 8
  matchLabelKeys []string;
TypedLocalObjectReference: 1 apiGroup string, 2 kind string, 3 name string;
TypedObjectReference: 1 apiGroup string, 2 kind string, 3 name string, 4 namespace string;
UncountedTerminatedPods: 1 succeeded []string, 2 failed []string;
UserInfo: 1 username string, 2 uid string, 3 groups []string, 4 extra {}texts;
Volume: 1 name string, 2 . VolumeSource;
VolumeDevice: 1 name string, 2 devicePath string;
VolumeHealthCondition: 1 status string, 2 reason string, 3 message string;
VolumeMount: 1 name string, 2 readOnly bool, 3 mountPath string, 4 subPath string, 5 mountPropagation
  string, 6 subPathExpr string, 7 recursiveReadOnly string, 8 bindMountOptions []string;
VolumeMountStatus: 1 name string, 2 mountPath string, 3 readOnly bool, 4 recursiveReadOnly string, 5
  volumeStatus VolumeStatus;
VolumeProjection: 1 secret SecretProjection, 2 downwardAPI DownwardAPIProjection, 3 configMap
  ConfigMapProjection, 4 serviceAccountToken ServiceAccountTokenProjection, 5 clusterTrustBundle
  ClusterTrustBundleProjection, 6 podCertificate PodCertificateProjection;
VolumeResourceRequirements: 1 limits {}quantity, 2 requests {}quantity;
VolumeSource: 1 hostPath HostPathVolumeSource, 2 emptyDir EmptyDirVolumeSource, 3 gcePersistentDisk
  GCEPersistentDiskVolumeSource, 4 awsElasticBlockStore AWSElasticBlockStoreVolumeSource, 5 gitRepo
  GitRepoVolumeSource, 6 secret SecretVolumeSource, 7 nfs NFSVolumeSource, 8 iscsi ISCSIVolumeSource, 9
  glusterfs GlusterfsVolumeSource, 10 persistentVolumeClaim PersistentVolumeClaimVolumeSource, 11 rbd
  RBDVolumeSource, 12 flexVolume FlexVolumeSource, 13 cinder CinderVolumeSource, 14 cephfs
  CephFSVolumeSource, 15 flocker FlockerVolumeSource, 16 downwardAPI DownwardAPIVolumeSource, 17 fc
  FCVolumeSource, 18 azureFile AzureFileVolumeSource, 19 configMap ConfigMapVolumeSource, 20 vsphereVolume
  VsphereVirtualDiskVolumeSource, 21 quobyte QuobyteVolumeSource, 22 azureDisk AzureDiskVolumeSource, 23
  photonPersistentDisk PhotonPersistentDiskVolumeSource, 24 portworxVolume PortworxVolumeSource, 25
  scaleIO ScaleIOVolumeSource, 26 projected ProjectedVolumeSource, 27 storageos StorageOSVolumeSource, 28
  csi CSIVolumeSource, 29 ephemeral EphemeralVolumeSource, 30 image ImageVolumeSource;
VolumeStatus: 1 image ImageVolumeStatus;
VsphereVirtualDiskVolumeSource: 1 volumePath string, 2 fsType string, 3 storagePolicyName string, 4
  storagePolicyID string;
WeightedPodAffinityTerm: 1 weight int, 2 podAffinityTerm PodAffinityTerm;
WindowsSecurityContextOptions: 1 gmsaCredentialSpecName string, 2 gmsaCredentialSpec string, 3
  runAsUserName string, 4 hostProcess bool;
)";

std::string_view protobuf_notation(int part) { return part == 0 ? kMessages1 : kMessages2; }

}  // namespace berth::apiserver::http
