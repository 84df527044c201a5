// The job of the fields of "Try a job", and what the answer says.
export interface Fields {
  pods: number;
  cpu: string;
  memory: string;
  gpus: number;
  level: string; // a node label; "": anywhere
  minutes: number; // 0: no limit
}

export function manifestOf(f: Fields): string {
  const requests: Record<string, string> = {};
  if (f.cpu) requests.cpu = f.cpu;
  if (f.memory) requests.memory = f.memory;
  const limits: Record<string, string> = {};
  if (f.gpus > 0) limits['nvidia.com/gpu'] = String(f.gpus);
  return JSON.stringify(
    {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: {
        name: 'trial',
        ...(f.minutes > 0 ? { labels: { 'kueue.x-k8s.io/max-exec-time-seconds': String(f.minutes * 60) } } : {}),
      },
      spec: {
        suspend: true,
        parallelism: f.pods,
        completions: f.pods,
        template: {
          ...(f.level ? { metadata: { annotations: { 'kueue.x-k8s.io/podset-required-topology': f.level } } } : {}),
          spec: {
            restartPolicy: 'Never',
            containers: [
              { name: 'main', image: 'example.com/trial', resources: { requests: { ...requests, ...limits }, limits } },
            ],
          },
        },
      },
    },
    null,
    2,
  );
}

export interface TrialStatus {
  arrivals?: {
    workload: string;
    got?: string;
    explanation?: { summary?: string; changes?: { text: string }[] };
    prediction?: { summary?: string };
  }[];
  preempted?: { workload: string; text: string }[];
  otherNamespaces?: { preempted?: number };
}

export type Verdict =
  { is: 'starts'; got: string } | { is: 'waits'; when: string; why: string; changes: string[] } | { is: 'unqueued' };

export function verdict(status: TrialStatus): Verdict {
  const first = status.arrivals?.[0];
  if (!first) return { is: 'unqueued' };
  if (first.got) return { is: 'starts', got: first.got };
  return {
    is: 'waits',
    when: first.prediction?.summary ?? '',
    why: first.explanation?.summary ?? '',
    changes: (first.explanation?.changes ?? []).map((c) => c.text),
  };
}
