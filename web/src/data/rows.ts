// The rows of the server's collections. Times are milliseconds since 1970; cpu is in thousandths of a CPU, every other
// resource in units or bytes; what is absent is unlimited, unknown or not set.
export type Amounts = Record<string, number>;

interface Row {
  key: string;
}
interface Named extends Row {
  name: string;
  created?: number;
}

export type WorkloadState = 'pending' | 'quotaReserved' | 'admitted' | 'evicted' | 'inactive' | 'finished';

export interface Workload extends Named {
  ns: string;
  uid: string;
  queue: string;
  cq?: string;
  state: WorkloadState;
  result?: 'succeeded' | 'failed';
  reason?: string;
  message?: string;
  why?: string; // why it waits, in a few words without amounts and names
  priority: number;
  pc?: string;
  reserved?: number;
  admitted?: number;
  finished?: number;
  evictions: number;
  lastEviction?: { at: number; reason: string; message: string };
  owner?: { kind: string; name: string; group: string };
  pods: number;
  requests: Amounts;
  flavors?: string[];
  checks?: { name: string; state: string; message?: string }[];
  topology?: boolean;
  waitsSince?: number;
}

export interface Position extends Row {
  cq: string;
  position: number;
  localPosition: number;
}

export interface Quota {
  flavor: string;
  resource: string;
  nominal?: number | null;
  borrowingLimit?: number | null;
  lendingLimit?: number | null;
}
export interface QuotaUse extends Quota {
  reserved: number;
  used: number;
  borrowed: number;
}

export interface ClusterQueue extends Named {
  cohort?: string;
  strategy: string;
  stop: 'None' | 'Hold' | 'HoldAndDrain';
  active: boolean;
  reason?: string;
  message?: string;
  quotas: QuotaUse[];
  pending: number;
  reserving: number;
  admitted: number;
  weight?: number;
  share?: number;
  checks?: string[];
  withinClusterQueue?: string;
  reclaimWithinCohort?: string;
  borrowWithinCohort?: string;
  fairSharing?: string;
}

export interface Cohort extends Named {
  parent?: string;
  quotas: Quota[];
  weight?: number;
  share?: number;
}

export interface LocalQueue extends Named {
  ns: string;
  cq: string;
  stop: string;
  active: boolean;
  reason?: string;
  message?: string;
  pending: number;
  reserving: number;
  admitted: number;
  usage: { flavor: string; resource: string; reserved: number; used: number }[];
  weight?: number;
  past?: Amounts;
  pastAt?: number;
}

export interface Flavor extends Named {
  labels: Record<string, string>;
  taints: string[];
  tolerations: number;
  topology?: string;
}

export interface Topology extends Named {
  levels: string[];
}

export interface Node extends Named {
  ready: boolean;
  unschedulable?: boolean;
  reason?: string;
  domains: Record<string, string>;
  allocatable: Amounts;
  used: Amounts;
  taints?: string[];
}

export interface Placement extends Row {
  node: string;
  ns: string;
  workloads: [string, Amounts][];
}

export interface Check extends Named {
  controller: string;
  parameters?: string;
  active: boolean;
  reason?: string;
  message?: string;
}

export interface ProvisioningRequest extends Named {
  ns: string;
  class: string;
  state: string;
  message?: string;
  workload?: string;
}

export interface VolcanoQueue extends Named {
  parent?: string;
  state: string;
  weight?: number;
  priority?: number;
  reclaimable?: boolean;
  capability?: Amounts;
  deserved?: Amounts;
  guarantee?: Amounts;
  allocated?: Amounts;
  pending: number;
  inqueue: number;
  running: number;
  unknown: number;
  completed: number;
}

export interface Sample extends Row {
  t: number;
  usage: Record<string, Record<string, [used: number, nominal: number]>>;
}

export interface Rate extends Row {
  ns: string;
  t: number;
  submitted: number;
  admitted: number;
  evicted: number;
  preempted: number;
  finished: number;
}

export interface Collections {
  workloads: Workload;
  positions: Position;
  clusterqueues: ClusterQueue;
  cohorts: Cohort;
  localqueues: LocalQueue;
  flavors: Flavor;
  topologies: Topology;
  nodes: Node;
  placements: Placement;
  checks: Check;
  provisioningrequests: ProvisioningRequest;
  vcqueues: VolcanoQueue;
  series: Sample;
  rates: Rate;
  namespaces: Named;
}
export type CollectionName = keyof Collections;
