// How long large clusters take, on the pretend server: 50,000 workloads, 1,000 cluster queues, 100,000 nodes.
import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';
import { freePort, MOCK } from './cluster';

let server: ChildProcess;
let url = '';

test.beforeAll(async () => {
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  server = spawn(
    process.execPath,
    [
      MOCK,
      '--port',
      String(port),
      '--dist',
      process.env.BERTH_DIST ?? fileURLToPath(new URL('../../dist', import.meta.url)),
      '--workloads',
      '50000',
      '--queues',
      '1000',
      '--nodes',
      '100000',
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  await new Promise((ready) => server.stdout!.once('data', ready));
});
test.afterAll(() => void server.kill());
test.setTimeout(120_000);

test('50,000 workloads: the first rows within two seconds, then sorting and filtering', async ({ page }) => {
  await page.goto(`${url}/queues#token=any`);
  await expect(page.locator('h1')).toHaveText('Queues');
  const began = Date.now();
  await page.goto(`${url}/workloads?state=all`, { waitUntil: 'commit' });
  await page.locator('.row[data-key]').first().waitFor();
  const first = Date.now() - began;
  await expect(page.locator('.under')).toContainText('50,000 of 50,000', { timeout: 30_000 });
  const all = Date.now() - began;
  expect(await page.locator('.row[data-key]').count()).toBeLessThan(80);
  const sorting = Date.now();
  await page.getByRole('columnheader', { name: 'Priority' }).getByRole('button').click();
  await expect(page.locator('[aria-sort=ascending]')).toHaveText(/Priority/);
  const sorted = Date.now() - sorting;
  const filtering = Date.now();
  await page.getByRole('searchbox').fill('train');
  await expect(page.locator('.under')).not.toContainText('50,000 of');
  const filtered = Date.now() - filtering;
  console.log(`first rows ${first} ms, all ${all} ms, sort ${sorted} ms, filter ${filtered} ms`);
  expect(first).toBeLessThan(4000); // twice the aim: other work may slow the machine
});

test('1,000 cluster queues in the tree', async ({ page }) => {
  await page.goto(`${url}/#token=any`);
  await expect(page.locator('h1')).toHaveText('Overview');
  const began = Date.now();
  await page.goto(`${url}/queues`, { waitUntil: 'commit' });
  await expect(page.locator('.under')).toContainText('1,004', { timeout: 30_000 });
  console.log(`tree of 1,000 queues ${Date.now() - began} ms`);
  await page.getByRole('treegrid').focus();
  await page.keyboard.press('End');
  expect(await page.locator('.row[data-key]').count()).toBeLessThan(60);
});

test('100,000 nodes: the map redraws within 100 ms', async ({ page }) => {
  await page.goto(`${url}/topology#token=any`);
  await expect(page.locator('.under')).toContainText('100,000 nodes', { timeout: 60_000 });
  await page.waitForTimeout(1500);
  const times: number[] = [];
  for (let i = 0; i < 20; i++) {
    await page.locator('.map').evaluate(
      (map, at) => {
        map.scrollTop = at;
        map.dispatchEvent(new Event('scroll'));
      },
      (i % 10) * 150,
    );
    times.push(Number(await page.locator('.map').getAttribute('data-drawn')));
  }
  times.sort((a, b) => a - b);
  console.log(`redraw of 100,000 nodes: median ${times[10]} ms, slowest ${times[19]} ms`);
  expect(times[10]).toBeLessThan(100);
  // All of them at once, as on a wall of screens.
  await page.setViewportSize({ width: 3000, height: 2400 });
  await page.waitForTimeout(1000);
  console.log(`on a large screen: ${await page.locator('.map').getAttribute('data-drawn')} ms`);
});
