// What the API says in words of its own: reasons, types of conditions, ends of spans. English shows them as they are,
// because people search for them; other languages say what they mean. An unknown word stays as it is.
import type { Language } from '.';

const ZH: Record<string, string> = {
  // Reasons of conditions and evictions
  Pending: '等待', WaitingForQuota: '等待配额', Waiting: '等待', Inadmissible: '无法准入', ExceedsMaxQuota: '超出最大配额', QuotaReserved: '已预留配额', Admitted: '已准入',
  Preempted: '被抢占', InClusterQueue: '集群队列内抢占', InCohortReclamation: '队列组内回收', InCohortFairSharing: '队列组内公平共享', InCohortReclaimWhileBorrowing: '借用时回收',
  PodsReadyTimeout: 'Pod 就绪超时', WaitForPodsStart: '等待 Pod 启动', WaitForRecovery: '等待 Pod 恢复', WaitForPodsReady: '等待 Pod 就绪', WaitingForPodsReady: '等待其他 Pod 就绪', PodsReady: 'Pod 已就绪',
  AdmissionCheck: '准入检查未通过', ClusterQueueStopped: '集群队列已停止', LocalQueueStopped: '本地队列已停止', ClusterQueueIsInactive: '集群队列不可用', NodeFailures: '节点故障',
  Deactivated: '已停用', InactiveWorkload: '工作负载未激活', MaximumExecutionTimeExceeded: '超出最长运行时间', RequeuingLimitExceeded: '超出重新排队次数', DeactivatedDueToMaximumExecutionTimeExceeded: '因超出最长运行时间而停用', DeactivatedDueToRequeuingLimitExceeded: '因超出重新排队次数而停用',
  BackoffFinished: '退避结束', Reactivated: '已重新激活', ClusterQueueRestarted: '集群队列已恢复', LocalQueueRestarted: '本地队列已恢复', Succeeded: '成功', Failed: '失败', JobFinished: '作业结束', OwnerNotFound: '所有者不存在', WorkloadSlice: '工作负载分片',
  FlavorNotFound: '资源规格不存在', TopologyNotFound: '拓扑不存在', AdmissionCheckNotFound: '准入检查不存在', AdmissionCheckInactive: '准入检查不可用', WorkloadPriorityClassNotFound: '优先级类不存在', TopologyPlacementFailed: '拓扑放置失败', SecondPassFailed: '二次放置失败', Ready: '就绪', Stopped: '已停止', Terminating: '正在删除',
  Retry: '重试', Rejected: '被拒绝', Started: '已启动', Suspended: '已挂起', CreatedWorkload: '已创建工作负载', FinishedWorkload: '工作负载已结束', UpdatedAdmissionCheck: '准入检查已更新', EvictedWorkload: '已驱逐', StayReserved: '保持预留',
  // Types of conditions
  Evicted: '已驱逐', Finished: '已结束', Requeued: '重新排队', DeactivationTarget: '即将停用', BlockedOnPreemptionGates: '被抢占门阻塞', UnhealthyNodes: '节点不健康', Active: '正常',
  // Why work waits, in short
  'can never fit': '永远放不下', 'preempted, waits again': '被抢占，重新等待', 'waits for preempted workloads': '等待被抢占的工作负载结束', 'queue stopped': '队列已停止', 'queue inactive': '队列不可用', 'queue is being deleted': '队列正在删除', 'missing queue or flavor': '缺少队列或资源规格',
  'local queue does not exist': '本地队列不存在', 'cluster queue does not exist': '集群队列不存在', 'missing flavor': '缺少资源规格', 'missing topology': '缺少拓扑', 'admission check of the queue not active': '队列的准入检查不可用', 'cohorts form a cycle': '队列组形成环',
  'topology that the flavor does not have': '资源规格没有所需的拓扑', 'resource without quota in the queue': '队列没有该资源的配额', 'other workloads go first': '其他工作负载先行', 'outside the limit range': '超出 LimitRange 范围', 'request above its limit': '请求超过上限', 'taints of the flavor': '资源规格的污点', 'node affinity of the flavor': '资源规格的节点亲和性',
  'namespace not selected by the queue': '队列未选择此命名空间', 'pods of others not ready yet': '其他 Pod 尚未就绪', 'more than the queue can ever have': '超出队列的最大容量', evicted: '已驱逐', 'not considered yet': '尚未调度',
  // Ends of spans, besides reasons with a small first letter
  reserved: '已预留配额', admitted: '已准入', finished: '已结束', failed: '失败', deleted: '已删除',
  // States of provisioning requests
  pending: '等待', accepted: '已接受', provisioned: '已供应', bookingExpired: '预订已过期', capacityRevoked: '容量已收回',
  // Effects on queues
  Hold: '暂停', HoldAndDrain: '暂停并排空',
};
const PATTERNS_ZH: [RegExp, string][] = [
  [/^quota: (\S+) in (.+)$/, '配额不足：$2 的 $1'],
  [/^more than the quota: (\S+) in (.+)$/, '超出配额：$2 的 $1'],
  [/^topology: (.+)$/, '拓扑：$1'],
];

// "pods ready timeout" stands for PodsReadyTimeout.
const SPOKEN = Object.fromEntries(Object.entries(ZH).map(([word, text]) => [word.replace(/(?!^)([A-Z])/g, ' $1').toLowerCase(), text]));

export function inWords(word: string, language: Language): string {
  if (language === 'en') return word;
  const known = ZH[word] ?? ZH[word.charAt(0).toUpperCase() + word.slice(1)] ?? SPOKEN[word];
  if (known) return known;
  for (const [pattern, text] of PATTERNS_ZH) if (pattern.test(word)) return word.replace(pattern, text);
  return word;
}
