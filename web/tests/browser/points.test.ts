// What people stumbled over once: colours that change, numbers of what a user may not see, cut columns, the order of a
// queue, last night, and the like.
import { enter, expect, test, type Cluster } from './cluster';

// Ann may see the workloads and queues of one namespace, and change nothing.
function mayLook(cluster: Cluster): void {
  cluster.apply({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'look', namespace: 'vision' },
    rules: [{ apiGroups: ['kueue.x-k8s.io'], resources: ['workloads', 'localqueues'], verbs: ['get', 'list'] }],
  });
  cluster.apply({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'look', namespace: 'vision' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'look' },
    subjects: [{ kind: 'User', name: 'ann', apiGroup: 'rbac.authorization.k8s.io' }],
  });
}

test('the colour of a cluster queue does not follow its rank', async ({ page, cluster }) => {
  await enter(page, cluster);
  const colours = () =>
    page
      .locator('.card', { hasText: 'Who holds what' })
      .locator('.legend span')
      .evaluateAll((all) =>
        Object.fromEntries(all.map((s) => [s.textContent, (s.querySelector('i') as HTMLElement).style.background])),
      );
  await expect.poll(async () => Object.keys(await colours()).length).toBeGreaterThan(2);
  const before = await colours();
  cluster.job('ads', 'takes-the-lead', 6);
  await page.waitForTimeout(3000);
  const after = await colours();
  for (const name of Object.keys(before)) if (after[name]) expect(after[name], name).toBe(before[name]);
  expect(new Set(Object.values(after)).size).toBe(Object.keys(after).length);
  cluster.kubectl(['delete', 'job', 'takes-the-lead', '-n', 'ads', '--wait=false']);
});

test('"per minute" ends with the last whole minute', async ({ page, cluster }) => {
  await enter(page, cluster);
  const chart = page.locator('.card', { hasText: 'Per minute' });
  await chart.getByText('Show as a table').click();
  const last = await chart.locator('tbody tr').last().locator('td').first().textContent();
  const now = new Date();
  const minute = (d: Date) => `${String(d.getHours()).padStart(2, '0')}:${String(d.getMinutes()).padStart(2, '0')}`;
  expect([minute(new Date(now.getTime() - 60_000)), minute(new Date(now.getTime() - 120_000))]).toContain(
    last!.slice(0, 5),
  );
});

