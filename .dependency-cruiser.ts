import type { IConfiguration, IRegularForbiddenRuleType } from 'dependency-cruiser';
import type { Feature } from './apps/server/src/feature.ts';
import { features } from './apps/server/src/features.ts';

type From = IRegularForbiddenRuleType['from'];
type To = IRegularForbiddenRuleType['to'];

const SERVER = '^apps/server/(src|test/planted)/'; // what is planted must be caught like the rest
const PROTOCOL = '^packages/protocol/';
const TEST = '[.](test|samples)[.]ts$';
const SAME_FEATURE = 'features/$1/'; // area and noun

/** `agents.repo.ts`, `grants.revoke.service.ts`: the last word before `.ts` is the role. */
const role = (name: string): From => ({ path: `features/([^/]+/[^/]+)/[^/]+[.]${name}[.]ts$` });

/** The reads that a noun shares: its repos and services, and those of others, build on them. */
const QUERIES = '[.]queries[.]ts$';

const INDEX = 'features/[^/]+/[^/]+/index[.]ts$';

/** A feature's files import the indexes of the features that it says it knows. Its declaration wires what it likes. */
function knowsWhatItDeclares({ name, knows }: Feature): [name: string, from: From, to: To] {
  const known = [name, ...knows].map((noun) => `features/[^/]+/${noun}/`);
  return [
    `${name}-knows-what-it-declares`,
    { path: `features/[^/]+/${name}/`, pathNot: [TEST, '[.]feature[.]ts$'] },
    { path: INDEX, pathNot: known },
  ];
}

/** A package that one folder of the platform hides from everybody else. */
const alone = (name: string, folder: string): [name: string, from: From, to: To] => [
  `${name}-only-in-${folder}`,
  { path: SERVER, pathNot: [`platform/${folder}/`, TEST] },
  { path: `node_modules/(@types/)?${name}/` },
];

const rules: [name: string, from: From, to: To][] = [
  ['no-cycles', {}, { circular: true }],
  ['everything-resolves', {}, { couldNotResolve: true }], // or the rules below would match nothing

  ['packages-import-no-app', { path: '^packages/' }, { path: '^(apps|tools|bench)/' }],
  ['protocol-is-for-everybody', { path: PROTOCOL }, { path: '^packages/', pathNot: PROTOCOL }],
  ['server-imports-no-tool', { path: '^apps/server/src/', pathNot: TEST }, { path: '^(tools|bench)/' }],
  ['tools-import-no-bench', { path: '^tools/' }, { path: '^bench/' }],
  ['nothing-imports-a-test', { path: '/src/', pathNot: TEST }, { path: `${TEST}|^apps/[^/]+/test/` }],
  [
    'nothing-imports-main',
    { path: '/src/', pathNot: 'process-io[.]ts$' },
    { path: '^apps/server/src/main[.]ts$' },
  ],

  [
    'platform-knows-no-feature',
    { path: 'platform/' },
    { path: 'features/|^apps/server/src/([^/]+[.]ts$|config/)' },
  ],
  [
    'features-meet-at-the-index',
    { path: 'features/([^/]+/[^/]+)/', pathNot: TEST },
    { path: 'features/', pathNot: [SAME_FEATURE, INDEX, QUERIES] },
  ],
  ...features.map(knowsWhatItDeclares),

  // Roles: what one file of a feature may import.
  [
    'schema-is-only-shapes',
    role('schema'),
    { pathNot: ['node_modules/typebox/', PROTOCOL, `${SAME_FEATURE}[^/]+[.]schema[.]ts$`] },
  ],
  [
    'rules-are-pure',
    role('rules'),
    {
      pathNot: [
        `${SAME_FEATURE}[^/]+[.](schema|rules)[.]ts$`,
        'platform/(errors|acts)[.]ts$',
        // Pure parts that several rules share.
        'platform/egress/(domain-names|egress|retry-after)[.]ts$',
        'accounts/emails/index[.]ts$',
        'scim[.]patch[.]work[.]ts$',
        '^crypto$',
        PROTOCOL,
      ],
    },
  ],
  [
    'queries-are-for-repos-and-services',
    { path: 'features/', pathNot: ['[.](queries|repo|service)[.]ts$', TEST] },
    { path: QUERIES },
  ],
  [
    'queries-only-read',
    role('queries'),
    {
      pathNot: [
        'node_modules/kysely/',
        'platform/(db/|caller[.]ts$)',
        `${SAME_FEATURE}[^/]+[.](schema|rules)[.]ts$`,
        PROTOCOL,
        QUERIES,
      ],
    },
  ],
  [
    'repo-is-only-sql',
    role('repo'),
    { path: '[.](service|routes|jobs)[.]ts$|/index[.]ts$|platform/http/|node_modules/fastify/' },
  ],
  [
    'service-is-a-use-case',
    role('service'),
    {
      path: '[.](routes|jobs)[.]ts$|platform/http/|node_modules/(fastify|kysely)/',
      pathNot: 'platform/http/limits/(rate-rules|rates)[.]ts$', // which a use case charges itself
    },
  ],
  [
    'routes-call-services',
    role('routes'),
    { path: '[.](repo|rules|jobs)[.]ts$|platform/db/|node_modules/kysely/' },
  ],
  [
    'nothing-imports-a-declaration',
    { path: '^(apps|packages)/', pathNot: ['src/features[.]ts$', TEST] },
    { path: '[.]feature[.]ts$' },
  ],
  ['routes-stay-at-home', role('routes'), { path: 'features/', pathNot: SAME_FEATURE }],
  ['jobs-are-no-routes', role('jobs'), { path: '[.]routes[.]ts$|node_modules/fastify/' }],
  ['index-hides-the-tables', { path: 'features/[^/]+/[^/]+/index[.]ts$' }, { path: '[.]repo[.]ts$' }],

  // Who calls somebody else's address does so through the one client that looks where it leads.
  [
    'outbound-calls-only-in-egress',
    { path: SERVER, pathNot: ['platform/(egress/|http/upgrades[.]ts$)', TEST] },
    { path: '^(dns|dns/promises|http|http2|https|tls|dgram)$', dependencyTypesNot: ['type-only'] },
  ],
  [
    'sockets-only-in-egress',
    { path: SERVER, pathNot: ['platform/(egress|http|db)/', 'src/config/', 'metrics[.]service[.]ts$', TEST] },
    { path: '^net$', dependencyTypesNot: ['type-only'] },
  ],

  [
    'websockets-are-accepted-in-http',
    { path: SERVER, pathNot: ['platform/http/', TEST] },
    { path: 'node_modules/ws/', dependencyTypesNot: ['type-only'] },
  ],
  [
    'ipaddr[.]js-only-in-egress',
    { path: SERVER, pathNot: ['platform/(egress|http/callers)/', TEST] }, // callers: the client's address
    { path: 'node_modules/ipaddr[.]js/' },
  ],
  alone('pg', 'db'),
  alone('redis', 'redis'),
  alone('pino', 'telemetry'),
  alone('@opentelemetry', 'telemetry'),
  [
    'tracing-is-loaded-when-asked-for',
    { path: SERVER },
    { path: 'telemetry/tracing[.]ts$', dependencyTypesNot: ['dynamic-import', 'type-only'] },
  ],
];

export default {
  forbidden: rules.map(([name, from, to]) => ({ name, from, to, severity: 'error' })),
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true, // `import type` counts too
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
} satisfies IConfiguration;
