// Processes of their own: berth console beside a cluster, with a certificate that is renewed and with an account that
// lacks rights; berth up when its usual port is taken.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { BERTH, expect, freePort, test, type Cluster } from './cluster';

let dir = '';
const started: ChildProcess[] = [];
test.beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'berth-alone-'));
});
test.afterAll(() => {
  for (const each of started) each.kill();
  rmSync(dir, { recursive: true, force: true });
});

// Starts berth and returns the address that it prints; an error has its output.
async function berth(args: string[]): Promise<string> {
  const child = spawn(BERTH, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  started.push(child);
  let output = '';
  return new Promise((done, failed) => {
    const read = (data: Buffer) => {
      output += data.toString();
      const link = /^console: (\S+)$/m.exec(output);
      if (link) done(link[1]!);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.on('exit', () => failed(new Error(output)));
  });
}

const kubeconfig = (cluster: Cluster) => join(cluster.dir, 'data/kubeconfig');

function certificate(name: string): void {
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
      '-subj',
      `/CN=${name}`,
      '-addext',
      'subjectAltName=IP:127.0.0.1',
      '-keyout',
      join(dir, 'tls.key'),
      '-out',
      join(dir, 'tls.crt'),
    ],
    { stdio: 'ignore' },
  );
}

async function presented(url: string): Promise<string> {
  return new Promise((done, failed) => {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false }, () => {
      const name = socket.getPeerCertificate().subject.CN;
      socket.destroy();
      done(Array.isArray(name) ? name[0]! : name);
    });
    socket.on('error', failed);
  });
}

test('over TLS, and a renewed certificate is picked up', async ({ browser, cluster }) => {
  certificate('first');
  const url = await berth([
    'console',
    '--kubeconfig',
    kubeconfig(cluster),
    '--listen',
    '127.0.0.1:0',
    '--tls-cert',
    join(dir, 'tls.crt'),
    '--tls-key',
    join(dir, 'tls.key'),
  ]);
  expect(url).toMatch(/^https:/);
  expect(await presented(url)).toBe('first');
  certificate('second');
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  const page = await context.newPage();
  await page.goto(`${url}/workloads?state=all#token=token-of-root`);
  await expect(page.locator('.row[data-key]').first()).toBeVisible();
  await expect.poll(() => presented(url), { timeout: 15_000 }).toBe('second');
  await expect(page.getByText('Live'), 'open pages go on').toBeVisible();
  await context.close();
});

test('an account of the console that lacks rights is named on the page', async ({ browser, cluster }) => {
  cluster.kubectl(['create', 'serviceaccount', 'console', '-n', 'vision']);
  for (const [name, group, resource, verbs] of [
    ['console-queues', 'kueue.x-k8s.io', 'clusterqueues', ['get', 'list', 'watch']],
    ['console-tokens', 'authentication.k8s.io', 'tokenreviews', ['create']],
    ['console-access', 'authorization.k8s.io', 'subjectaccessreviews', ['create']],
  ] as const) {
    cluster.apply({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name },
      rules: [{ apiGroups: [group], resources: [resource], verbs }],
    });
    cluster.kubectl(['create', 'clusterrolebinding', name, '--clusterrole', name, '--serviceaccount=vision:console']);
  }
  const config = JSON.parse(
    execFileSync('kubectl', ['config', 'view', '--raw', '-o', 'json', '--kubeconfig', kubeconfig(cluster)], {
      encoding: 'utf8',
    }),
  ) as { users: unknown[]; contexts: { context: { user: string } }[] };
  config.users = [
    { name: 'console', user: { token: cluster.kubectl(['create', 'token', 'console', '-n', 'vision']) } },
  ];
  for (const each of config.contexts) each.context.user = 'console';
  writeFileSync(join(dir, 'config'), JSON.stringify(config));
  const url = await berth(['console', '--kubeconfig', join(dir, 'config'), '--listen', '127.0.0.1:0']);
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${url}/clusterqueues/vision#token=token-of-root`);
  await expect(page.locator('h1')).toContainText('vision');
  await page.goto(`${url}/workloads`);
  await expect(page.getByText("the console's own account may not read this")).toBeVisible();
  // Without the right to ask about tokens nobody can sign in, and the page says why.
  cluster.kubectl(['delete', 'clusterrolebinding', 'console-tokens']);
  const other = await browser.newContext();
  const login = await other.newPage();
  await login.goto(url);
  await login.getByLabel('Token').fill('token-of-ann');
  await login.getByRole('button', { name: 'Sign in' }).click();
  await expect(login.getByRole('alert')).toContainText(/cannot|may not|not allowed|forbidden/i);
  await other.close();
  await context.close();
});

test('berth up serves its console elsewhere when the usual port is taken', async ({ browser }) => {
  const taken = createServer();
  await new Promise<void>((done) => taken.once('error', () => done()).listen(7080, '127.0.0.1', () => done())); // an error: it is taken already
  const link = await berth([
    'up',
    '--ephemeral',
    '--data-dir',
    join(dir, 'up'),
    '--listen',
    `127.0.0.1:${await freePort()}`,
  ]);
  expect(link).not.toContain(':7080/');
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(link);
  await expect(page.locator('h1')).toHaveText('Overview');
  await expect(page.getByText('Live')).toBeVisible();
  // Nothing is recorded, and nothing is there yet: every page says so.
  for (const [to, text] of [
    ['/history', 'keeps no journal'],
    ['/workloads', 'Nothing here'],
    ['/flavors', 'Nothing here'],
  ] as const) {
    await page.goto(new URL(to, link).href);
    await expect(page.locator('main').getByText(text), to).toBeVisible();
  }
  await context.close();
  taken.close();
});

test('a certificate that cannot be read is an error at the start', async ({ cluster }) => {
  await expect(
    berth([
      'console',
      '--kubeconfig',
      kubeconfig(cluster),
      '--listen',
      '127.0.0.1:0',
      '--tls-cert',
      '/nowhere.crt',
      '--tls-key',
      join(dir, 'tls.key'),
    ]),
  ).rejects.toThrow(/--tls-cert.*nowhere\.crt/s);
  await expect(
    berth(['console', '--kubeconfig', kubeconfig(cluster), '--trusted-proxies', 'proxy.example']),
  ).rejects.toThrow(/--trusted-proxies: proxy\.example/);
});
