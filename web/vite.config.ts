import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const out = process.env.BERTH_DIST ?? 'dist';

// Writes "NAME.gz" beside each text file: the server sends it as it is.
function compressed(): Plugin {
  return {
    name: 'compressed',
    closeBundle() {
      for (const entry of readdirSync(out, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile() || !/\.(html|js|css|svg)$/.test(entry.name)) continue;
        const path = join(entry.parentPath ?? entry.path, entry.name);
        writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
      }
    },
  };
}

export default defineConfig({
  plugins: [react(), compressed()],
  build: {
    outDir: out,
    emptyOutDir: true,
    target: 'es2022',
    // The content security policy allows no data: scripts, and one style sheet loads faster than several.
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1500,
  },
  server: { proxy: { '/api': process.env.BERTH_CONSOLE_URL ?? 'http://127.0.0.1:8090' } },
  test: { include: ['tests/unit/**/*.test.ts'] },
} as Parameters<typeof defineConfig>[0]);
