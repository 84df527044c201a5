import { defineConfig } from '@playwright/test';

// One browser at a time, against a `berth up` of its own (tests/browser/cluster.ts) or the pretend server.
export default defineConfig({
  testDir: 'tests/browser',
  workers: 1,
  timeout: 60_000,
  retries: 1, // on a busy machine; the list names a test that passes only then as flaky
  expect: { timeout: 10_000 },
  reporter: [['list']],
  outputDir: 'test-results',
  use: {
    viewport: { width: 1440, height: 900 },
    launchOptions: {
      executablePath: process.env.BERTH_CHROMIUM ?? '/usr/bin/chromium',
      // The sandbox needs user namespaces, which containers often lack; only pages of this machine are opened.
      args: ['--no-sandbox'],
    },
  },
});
