/** A file's tests may use this much processor time, in units (`unit.ts`). Most use a tenth. */
export const DEFAULT_BUDGET = 8;

interface Budget {
  /** A file, or a folder with all its files. */
  readonly path: string;
  readonly units: number;
  readonly because: string;
}

/**
 * Each is about three times the cost of the dearest file below it on a quiet machine: other work on the same machine
 * makes processors slower, too.
 */
export const budgets: readonly Budget[] = [
  { path: 'apps/server/test/browser', units: 24, because: 'a browser draws every page and runs its scripts' },
  { path: 'apps/server/test/process', units: 14, because: 'each process loads the whole service' },
  {
    path: 'apps/server/test/security/input.test.ts',
    units: 48,
    because: 'every field of every route is tried',
  },
  {
    path: 'apps/server/test/security/hostile-errors.test.ts',
    units: 9,
    because: 'every route is called while each store fails in turn',
  },
  { path: 'apps/server/test/fuzz', units: 40, because: '4,000 requests are made from schemas' },
  { path: 'apps/server/test/database/races.test.ts', units: 12, because: 'fifty callers race in every test' },
  { path: 'apps/server/test/races', units: 18, because: 'each race runs once for each of its steps' },
  {
    path: 'apps/server/test/http/idempotency.routes.test.ts',
    units: 72,
    because: 'every route that writes is called several times with one key',
  },
  { path: 'apps/server/test/http', units: 48, because: 'whole flows go through processes and every route' },
  {
    path: 'tools/deploy/image.long.test.ts',
    units: 30,
    because: 'npm installs the packages as the image does, twice',
  },
  {
    path: 'apps/server/src/features/grants/policies/policies.cedar.test.ts',
    units: 14,
    because: 'Cedar is compiled on several threads',
  },
  {
    path: 'tools/sdk/contract.test.ts',
    units: 40,
    because: 'every method of the SDK is called several times, and its types are compiled',
  },
  { path: 'tools/account-guides.test.ts', units: 15, because: 'it runs the commands of the guides' },
  { path: 'tools/docs.test.ts', units: 15, because: 'it runs the commands of the documents' },
  { path: 'tools/pack', units: 20, because: 'it bundles the packages, and loads them twice' },
  { path: 'tools/packages', units: 30, because: 'it compiles and bundles what is published' },
  { path: 'tools/crash', units: 10, because: 'a server is killed under load, and starts again' },
];

/** @param path from the root of the repository, with slashes */
export const unitsFor = (path: string): number =>
  budgets.find((budget) => path === budget.path || path.startsWith(`${budget.path}/`))?.units ??
  DEFAULT_BUDGET;

/** The first pattern that fits a path names its group. */
export const groups: readonly (readonly [string, RegExp])[] = [
  ['process', /^apps\/server\/test\/process\//],
  ['browser', /^apps\/server\/test\/browser\//],
  ['database', /^apps\/server\/(test\/database|src\/platform\/db)\//],
  ['http', /^apps\/server\/(test\/http|src\/platform\/http)\//],
  ['features', /^apps\/server\/src\/features\//],
  ['protocol', /^packages\/protocol\//],
  ['tools', /^tools\//],
  ['rest', /^/],
];
