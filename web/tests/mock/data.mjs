// Generated rows of every collection. The same numbers give the same rows.
function random(seed) {
  return () => {
    seed = (seed * 1664525 + 1013904223) >>> 0;
    return seed / 2 ** 32;
  };
}

const GiB = 2 ** 30;
const MINUTE = 60_000;

export function generate({ workloads = 400, nodes = 640, queues = 12, now = Date.now() } = {}) {
  const next = random(7);
  const pick = (list) => list[Math.floor(next() * list.length)];
  const teams = ['vision', 'language', 'robotics', 'speech', 'genomics', 'search', 'ads', 'maps'];
  const cohorts = ['research', 'product'];
  const c = Object.fromEntries(
    [
      'namespaces',
      'clusterqueues',
      'cohorts',
      'localqueues',
      'flavors',
      'topologies',
      'checks',
      'provisioningrequests',
      'vcqueues',
      'workloads',
      'positions',
      'nodes',
      'placements',
      'series',
      'rates',
    ].map((n) => [n, new Map()]),
  );
  const put = (name, row) => c[name].set(row.key, row);
  for (const name of teams) put('namespaces', { key: name, name });
  put('cohorts', { key: 'company', name: 'company', quotas: [], created: now - 9e8 });
  for (const name of cohorts)
    put('cohorts', {
      key: name,
      name,
      parent: 'company',
      quotas: [],
      weight: 1,
      share: Math.floor(next() * 300),
      created: now - 9e8,
    });
  for (const [name, gpu] of [
    ['a100', true],
    ['h100', true],
    ['spot', false],
  ])
    put('flavors', {
      key: name,
      name,
      labels: { 'example.com/pool': name },
      taints: gpu ? [`nvidia.com/gpu=present:NoSchedule`] : [],
      tolerations: gpu ? 1 : 0,
      topology: gpu ? 'racks' : undefined,
      created: now - 9e8,
    });
  put('topologies', {
    key: 'racks',
    name: 'racks',
    levels: ['cloud.example.com/block', 'cloud.example.com/rack', 'kubernetes.io/hostname'],
    created: now - 9e8,
  });
  put('checks', {
    key: 'provision',
    name: 'provision',
    controller: 'kueue.x-k8s.io/provisioning-request',
    parameters: 'ProvisioningRequestConfig/gpus',
    active: true,
    created: now - 9e8,
  });
  put('checks', {
    key: 'budget',
    name: 'budget',
    controller: 'example.com/budget',
    active: false,
    reason: 'Unreachable',
    message: 'The controller of this check has not answered since 02:10',
    created: now - 9e8,
  });
  const names = Array.from({ length: queues }, (_, i) =>
    i < teams.length ? teams[i] : `${teams[i % teams.length]}-${Math.floor(i / teams.length)}`,
  );
  names.forEach((name, i) => {
    const gpus = 32 + Math.floor(next() * 5) * 16;
    const reserved = Math.floor(gpus * (0.3 + next() * 0.9));
    const cpu = gpus * 12_000;
    put('clusterqueues', {
      key: name,
      name,
      cohort: queues > 100 ? `${pick(cohorts)}-${i % 20}` : cohorts[i % 2],
      strategy: 'BestEffortFIFO',
      stop: i === 5 ? 'Hold' : 'None',
      active: i !== 5,
      reason: i === 5 ? 'Stopped' : undefined,
      quotas: [
        {
          flavor: 'h100',
          resource: 'nvidia.com/gpu',
          nominal: gpus,
          reserved,
          used: Math.floor(reserved * 0.93),
          borrowed: Math.max(0, reserved - gpus),
          borrowingLimit: i % 3 ? null : 16,
        },
        { flavor: 'h100', resource: 'cpu', nominal: cpu, reserved: cpu * 0.6, used: cpu * 0.55, borrowed: 0 },
        {
          flavor: 'h100',
          resource: 'memory',
          nominal: gpus * 128 * GiB,
          reserved: gpus * 70 * GiB,
          used: gpus * 66 * GiB,
          borrowed: 0,
        },
      ],
      pending: 0,
      reserving: 0,
      admitted: 0,
      weight: 1,
      share: Math.floor(next() * 400),
      withinClusterQueue: 'LowerPriority',
      reclaimWithinCohort: 'Any',
      checks: i === 2 ? ['provision'] : [],
      created: now - 9e8,
    });
  });
  for (const ns of teams)
    put('localqueues', {
      key: `${ns}/main`,
      ns,
      name: 'main',
      cq: ns,
      stop: 'None',
      active: true,
      pending: 0,
      reserving: 0,
      admitted: 0,
      usage: [{ flavor: 'h100', resource: 'nvidia.com/gpu', reserved: 12, used: 10 }],
      created: now - 9e8,
    });
  for (const [name, parent] of [
    ['root', undefined],
    ['tenant-a', 'root'],
    ['tenant-a-batch', 'tenant-a'],
    ['tenant-b', 'root'],
  ])
    put('vcqueues', {
      key: name,
      name,
      parent,
      state: 'Open',
      weight: 1,
      capability: { cpu: 64000, memory: 256 * GiB },
      deserved: { cpu: 32000, memory: 128 * GiB },
      allocated: { cpu: Math.floor(next() * 40000), memory: 60 * GiB },
      pending: 2,
      inqueue: 1,
      running: 5,
      unknown: 0,
      completed: 20,
      created: now - 9e8,
    });
  const perRack = nodes > 5000 ? 64 : 32;
  const gpuNodes = [];
  for (let i = 0; i < nodes; i++) {
    const [rack, block] = [Math.floor(i / perRack), Math.floor(i / perRack / 10)];
    const name = `n${String(i).padStart(6, '0')}`;
    const full = next() < 0.6 ? 8 : Math.floor(next() * 9);
    const ready = next() > 0.006;
    gpuNodes.push(name);
    put('nodes', {
      key: name,
      name,
      ready,
      reason: ready ? undefined : 'KubeletNotReady',
      unschedulable: next() < 0.01 ? true : undefined,
      domains: {
        'cloud.example.com/block': `block-${block}`,
        'cloud.example.com/rack': `rack-${rack}`,
        'kubernetes.io/hostname': name,
      },
      allocatable: { 'nvidia.com/gpu': 8, cpu: 96_000, memory: 1024 * GiB, pods: 110 },
      used: { 'nvidia.com/gpu': full, cpu: full * 10_000, memory: full * 100 * GiB, pods: full },
    });
  }
  const kinds = ['Job', 'JobSet', 'RayJob', 'PyTorchJob', 'PodGroup'];
  const messages = [
    "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor h100, 8 more needed",
    "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor h100, 24 more needed",
    'couldn\'t assign flavors to pod set main: topology "racks" allows to fit only 12 out of 32 pod(s)',
    'ClusterQueue search is inactive',
    "couldn't assign flavors to pod set main: untolerated taint {nvidia.com/gpu present NoSchedule} in flavor a100",
  ];
  const whys = [
    'quota: nvidia.com/gpu in h100',
    'quota: cpu in h100',
    'topology: racks',
    'queue stopped',
    'taints of the flavor',
  ];
  const place = {};
  for (let i = 0; i < workloads; i++) {
    const ns = pick(teams);
    const created = now - Math.floor(next() ** 2 * 8 * 3600_000) - 5000;
    const roll = next();
    const state =
      roll < 0.45
        ? 'pending'
        : roll < 0.5
          ? 'quotaReserved'
          : roll < 0.85
            ? 'admitted'
            : roll < 0.88
              ? 'evicted'
              : roll < 0.9
                ? 'inactive'
                : 'finished';
    const name = `job-${pick(['train', 'eval', 'tune', 'embed', 'render'])}-${i.toString(36).padStart(4, '0')}`;
    const gpus = pick([1, 2, 4, 8, 16, 32]);
    const lack = Math.floor(next() * messages.length);
    const row = {
      key: `${ns}/${name}`,
      ns,
      name,
      uid: `uid-${i}`,
      queue: 'main',
      cq: ns,
      state,
      result: state === 'finished' ? (next() < 0.15 ? 'failed' : 'succeeded') : undefined,
      reason: state === 'pending' ? 'Pending' : undefined,
      message: state === 'pending' ? messages[lack] : undefined,
      why: state === 'pending' ? whys[lack] : undefined,
      priority: pick([0, 0, 100, 1000]),
      created,
      reserved: state === 'admitted' ? created + 60_000 : undefined,
      admitted: state === 'admitted' ? created + 90_000 : undefined,
      evictions: next() < 0.05 ? 1 + Math.floor(next() * 6) : 0,
      owner: { kind: pick(kinds), name: name.replace(/^job-/, ''), group: 'batch' },
      pods: gpus,
      requests: { 'nvidia.com/gpu': gpus, cpu: gpus * 8000, memory: gpus * 64 * GiB },
      flavors: state === 'admitted' ? ['h100'] : undefined,
      topology: state === 'admitted',
      waitsSince: state === 'pending' || state === 'evicted' ? created : undefined,
    };
    if (row.evictions)
      row.lastEviction = {
        at: created + 120_000,
        reason: 'Preempted',
        message: 'Preempted to accommodate a workload with higher priority',
      };
    put('workloads', row);
    const q = c.clusterqueues.get(ns);
    if (state === 'pending') {
      place[ns] = (place[ns] ?? -1) + 1;
      put('positions', { key: row.key, cq: ns, position: place[ns], localPosition: place[ns] });
      q.pending++;
    } else if (state === 'admitted') {
      q.admitted++;
      q.reserving++;
    }
  }
  const admitted = [...c.workloads.values()].filter((w) => w.state === 'admitted');
  let at = 0;
  for (const name of gpuNodes) {
    const node = c.nodes.get(name);
    if (!node.used['nvidia.com/gpu'] || admitted.length === 0) continue;
    if (next() < 0.12) at++;
    const w = admitted[at % admitted.length];
    put('placements', { key: `${name}/${w.ns}`, node: name, ns: w.ns, workloads: [[w.name, { ...node.used }]] });
  }
  for (let t = now - 3600_000; t <= now; t += 10_000) {
    const wave = (k) => 0.6 + 0.3 * Math.sin(t / 700_000 + k) + 0.05 * Math.sin(t / 40_000);
    put('series', {
      key: String(t),
      t,
      usage: {
        h100: { 'nvidia.com/gpu': [Math.floor(600 * wave(0)), 700], cpu: [Math.floor(7e6 * wave(1)), 8.4e6] },
        a100: { 'nvidia.com/gpu': [Math.floor(120 * wave(3)), 160] },
      },
    });
  }
  for (let t = Math.floor(now / MINUTE) * MINUTE - 59 * MINUTE; t <= now; t += MINUTE)
    for (const ns of teams.slice(0, 3))
      put('rates', {
        key: `${ns}|${t}`,
        ns,
        t,
        submitted: Math.floor(next() * 9),
        admitted: Math.floor(next() * 8),
        evicted: Math.floor(next() * 2),
        preempted: Math.floor(next() * 2),
        finished: Math.floor(next() * 7),
      });
  return c;
}
