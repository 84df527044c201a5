// The console in a browser, on a real `berth up`.
import { AxeBuilder } from '@axe-core/playwright';
import { enter, expect, test, watch } from './cluster';

const PAGES = [
  '/',
  '/queues',
  '/workloads?state=all',
  '/topology',
  '/topology?view=table',
  '/history',
  '/history?view=table',
  '/localqueues',
  '/cohorts',
  '/flavors',
  '/checks',
  '/clusterqueues/vision',
  '/cohorts/research',
  '/localqueues/vision/main',
  '/flavors/h100',
  '/checks/capacity',
  '/vcqueues/tenant-a',
  '/try',
  '/mine',
];

test('each page has its title, data and no complaints of the browser', async ({ page, cluster }) => {
  const complaints = watch(page);
  await enter(page, cluster);
  expect(page.url(), 'the token leaves the address').not.toContain('token');
  for (const to of PAGES) {
    await page.goto(cluster.url + to);
    await expect(page.locator('h1'), to).toBeVisible();
    await expect(page.locator('h1'), to).not.toHaveText('404');
  }
  await page.goto(`${cluster.url}/queues`);
  await expect(page.getByRole('row', { name: /vision/ })).toBeVisible();
  await page.goto(`${cluster.url}/nowhere`);
  await expect(page.locator('h1')).toHaveText('404');
  expect(complaints).toEqual([]);
});

test('a job appears in the list within a second, and its states follow', async ({ page, cluster }) => {
  await enter(page, cluster, '/workloads?ns=ads&text=fresh');
  const row = page.getByRole('row', { name: /fresh/ });
  await expect(row).toHaveCount(0);
  cluster.job('ads', 'fresh', 1);
  const created = Date.now();
  await expect(row).toHaveCount(1, { timeout: 5000 });
  const after = Date.now() - created;
  console.log(`the row appeared ${after} ms after kubectl had ended`);
  expect(after).toBeLessThan(1000);
  await expect(row).toContainText('Admitted');
  cluster.kubectl(['delete', 'job', 'fresh', '-n', 'ads', '--wait=false']);
  await expect(row).toHaveCount(0);
});

test('a workload explains why it waits, and shows its timeline, pods, events and YAML', async ({ page, cluster }) => {
  cluster.job('maps', 'held', 1);
  cluster.job('robotics', 'huge', 900);
  await enter(page, cluster, '/workloads?ns=robotics&text=huge');
  await page.getByRole('row', { name: /huge/ }).getByRole('link').first().click();
  await expect(page.locator('h1')).toContainText('huge');
  await expect(page.locator('.facts'), 'the cluster queue is that of the local queue').toContainText('Cluster queue');
  await expect(page.getByRole('heading', { name: 'Why it waits' })).toBeVisible();
  await expect(page.locator('.explanation .summary')).not.toBeEmpty();
  await expect(page.locator('.timeline')).toContainText('Created');
  await page.getByRole('tab', { name: 'YAML' }).click();
  await expect(page.locator('pre')).toContainText('kind: Workload');
  await expect(page.locator('pre')).not.toContainText('managedFields');
});

test('filters stay in the address, and the back button returns to them', async ({ page, cluster }) => {
  await enter(page, cluster, '/workloads');
  await page.getByRole('button', { name: /Any queue/ }).click();
  await page.getByRole('option', { name: 'vision', exact: true }).click();
  await expect(page).toHaveURL(/queue=vision/);
  await page.getByRole('searchbox').fill('eval');
  await expect(page).toHaveURL(/text=eval/);
  await page.getByRole('columnheader', { name: 'Priority' }).getByRole('button').click();
  await expect(page).toHaveURL(/sort=priority/);
  await page.getByRole('link', { name: 'Queues', exact: true }).click();
  await expect(page.locator('h1')).toHaveText('Queues');
  await page.goBack();
  await expect(page.getByRole('searchbox')).toHaveValue('eval');
  await expect(page).toHaveURL(/queue=vision&text=eval&sort=priority/);
  await page.goBack();
  await expect(page).not.toHaveURL(/queue=vision/);
});

