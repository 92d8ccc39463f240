import { defineConfig } from 'vitest/config';

/** Tests that `npm test` leaves to `npm run test:all`: they ask every route, or run each race at each of its steps. */
const BEYOND_QUICK: readonly string[] = [
  '**/*.long.test.ts',
  // One race of each mechanism stays: budgets (locked rows), record (groups of writes), stop (a switch of the account).
  'apps/server/test/races/!(budgets|record|stop).test.ts',
  'apps/server/test/fuzz/**',
  'apps/server/test/http/{bound-keys,ends,idempotency.routes,routes,safe-methods,unknown-members}.test.ts',
  'apps/server/test/security/{hostile-errors,input}.test.ts',
  'apps/server/test/database/{erasure,indexes,lost-answers,namesakes,plans,plans.scim,restore,round-trips}.test.ts',
  // One journey of each page stays, and one real process.
  'apps/server/test/browser/{*-page,console}.*.test.ts',
  'apps/server/test/process/!(main-job).test.ts',
  'apps/server/test/app/interleaving.test.ts',
  'apps/server/test/http/{behind-a-proxy,log,tracing,wakes,without-polls}.test.ts',
  'apps/server/src/features/calls/caps/redis.test.ts',
  // What is published, deployed and generated, the guides' commands, and walks over all commands.
  'scripts/**',
  'test/{attacks,crash,deploy,docs,mcp,python,rotation,runtimes}/**',
  'test/sql/citus.test.ts',
  'test/cli/{completeness,doctor-server,examples}.test.ts',
  'test/sdk/{agent-frameworks,calls,completeness,contract,examples,other-calls}.test.ts',
];

export default defineConfig({
  test: {
    include: [
      'apps/*/src/**/*.test.ts',
      'apps/*/test/**/*.test.ts',
      'packages/*/src/**/*.test.ts',
      '{scripts,test}/**/*.test.ts',
    ],
    exclude: [
      // `npm test` sets it; a run of named files, and `npm run test:all`, leave nothing out.
      ...(process.env.TEST_QUICK ? BEYOND_QUICK : []),
      ...(process.env.TEST_ALL || process.env.TEST_LONG ? [] : ['**/*.long.test.ts']),
      // Clients in Python, for which `.ci/authlib` makes an environment.
      ...(process.env.AUTHLIB_PYTHON ? [] : ['**/*.python.test.ts']),
    ],
    globalSetup: 'apps/server/test/global-setup.ts',
    setupFiles: ['test/harness/seed.setup.ts', 'test/harness/counts.setup.ts'],
    // Megabytes: V8 copies fewer objects, and collects before three workers hold more, mostly garbage. The reference of the
    // SDK alone (typedoc) needs more than 1536.
    execArgv: ['--min-semi-space-size=32', '--max-semi-space-size=64', '--max-old-space-size=2304'],
    isolate: false, // or each file would load the whole service anew
    maxWorkers: 3, // on two cores: most tests wait for a database, a browser or a process half of their time
    // Not `setImmediate`: Redis's driver marks a write as begun and waits for it. A write that a fake one took never leaves,
    // nor does any after it, and the services that wait for their next test ping Redis during other tests.
    fakeTimers: {
      toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'],
    },
    chaiConfig: { truncateThreshold: 400 }, // so that one line of a report names the fault
    hookTimeout: 60_000, // two machines' worth of tests on one, as when two checkouts run at once
    testTimeout: 30_000,
  },
});
