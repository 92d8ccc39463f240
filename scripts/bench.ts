type Scenario = readonly [about: string, run: () => Promise<unknown>];

const scenarios: Readonly<Record<string, Scenario>> = {
  flows: ['each flow beside a floor with the same input and output', () => import('./bench/flows.ts')],
  oauth: ['the endpoints of OAuth beside node-oidc-provider', () => import('./bench/oauth.ts')],
  hostile: ['one account while another attacks the service', () => import('./bench/hostile.ts')],
  audit: ['appends to the audit log, and reads of a long one', () => import('./bench/audit.ts')],
  log: ['the transparency log: its cost, its size, and proofs', () => import('./bench/log.ts')],
  receipts: ['receipts of grants in a long log', () => import('./bench/receipts.ts')],
  enforce: ['enforce() of the SDK', () => import('./bench/enforce.ts')],
  console: ['each page of the console, for an account with many records', () => import('./bench/console.ts')],
  revocation: ['confirmed revocations with ten verifiers', () => import('./bench/revocation.ts')],
  soak: ['memory over an hour of steady load', () => import('./bench/soak.ts')],
  'largest-bodies': ['the largest accepted requests', () => import('./bench/largest-bodies.ts')],
  growth: [
    'each flow on an empty database and on one with ten million grants',
    () => import('./bench/growth.ts'),
  ],
  fresh: ['a new database without statistics', () => import('./bench/fresh.ts')],
  crash: ['what is missing after kills under load', () => import('./bench/crash.ts')],
  faults: ['seconds without writes when a part is killed', () => import('./bench/faults.ts')],
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
