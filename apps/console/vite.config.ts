import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const PAGE_STYLES = join(import.meta.dirname, '../server/src/platform/page/page.css');
const TOKENS = 'virtual:tokens.css';

/** The colours, type and space of the service's other pages: the `:root` rules of their styles, light and dark. */
const tokens: Plugin = {
  name: 'tokens',
  resolveId: (id) => (id === TOKENS ? `\0${TOKENS}` : null),
  load(id) {
    if (id !== `\0${TOKENS}`) return null;
    this.addWatchFile(PAGE_STYLES);
    const [head = ''] = readFileSync(PAGE_STYLES, 'utf8').split('\n* {');
    return head;
  },
};

/**
 * `npx vite apps/console` shows edits at once, beside an `npm start` whose address it takes from BEHEST_URL.
 */
export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [react(), tokens],
  build: {
    target: 'es2023',
    modulePreload: { polyfill: false }, // the policy of the page takes no inline script, and every browser preloads
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    manifest: 'manifest.json',
    license: { fileName: 'licenses.md' }, // of the packages whose code is in the files
  },
  server: {
    proxy: { '/v1': { target: process.env.BEHEST_URL ?? 'http://localhost:3001', changeOrigin: true } },
  },
});