test('the keyboard alone is enough', async ({ page, cluster }) => {
  await enter(page, cluster, '/queues');
  const tree = page.getByRole('treegrid');
  await expect(page.getByRole('row', { name: /^.*company/ }).first()).toBeVisible();
  await tree.focus();
  await page.keyboard.press('Home');
  await expect(page.locator('.row.active')).toContainText('company');
  await page.keyboard.press('ArrowLeft');
  await expect(page.locator('.row.active')).toHaveAttribute('aria-expanded', 'false');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowDown');
  await expect(page.locator('.row.active')).toHaveAttribute('aria-level', '2');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/cohorts\//);
  await page.goto(`${cluster.url}/workloads?state=all`);
  await page.getByRole('grid').focus();
  await expect(page.locator('.row.active')).toHaveCount(1);
  await page.keyboard.press('ArrowDown');
  const key = await page.locator('.row.active').getAttribute('data-key');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(new RegExp(`/workloads/${key}`));
  await page.goto(`${cluster.url}/topology`);
  await page.locator('.map').focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await expect(page.locator('.panel')).toContainText('b1-r1-n1');
  await page.goto(cluster.url);
  await expect(page.locator('h1')).toHaveText('Overview');
  await page.keyboard.press('Tab');
  await expect(page.getByRole('link', { name: 'Skip to the content' })).toBeFocused();
});

test('follows the system and the browser, and can be switched', async ({ browser, cluster }) => {
  const context = await browser.newContext({ colorScheme: 'dark', locale: 'zh-CN' });
  const page = await context.newPage();
  await page.goto(`${cluster.url}/#token=${cluster.token}`);
  await expect(page.locator('h1')).toHaveText('概览');
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await page.getByRole('button', { name: '设置' }).click();
  await page.getByRole('menuitem', { name: 'English' }).click();
  await expect(page.locator('h1')).toHaveText('Overview');
  await page.getByRole('button', { name: 'Settings' }).click();
  await page.getByRole('menuitem', { name: 'Light' }).click();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'light');
  await page.reload();
  await expect(page.locator('h1')).toHaveText('Overview');
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'light');
  await context.close();
});

test('fits a telephone', async ({ browser, cluster }) => {
  const context = await browser.newContext({ viewport: { width: 390, height: 800 } });
  const page = await context.newPage();
  await enter(page, cluster);
  for (const to of ['/', '/queues', '/workloads?state=all', '/topology', '/history', '/clusterqueues/vision']) {
    await page.goto(cluster.url + to);
    await expect(page.locator('h1')).toBeVisible();
    expect(await page.evaluate(() => document.documentElement.scrollWidth), to).toBeLessThanOrEqual(390);
  }
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('link', { name: 'Flavors' }).click();
  await expect(page.locator('h1')).toHaveText('Flavors');
  await context.close();
});

test('history shows what happened, as strips and as a table', async ({ page, cluster }) => {
  cluster.job('ads', 'short', 1, 1);
  await enter(page, cluster, '/history?range=15m&queue=ads');
  const strip = page.locator('.strip', { hasText: 'ads/job-short' });
  await expect(strip).toBeVisible({ timeout: 25_000 });
  await expect(strip.locator('.s-admitted')).not.toHaveCount(0);
  await expect(page.locator('.strip.queue')).toHaveText(/ads/);
  await page.locator('.strips').focus();
  await page.keyboard.press('ArrowLeft');
  await expect(page.locator('.moment')).toContainText('admitted');
  await page.getByRole('radio', { name: 'Table' }).click();
  await expect(page).toHaveURL(/view=table/);
  const row = page.getByRole('row', { name: /ads\/job-short/ });
  await expect(row).toContainText('finished', { timeout: 25_000 });
  await page.getByRole('columnheader', { name: 'Waited' }).getByRole('button').click();
  await expect(page).toHaveURL(/sort=waited/);
  await page.getByRole('grid').focus();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/workloads\/ads\//);
});