test('a user without rights is told so, and has no button that is refused', async ({ browser, cluster }) => {
  mayLook(cluster);
  cluster.job('vision', 'looked-at', 900);
  const context = await browser.newContext();
  const page = await context.newPage();
  await enter(page, cluster, '/overview', 'token-of-ann');
  const tile = page.getByRole('link', { name: /cluster queues/ });
  await expect(tile).toContainText('you may not see this');
  await expect(tile).not.toContainText('all active');
  await expect(page.getByRole('link', { name: /hold quota/ })).not.toContainText('you may not see this');
  await expect.poll(() => cluster.kubectl(['get', 'workloads', '-n', 'vision', '-o', 'name'])).toContain('looked-at');
  const name = cluster
    .kubectl(['get', 'workloads', '-n', 'vision', '-o', 'name'])
    .split('\n')
    .find((n) => n.includes('looked-at'))!
    .replace(/.*\//, '');
  await page.goto(`${cluster.url}/workloads/vision/${name}`);
  await expect(page.locator('.may-not')).toContainText('You may not change this: patch workloads.kueue.x-k8s.io');
  await expect(page.getByRole('button', { name: 'Deactivate' })).toHaveCount(0);
  await page.goto(`${cluster.url}/localqueues/vision/main`);
  await expect(page.locator('.may-not')).toContainText('patch localqueues.kueue.x-k8s.io');
  await expect(page.getByRole('button', { name: 'Stop' })).toHaveCount(0);
  await context.close();
});

test('at 1,440 px reason and amounts are not cut; at 390 px the reason is a second line', async ({
  browser,
  cluster,
}) => {
  cluster.job('robotics', 'enormous', 900);
  for (const width of [1440, 390]) {
    const context = await browser.newContext({ viewport: { width, height: 844 } });
    const page = await context.newPage();
    await enter(page, cluster, '/workloads?state=waiting');
    const row = page.getByRole('row').and(page.locator('[data-key]')).first();
    await expect(row).toContainText(/can never fit|more than the quota|quota|stopped/);
    if (width === 390) {
      await expect(row.locator('.under-line')).toBeVisible();
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    } else {
      const cut = await page
        .locator('[data-key] [role=gridcell]')
        .evaluateAll((cells) =>
          cells.filter((c) => !c.querySelector('.main') && c.scrollWidth > c.clientWidth + 1).map((c) => c.textContent),
        );
      expect(cut, 'only long names are cut').toEqual([]);
    }
    await context.close();
  }
});

test('a queue page has what waits in the order of the queue, apart from what runs', async ({ page, cluster }) => {
  cluster.job('robotics', 'enormous', 900);
  await enter(page, cluster, '/clusterqueues/robotics');
  const waiting = page.getByRole('grid', { name: 'Waiting' });
  await expect(waiting.locator('[aria-sort=ascending]')).toHaveText(/#/);
  await expect(waiting).toContainText('enormous');
  await expect(page.getByRole('grid', { name: 'Hold quota' })).not.toContainText('enormous');
  const places = (await waiting.locator('.row[data-key] [role=gridcell]:nth-child(3)').allTextContents())
    .filter(Boolean)
    .map(Number);
  expect(places).toEqual([...places].sort((a, b) => a - b));
});

test('the history fits what is known, and "last night" before six is this night', async ({ browser, cluster }) => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await enter(page, cluster, '/history');
  await expect(page.getByRole('radio', { name: '15m' })).toBeChecked();
  await page.clock.setFixedTime(new Date(2030, 5, 10, 3, 0));
  await page.getByRole('button', { name: 'Last night' }).click();
  await expect(page).toHaveURL(/range=12h/);
  await expect(page, 'the night has not ended').not.toHaveURL(/to=\d/);
  await page.clock.setFixedTime(new Date(2030, 5, 10, 9, 0));
  await page.getByRole('button', { name: 'Last night' }).click();
  await expect(page).toHaveURL(new RegExp(`to=${new Date(2030, 5, 10, 6).getTime()}`));
  await context.close();
});

test('the topology has totals of racks, workloads of nodes, cordoned in its legend, and fills the page', async ({
  page,
  cluster,
}) => {
  await enter(page, cluster, '/topology?view=table');
  const racks = page.getByRole('region', { name: 'Totals per rack' });
  await expect(racks.getByRole('row')).toHaveCount(13);
  await expect(page.getByRole('columnheader', { name: 'Workloads' })).toBeVisible();
  await expect(page.getByRole('grid').getByRole('link').first()).toBeVisible();
  await page.goto(`${cluster.url}/topology`);
  await expect(page.locator('.legend')).toContainText('Cordoned');
});

test('Enter in the token field signs in; tab titles are words', async ({ browser, cluster }) => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(cluster.url);
  await page.getByLabel('Token').fill('token-of-root');
  await page.getByLabel('Token').press('Enter');
  await expect(page.locator('h1')).toHaveText('Overview');
  await expect(page).toHaveTitle('Overview · Berth');
  for (const [to, title] of [
    ['/localqueues', 'Local queues'],
    ['/checks', 'Admission checks'],
    ['/clusterqueues/vision', 'vision · Cluster queue'],
    ['/nowhere', '404'],
  ] as const) {
    await page.goto(cluster.url + to);
    await expect(page).toHaveTitle(`${title} · Berth`);
  }
  await context.close();
  const chinese = await browser.newContext({ locale: 'zh-CN' });
  const other = await chinese.newPage();
  await other.goto(`${cluster.url}/workloads#token=${cluster.token}`);
  await expect(other).toHaveTitle('工作负载 · Berth');
  await chinese.close();
});

