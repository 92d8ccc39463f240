import { defineConfig } from 'vitest/config';
import { BEYOND_QUICK } from './tools/suite/beyond-quick.ts';

export default defineConfig({
  test: {
    include: [
      'apps/*/src/**/*.test.ts',
      'apps/*/test/**/*.test.ts',
      'packages/*/src/**/*.test.ts',
      '{bench,tools}/**/*.test.ts',
    ],
    exclude: [
      // `npm test` sets it; a run of named files, and `npm run test:all`, leave nothing out.
      ...(process.env.TEST_QUICK ? BEYOND_QUICK : []),
      ...(process.env.TEST_ALL || process.env.TEST_LONG ? [] : ['**/*.long.test.ts']),
      // Clients in Python, for which `.ci/authlib` makes an environment.
      ...(process.env.AUTHLIB_PYTHON ? [] : ['**/*.python.test.ts']),
    ],
    globalSetup: 'apps/server/test/global-setup.ts',
    setupFiles: ['tools/suite/seed.setup.ts'],
    execArgv: ['--min-semi-space-size=32', '--max-semi-space-size=64'], // megabytes, so that V8 copies fewer objects
    isolate: false, // or each file would load the whole service anew
    maxWorkers: 3, // on two cores: most tests wait for a database, a browser or a process half of their time
    hookTimeout: 60_000, // two machines' worth of tests on one, as when two checkouts run at once
    testTimeout: 30_000,
  },
});