// Everything in the light theme; in the dark one what differs: contrast.
for (const scheme of ['light', 'dark'] as const)
  test(`axe finds nothing serious, ${scheme}`, async ({ browser, cluster }) => {
    test.setTimeout(150_000);
    const context = await browser.newContext({ colorScheme: scheme });
    const page = await context.newPage();
    await page.goto(cluster.url);
    await expect(page.locator('h1')).toHaveText('Sign in');
    const found: string[] = [];
    const look = async (name: string) => {
      const axe = new AxeBuilder({ page });
      const { violations } = await (scheme === 'dark' ? axe.withRules(['color-contrast']) : axe).analyze();
      for (const v of violations)
        if (v.impact === 'serious' || v.impact === 'critical')
          found.push(
            `${name}: ${v.id} ${v.nodes
              .slice(0, 3)
              .map((n) => `${n.target.join(' ')} ${n.any[0]?.message ?? ''}`)
              .join(' | ')}`,
          );
    };
    await look('login');
    await enter(page, cluster);
    const workload = cluster.kubectl([
      'get',
      'workloads',
      '-n',
      'language',
      '-o',
      'jsonpath={.items[0].metadata.name}',
    ]);
    for (const to of [...PAGES, `/workloads/language/${workload}`]) {
      await page.goto(cluster.url + to);
      await page.waitForTimeout(500);
      await look(to);
    }
    expect(found).toEqual([]);
    await context.close();
  });

test('a token with rights in one namespace sees that one only', async ({ browser, cluster }) => {
  for (const [name, resources] of [['see', ['workloads', 'localqueues']]] as const)
    cluster.apply({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name, namespace: 'vision' },
      rules: [{ apiGroups: ['kueue.x-k8s.io'], resources, verbs: ['get', 'list'] }],
    });
  cluster.apply({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'see', namespace: 'vision' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'see' },
    subjects: [{ kind: 'User', name: 'ann', apiGroup: 'rbac.authorization.k8s.io' }],
  });
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(cluster.url);
  await page.getByLabel('Token').fill('wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByRole('alert')).toBeVisible();
  await page.getByLabel('Token').fill('token-of-ann');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.locator('h1')).toHaveText('My work');
  await page.goto(`${cluster.url}/workloads?state=all`);
  await expect(page.locator('.row[data-key]').first()).toBeVisible();
  const keys = await page
    .locator('.row[data-key]')
    .evaluateAll((rows) => rows.map((r) => (r as HTMLElement).dataset.key!.split('/')[0]));
  expect(new Set(keys)).toEqual(new Set(['vision']));
  await page.goto(`${cluster.url}/queues`);
  await expect(page.getByText('You may not see this')).toBeVisible();
  await page.goto(`${cluster.url}/topology`);
  await expect(page.getByText('You may not see this')).toBeVisible();
  await context.close();
});

test('buttons stop and resume a queue, after a question', async ({ page, cluster }) => {
  await enter(page, cluster, '/clusterqueues/ads');
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Stop' }).click();
  await expect(page.locator('h1')).toContainText('On hold');
  expect(cluster.kubectl(['get', 'clusterqueue', 'ads', '-o', 'jsonpath={.spec.stopPolicy}'])).toBe('Hold');
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Resume' }).click();
  await expect(page.locator('h1')).toContainText('Active');
});

test('a token that is not accepted any more ends the session', async ({ browser, cluster }) => {
  test.setTimeout(150_000);
  cluster.kubectl(['create', 'serviceaccount', 'guest', '-n', 'vision']);
  cluster.kubectl(['create', 'rolebinding', 'guest', '-n', 'vision', '--role=see', '--serviceaccount=vision:guest']);
  const token = cluster.kubectl(['create', 'token', 'guest', '-n', 'vision']);
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${cluster.url}/workloads#token=${token}`);
  await expect(page.locator('h1')).toHaveText('Workloads');
  cluster.kubectl(['delete', 'serviceaccount', 'guest', '-n', 'vision']);
  await expect(page.getByText('Your session has expired')).toBeVisible({ timeout: 120_000 });
  await context.close();
});

test('says that the server is gone, and goes on when it is back', async ({ page, cluster }) => {
  await enter(page, cluster, '/workloads?state=all', 'token-of-root');
  await expect(page.locator('.row[data-key]').first()).toBeVisible();
  await cluster.stop();
  await expect(page.getByRole('alert')).toContainText('connection to Berth is lost');
  await expect(page.locator('.row[data-key]').first(), 'what was known stays').toBeVisible();
  await cluster.start();
  // Sessions are kept in memory, so the new server asks for the token again.
  await expect(page.getByText('Your session has expired').or(page.getByText('Live'))).toBeVisible({ timeout: 30_000 });
  if (await page.getByLabel('Token').isVisible()) {
    await page.getByLabel('Token').fill('token-of-root');
    await page.getByRole('button', { name: 'Sign in' }).click();
  }
  await expect(page).toHaveURL(/workloads\?state=all/);
  await expect(page.locator('.row[data-key]').first()).toBeVisible();
});
