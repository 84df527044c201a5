// A `berth up` with the scene of the demo, and pages that are signed in to its console.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test as base, expect, type Page } from '@playwright/test';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
export const BERTH = process.env.BERTH ?? join(ROOT, 'build/release/berth');
export const MOCK = join(ROOT, 'web/tests/mock/server.mjs');
export const IMAGES = join(ROOT, 'docs/images');

export async function freePort(): Promise<number> {
  return new Promise((done) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => done(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

async function until(what: string, holds: () => boolean, ms = 30_000): Promise<void> {
  for (const end = Date.now() + ms; !holds();) {
    if (Date.now() > end) throw new Error(`waited too long for ${what}`);
    await new Promise((done) => setTimeout(done, 100));
  }
}

export class Cluster {
  readonly dir = mkdtempSync(join(tmpdir(), 'berth-console-'));
  private process?: ChildProcess;
  private load?: ChildProcess;
  private output = '';
  url = '';
  token = '';

  constructor(
    private readonly apiPort: number,
    private readonly consolePort: number,
  ) {
    writeFileSync(join(this.dir, 'tokens'), 'token-of-ann,ann,1001\ntoken-of-root,root,1002,"system:masters"\n');
  }

  async start(): Promise<void> {
    this.output = '';
    this.process = spawn(
      BERTH,
      [
        'up',
        '--data-dir',
        join(this.dir, 'data'),
        '--listen',
        `127.0.0.1:${this.apiPort}`,
        '--console',
        `127.0.0.1:${this.consolePort}`,
        '--allow-changes',
        '--token-file',
        join(this.dir, 'tokens'),
        '--nodes',
        '2x6x8',
        '--node-resources',
        'cpu=96,memory=1024Gi,nvidia.com/gpu=8,pods=110',
        '--load',
        join(ROOT, 'config/samples/console.yaml'),
      ],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const read = (data: Buffer) => {
      this.output += data.toString();
      appendFileSync(join(this.dir, 'log'), data);
    };
    this.process.stdout!.on('data', read);
    this.process.stderr!.on('data', read);
    await until(`berth up: ${this.output}`, () => {
      if (this.process?.exitCode !== null) throw new Error(`berth up ended: ${this.output}`);
      return /^ready/m.test(this.output);
    });
    const link = /console: (\S+)\/#token=(\S+)/.exec(this.output);
    if (!link) throw new Error(`berth up has no console: ${this.output}`);
    [this.url, this.token] = [link[1]!, link[2]!];
  }

  async stop(): Promise<void> {
    const ended = this.process;
    if (!ended || ended.exitCode !== null) return;
    ended.kill('SIGTERM');
    await until('the end of berth up', () => ended.exitCode !== null || ended.signalCode !== null);
  }

  async close(): Promise<void> {
    this.load?.kill();
    await this.stop();
    rmSync(this.dir, { recursive: true, force: true });
  }

  // Submits jobs for so many rounds, without waiting for them to run.
  async busy(rounds: number, pause = 0.1): Promise<void> {
    const load = spawn(join(ROOT, 'scripts/lib/console-load'), [String(rounds), String(pause)], {
      env: { ...process.env, KUBECONFIG: join(this.dir, 'data/kubeconfig') },
      stdio: 'ignore',
    });
    this.load = load;
    await until('the jobs', () => load.exitCode !== null, 120_000 + rounds * (pause + 2) * 1000);
  }

  kubectl(args: string[], input?: string): string {
    return execFileSync('kubectl', args, {
      input,
      encoding: 'utf8',
      env: { ...process.env, KUBECONFIG: join(this.dir, 'data/kubeconfig') },
    }).trim();
  }

  apply(manifest: object): void {
    this.kubectl(['apply', '-f', '-'], JSON.stringify(manifest));
  }

  job(ns: string, name: string, gpus: number, seconds = 3600): void {
    this.apply({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name, namespace: ns, labels: { 'kueue.x-k8s.io/queue-name': 'main' } },
      spec: {
        suspend: true,
        template: {
          metadata: { annotations: { 'berth.dev/run-for': `${seconds}s` } },
          spec: {
            restartPolicy: 'Never',
            containers: [
              {
                name: 'main',
                image: 'example.com/x',
                resources: {
                  requests: { 'nvidia.com/gpu': String(gpus), cpu: '1', memory: '1Gi' },
                  limits: { 'nvidia.com/gpu': String(gpus) },
                },
              },
            ],
          },
        },
      },
    });
  }

  log(): string {
    return readFileSync(join(this.dir, 'log'), 'utf8');
  }
}

// What the browser complained about: violations of the content security policy and exceptions are failures.
export function watch(page: Page): string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' && /Content Security Policy/i.test(message.text())) complaints.push(message.text());
  });
  return complaints;
}

export async function enter(page: Page, cluster: Cluster, to = '/', token = cluster.token): Promise<void> {
  await page.goto(`${cluster.url}${to}#token=${token}`);
  await expect(page.locator('h1').first()).toBeVisible();
  await expect(page.getByText('Live')).toBeVisible();
}

export const test = base.extend<object, { cluster: Cluster }>({
  cluster: [
    // eslint-disable-next-line no-empty-pattern
    async ({}, use) => {
      const cluster = new Cluster(await freePort(), await freePort());
      await cluster.start();
      await cluster.busy(25);
      await use(cluster);
      await cluster.close();
    },
    { scope: 'worker', timeout: 180_000 },
  ],
});
export { expect };
