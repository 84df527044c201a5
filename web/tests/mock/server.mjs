// A pretend server of the console with generated data, for working on the page and for measuring it.
//   node tests/mock/server.mjs [--port 8090] [--dist dist] [--workloads 400] [--nodes 640] [--queues 12] [--still]
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { join, normalize } from 'node:path';
import { parseArgs } from 'node:util';
import { generate } from './data.mjs';

const { values: flags } = parseArgs({
  options: {
    port: { type: 'string', default: '8090' },
    dist: { type: 'string', default: 'dist' },
    workloads: { type: 'string', default: '400' },
    nodes: { type: 'string', default: '640' },
    queues: { type: 'string', default: '12' },
    still: { type: 'boolean', default: false },
  },
});
const rows = generate({ workloads: Number(flags.workloads), nodes: Number(flags.nodes), queues: Number(flags.queues) });

const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const TYPES = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

async function file(name, response) {
  const path = normalize(name).replace(/^(\.\.[/\\])+/, '');
  let body;
  try {
    body = await readFile(join(flags.dist, path));
  } catch {
    return path.startsWith('/assets') ? response.writeHead(404).end() : file('/index.html', response);
  }
  response.writeHead(200, {
    'Content-Type': TYPES[path.split('.').pop()] ?? 'application/octet-stream',
    'Content-Security-Policy': CSP,
    'Cache-Control': path.startsWith('/assets') ? 'immutable, max-age=31536000' : 'no-store',
  });
  return response.end(body);
}

const json = (response, status, body) =>
  response
    .writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' })
    .end(JSON.stringify(body));

const clients = new Set();
const send = (response, event, data) => response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);

async function stream(request, response, names) {
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
  for (const collection of names) {
    const all = [...(rows[collection]?.values() ?? [])];
    for (let i = 0; i === 0 || i < all.length; i += 500) {
      send(response, 'snapshot', {
        collection,
        first: i === 0,
        last: i + 500 >= all.length,
        rows: all.slice(i, i + 500),
      });
      await new Promise((written) => setImmediate(written));
    }
  }
  send(response, 'ready', {});
  const client = { response, names };
  clients.add(client);
  request.on('close', () => clients.delete(client));
}

if (!flags.still)
  setInterval(() => {
    const all = [...rows.workloads.values()];
    const set = [];
    for (let i = 0; i < 5; i++) {
      const w = all[Math.floor(Math.random() * all.length)];
      if (!w) continue;
      if (w.state === 'pending')
        Object.assign(w, {
          state: 'admitted',
          flavors: ['h100'],
          message: undefined,
          reserved: Date.now(),
          admitted: Date.now(),
        });
      else if (w.state === 'admitted')
        Object.assign(w, { state: 'finished', result: 'succeeded', finished: Date.now() });
      set.push(w);
    }
    for (const c of clients)
      if (c.names.includes('workloads')) send(c.response, 'change', { collection: 'workloads', set, delete: [] });
  }, 1000);

const time = (ms) => new Date(ms).toISOString();

function workloadObject(w) {
  const condition = (type, status, at, reason, message) => ({
    type,
    status,
    lastTransitionTime: time(at),
    reason,
    message,
  });
  return {
    apiVersion: 'kueue.x-k8s.io/v1beta2',
    kind: 'Workload',
    metadata: { name: w.name, namespace: w.ns, uid: w.uid, creationTimestamp: time(w.created) },
    spec: { queueName: w.queue, priority: w.priority, active: w.state !== 'inactive' },
    status: {
      conditions: [
        w.state === 'pending'
          ? condition('QuotaReserved', 'False', w.created, 'Pending', w.message ?? '')
          : condition(
              'QuotaReserved',
              'True',
              w.created + 60000,
              'QuotaReserved',
              `Quota reserved in ClusterQueue ${w.cq}`,
            ),
        ...(w.state === 'admitted'
          ? [condition('Admitted', 'True', w.created + 90000, 'Admitted', `The workload is admitted`)]
          : []),
      ],
    },
  };
}

