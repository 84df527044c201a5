// The pictures of the documents (docs/images), taken only when BERTH_IMAGES is set.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, IMAGES, test } from './cluster';

test.skip(!process.env.BERTH_IMAGES, 'BERTH_IMAGES is not set');

test('pictures of every page', async ({ browser, cluster }) => {
  test.setTimeout(900_000);
  mkdirSync(IMAGES, { recursive: true });
  // Jobs come and go for some minutes, so that charts and history have something to show.
  await cluster.busy(Number(process.env.BERTH_IMAGES_ROUNDS ?? 30), 2);
  cluster.kubectl(['annotate', 'node', 'b1-r3-n4', 'b2-r2-n7', 'berth.dev/fail=NotReady']);
  cluster.kubectl(['cordon', 'b2-r5-n2']);
  // Chosen when its picture is taken: workloads come and go.
  // The first of its queue: its explanation names the change that starts it.
  const waiting = () => {
    const summary = cluster.kubectl([
      'get',
      '--raw',
      '/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/robotics/pendingworkloads?limit=1',
    ]);
    return `/workloads/robotics/${(JSON.parse(summary) as { items: { metadata: { name: string } }[] }).items[0]?.metadata.name ?? ''}`;
  };
  const shots: [string, string | (() => string), 'light' | 'dark', string?][] = [
    ['overview', '/', 'light'],
    ['queues', '/queues', 'light'],
    ['workload', waiting, 'light'],
    ['cluster-queue', '/clusterqueues/vision', 'dark'],
    ['my-work', '/mine?ns=language', 'light'],
    ['topology-workloads', '/topology?by=workload&node=b1-r1-n2', 'dark'],
    ['history', '/history?range=15m', 'light'],
    ['history-table', '/history?range=15m&view=table', 'dark'],
    ['overview-zh', '/', 'light', 'zh-CN'],
  ];
  for (const [name, to, colorScheme, locale = 'en'] of shots) {
    const context = await browser.newContext({ colorScheme, locale, viewport: { width: 1360, height: 850 } });
    const page = await context.newPage();
    // A workload that waits may be admitted while its page opens; then the next one is taken.
    for (let tries = 0; tries < 10; tries++) {
      await page.goto(`${cluster.url}${typeof to === 'string' ? to : to()}#token=${cluster.token}`);
      await page.waitForTimeout(2500);
      if (name !== 'workload' || (await page.locator('.explanation .changes').count()) > 0) break;
    }
    await expect(page.locator('h1')).toBeVisible();
    await page.screenshot({ path: join(IMAGES, `console-${name}.png`) });
    await context.close();
  }
});