test('an object of a few seconds has no events yet', async ({ page, cluster }) => {
  cluster.apply({ apiVersion: 'kueue.x-k8s.io/v1beta2', kind: 'ResourceFlavor', metadata: { name: 'fresh' } });
  await enter(page, cluster, '/flavors/fresh');
  await expect(page.getByText('No events yet.')).toBeVisible();
  cluster.kubectl(['delete', 'resourceflavor', 'fresh']);
});

test('the banner of a lost connection does not cover the title', async ({ page, cluster }) => {
  await enter(page, cluster, '/queues');
  await cluster.stop();
  const banner = page.getByRole('alert');
  await expect(banner).toBeVisible();
  const [below, title] = [await banner.boundingBox(), await page.locator('h1').boundingBox()];
  expect(below!.y + below!.height).toBeLessThanOrEqual(title!.y + 1);
  await cluster.start();
});

test('"Try a job" says what becomes of a job, creates nothing, and passes on a refusal', async ({ page, cluster }) => {
  await enter(page, cluster, '/try');
  await page.getByRole('button', { name: /Namespace$/ }).click();
  await page.getByRole('option', { name: 'robotics', exact: true }).click();
  await page.getByLabel('GPUs of a pod').fill('900');
  await page.getByRole('button', { name: 'Try it' }).click();
  const outcome = page.locator('.outcome');
  await expect(outcome).toContainText('It can never fit');
  await expect(outcome).toContainText('Waiting');
  await page.getByRole('radio', { name: 'Manifest' }).click();
  await page
    .getByLabel('Manifest', { exact: true })
    .last()
    .fill('apiVersion: batch/v1\nkind: Job\nmetadata: {name: tried}\nspec: {template: {}}');
  await page.getByRole('button', { name: 'Try it' }).click();
  await expect(page.getByRole('alert')).toContainText('No answer');
  expect(cluster.kubectl(['get', 'jobs', '-n', 'robotics', '-o', 'name'])).not.toMatch(/tried|trial/);
});

test('"My work" is the home of a user of one namespace: what waits, what runs, what the queues use', async ({
  browser,
  cluster,
}) => {
  mayLook(cluster);
  const context = await browser.newContext();
  const page = await context.newPage();
  await enter(page, cluster, '/', 'token-of-ann');
  await expect(page.locator('h1')).toHaveText('My work');
  await expect(page.locator('main')).toContainText('Namespaces: vision');
  await expect(page.getByRole('grid', { name: 'Waits, the next first' }).locator('[aria-sort=ascending]')).toHaveText(
    /#/,
  );
  await expect(page.getByRole('region', { name: 'My queues' })).toContainText('main');
  await expect(
    page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Queues', exact: true }),
  ).toHaveCount(0);
  await expect(page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Workloads' })).toBeVisible();
  await context.close();
  const boss = await browser.newContext({ viewport: { width: 390, height: 844 } });
  const other = await boss.newPage();
  await enter(other, cluster, '/mine');
  await expect(other.locator('h1')).toHaveText('My work');
  expect(await other.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await boss.close();
});

test('search finds everything by its name, with the keyboard alone', async ({ page, cluster }) => {
  await enter(page, cluster);
  await page.keyboard.press('/');
  const box = page.getByRole('combobox', { name: 'Search workloads, queues, flavors, pages' });
  await expect(box).toBeFocused();
  await page.keyboard.type('vision');
  await expect(page.getByRole('option').first()).toContainText('vision');
  await expect(page.getByRole('option', { name: /Cluster queue/ }).first()).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(box).toHaveCount(0);
  await page.keyboard.press('Control+k');
  await page.keyboard.type('h100');
  await expect(page.getByRole('option').first()).toContainText('Flavor');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/flavors\/h100/);
  await page.goto(`${cluster.url}/workloads`);
  await page.getByRole('searchbox').fill('a/b');
  await expect(page.getByRole('searchbox'), 'a slash in a field is a slash').toHaveValue('a/b');
});
