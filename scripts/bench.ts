type Scenario = readonly [about: string, run: () => Promise<unknown>];

const scenarios: Readonly<Record<string, Scenario>> = {
  flows: ['each flow beside a floor with the same input and output', () => import('./bench/flows.ts')],
  hostile: ['one account while another attacks the service', () => import('./bench/hostile.ts')],
  audit: ['appends to the audit log, and reads of a long one', () => import('./bench/audit.ts')],
  enforce: ['enforce() of the SDK', () => import('./bench/enforce.ts')],
  proxy: ['requests through the vault proxy', () => import('./bench/proxy.ts')],
  stop: ['starts and stops under load', () => import('./bench/stop.ts')],
  soak: ['memory over an hour of steady load', () => import('./bench/soak.ts')],
  anomalies: ['detection over generated traffic', () => import('./bench/anomalies.ts')],
  policies: ['decisions among many policies', () => import('./bench/policies.ts')],
  scim: ['a directory of many people', () => import('./bench/scim.ts')],
  'status-lists': ['status lists of many credentials', () => import('./bench/status-lists.ts')],
  'largest-bodies': ['the largest accepted requests', () => import('./bench/largest-bodies.ts')],
  tree: ['the revocation of a tree of grants', () => import('./bench/tree.ts')],
  fresh: ['a new database without statistics', () => import('./bench/fresh.ts')],
  crash: ['what is missing after kills under load', () => import('./bench/crash.ts')],
  rotation: ['signing keys rotated under load', () => import('./bench/rotation.ts')],
  fuzz: ['good and broken requests to every route', () => import('./bench/fuzz.ts')],
};

/** `npm run bench -- <scenario>`, without one the list of them. */
const [name = ''] = process.argv.splice(2, 1); // the scenario reads what follows
const scenario = Object.hasOwn(scenarios, name) ? scenarios[name] : undefined;
if (scenario) await scenario[1]();
else {
  const lines = Object.entries(scenarios).map(([each, [about]]) => `  ${each.padEnd(15)} ${about}\n`);
  process.stdout.write(`npm run bench -- <scenario> [options]\n${lines.join('')}`);
  process.exitCode = name === '' ? 0 : 1;
}