function object(q, response) {
  const name = q.get('name');
  const key = q.get('namespace') ? `${q.get('namespace')}/${name}` : name;
  const collection =
    { resourceflavors: 'flavors', admissionchecks: 'checks', queues: 'vcqueues' }[q.get('resource')] ??
    q.get('resource');
  const row = rows[collection]?.get(key);
  if (!row) return json(response, 404, { message: `${key} not found`, reason: 'NotFound' });
  const found =
    collection === 'workloads'
      ? workloadObject(row)
      : { apiVersion: 'kueue.x-k8s.io/v1beta2', metadata: { name }, spec: row };
  const yaml = JSON.stringify(found, null, 2)
    .replace(/[{}",[\]]/g, '')
    .split('\n')
    .filter((l) => l.trim())
    .join('\n');
  return json(response, 200, { object: found, yaml });
}

function explanation(q) {
  return {
    namespace: q.get('namespace'),
    name: q.get('name'),
    state: 'Pending',
    summary: 'It lacks 8 nvidia.com/gpu of the flavor h100, which three workloads of the cohort hold.',
    position: 2,
    ahead: [
      { workload: 'vision/job-a', priority: 100 },
      { workload: 'vision/job-b', priority: 0 },
    ],
    shortages: [
      {
        podSets: ['main'],
        flavor: 'h100',
        resource: 'nvidia.com/gpu',
        wanted: '16',
        available: '8',
        most: '64',
        missing: '8',
        holders: [{ workload: 'language/job-c', clusterQueue: 'language', amount: '32', priority: 0 }],
      },
    ],
    changes: [
      {
        kind: 'RaiseNominalQuota',
        text: 'Raise the nominal quota of nvidia.com/gpu in flavor h100 of ClusterQueue vision from 64 to 72.',
      },
      { kind: 'EndWorkload', text: 'End or preempt the workload language/job-c.' },
    ],
  };
}

function prediction(q) {
  const start = Date.now() + 600_000;
  return {
    namespace: q.get('namespace'),
    name: q.get('name'),
    summary: 'it starts in half of the futures by then',
    at: time(Date.now()),
    futures: 31,
    started: 31,
    start: { p10: time(start), p50: time(start + 600_000), p90: time(start + 3_600_000) },
    restsOn: [{ basis: 'finished workloads of the same LocalQueue', workloads: 12 }],
  };
}

function history(q) {
  const [from, to] = [Number(q.get('from')), Number(q.get('to'))];
  const strips = [];
  for (const w of rows.workloads.values()) {
    if (q.get('cq') && w.cq !== q.get('cq')) continue;
    if (strips.length >= 1500) break;
    const wait = 30_000 + ((w.name.length * 7919 * w.pods) % 1_500_000);
    const run = w.state === 'admitted' ? undefined : w.created + wait + 900_000;
    if (w.created > to || (run ?? to) < from) continue;
    const spans = [{ state: 'waiting', from: w.created, to: w.state === 'pending' ? undefined : w.created + wait }];
    if (w.state !== 'pending')
      spans.push({
        state: 'admitted',
        from: w.created + wait,
        to: run,
        end: run ? (w.evictions ? 'preempted' : 'finished') : undefined,
      });
    strips.push({ workload: w.key, uid: w.uid, queue: w.queue, cq: w.cq, priority: w.priority, spans });
  }
  return { from, to, kept: { from: from - 86400_000, to }, truncated: false, strips };
}

createServer((request, response) => {
  const url = new URL(request.url, 'http://localhost');
  const q = url.searchParams;
  if (!url.pathname.startsWith('/api/'))
    return void file(url.pathname === '/' ? '/index.html' : url.pathname, response);
  const signedIn = /berth_session=yes/.test(request.headers.cookie ?? '');
  if (url.pathname === '/api/login')
    return void response.writeHead(204, { 'Set-Cookie': 'berth_session=yes; Path=/; HttpOnly; SameSite=Strict' }).end();
  if (!signedIn) return void json(response, 401, { message: 'sign in', reason: 'Unauthorized' });
  switch (url.pathname) {
    case '/api/session':
      return void json(response, 200, {
        user: 'admin',
        groups: ['system:masters'],
        allowChanges: true,
        version: '0.1.0',
        explain: true,
        history: true,
        now: Date.now(),
      });
    case '/api/logout':
      return void response.writeHead(204, { 'Set-Cookie': 'berth_session=; Path=/; Max-Age=0' }).end();
    case '/api/stream':
      return void stream(request, response, (q.get('collections') ?? '').split(',').filter(Boolean));
    case '/api/object':
      return void object(q, response);
    case '/api/events':
      return void json(response, 200, {
        events: [
          {
            time: Date.now() - 20000,
            count: 3,
            type: 'Normal',
            reason: 'QuotaReserved',
            message: 'Quota reserved in ClusterQueue',
            from: 'berth',
          },
        ],
      });
    case '/api/pods':
      return void json(response, 200, {
        pods: Array.from({ length: 12 }, (_, i) => ({
          name: `pod-${i}`,
          node: `n${i}`,
          phase: 'Running',
          ready: i !== 3,
          domains: { 'cloud.example.com/block': 'block-0', 'cloud.example.com/rack': `rack-${i % 3}` },
        })),
      });
    case '/api/explanation':
      return void json(response, 200, explanation(q));
    case '/api/prediction':
      return void json(response, 200, prediction(q));
    case '/api/history':
      return void json(response, 200, history(q));
    case '/api/may':
      return void json(response, 200, {
        allowed: q.get('resource') !== 'workloads',
        message: 'The pretend server changes nothing',
      });
    case '/api/changes':
      return void json(response, 403, { message: 'The pretend server changes nothing', reason: 'Forbidden' });
    default:
      return void json(response, 404, { message: 'unknown', reason: 'NotFound' });
  }
}).listen(Number(flags.port), '127.0.0.1', () => console.log(`http://127.0.0.1:${flags.port}/#token=any`));
