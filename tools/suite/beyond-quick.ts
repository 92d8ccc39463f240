/** Tests that `npm test` leaves to `npm run test:all`: they ask every route, or run each race at each of its steps. */
export const BEYOND_QUICK: readonly string[] = [
  '**/*.long.test.ts',
  // One race of each mechanism stays: budgets (locked rows), record (groups of writes), stop (a switch of the account).
  'apps/server/test/races/!(budgets|record|stop).test.ts',
  'apps/server/test/fuzz/**',
  'apps/server/test/http/{bound-keys,ends,idempotency.routes,routes,safe-methods,unknown-members}.test.ts',
  'apps/server/test/security/{hostile-errors,input}.test.ts',
  'apps/server/test/database/{erasure,indexes,lost-answers,namesakes,plans,plans.scim,restore,round-trips}.test.ts',
  // One journey of each page stays, and one real process.
  'apps/server/test/browser/*-page.*.test.ts',
  'apps/server/test/process/!(main-job).test.ts',
  // What is published, deployed and generated, the guides' commands, and walks over all commands.
  'tools/*.test.ts',
  'tools/{citus,crash,demo,deploy,dev,example,generate,machine,pack,packages,postgres,python,redis,rotation,runtimes,samples,security,site,sql}/**',
  'tools/cli/{completeness,dry-run,errors,examples}.test.ts',
  'tools/sdk/{agent-frameworks,calls,completeness,contract,examples,moved-application,other-calls}.test.ts',
  'bench/**',
];
