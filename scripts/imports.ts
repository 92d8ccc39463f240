import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** `to` is a path of the checkout or the name of a package. */
export interface Import {
  readonly from: string;
  readonly to: string;
  readonly isType: boolean;
}

const SERVER = /^apps\/server\/src\//;
const TEST = /[.](test|samples)[.]ts$/;
const FEATURE = /^apps\/server\/src\/features\/[^/]+\/([^/]+)\//;
const PUBLIC = /(\/index|[.]queries)[.]ts$/;

/** What files of a kind do not import. `but` excepts importing files, `except` excepts imported ones. */
interface Rule {
  readonly name: string;
  readonly from: RegExp;
  readonly to: RegExp;
  readonly but?: RegExp;
  readonly except?: RegExp;
  /** Whether types may be imported. */
  readonly allowsTypes?: true;
}

const role = (name: string) => new RegExp(`/features/.*[.]${name}[.]ts$`);
/** A file of a feature that is named by its verb alone. */
const USE_CASE = /\/features\/[^/]+\/[^/]+\/(?!index[.])[^/.]+[.]ts$/;

/** A package that one folder of the platform hides from all others. */
const hidden = (name: string, to: RegExp, but: RegExp): Rule => ({
  name: `${name} only in ${but.source}`,
  from: SERVER,
  to,
  but,
  allowsTypes: true,
});

const rules: readonly Rule[] = [
  { name: 'packages import no app', from: /^packages\//, to: /^(apps|scripts|test)\// },
  { name: 'the protocol imports no package', from: /^packages\/protocol\//, to: /^@behest\/(?!protocol)/ },
  { name: 'the server imports no script', from: SERVER, to: /^(scripts|test)\// },
  { name: 'sources import no test', from: /\/src\//, to: /[.](test|samples)[.]ts$|^apps\/[^/]+\/test\// },
  {
    name: 'the platform imports no feature',
    from: /\/platform\//,
    to: /^apps\/server\/src\/(features\/|config\/|[^/]+[.]ts$)/,
  },
  { name: 'declarations are for features.ts', from: SERVER, to: role('feature'), but: /src\/features[.]ts$/ },

  {
    name: 'a route calls use cases',
    from: role('routes'),
    to: /[.](repo|rules|jobs|queries)[.]ts$|\/platform\/db\/|^kysely$/,
  },
  {
    name: 'a use case has no HTTP and no SQL',
    from: USE_CASE,
    to: /[.](routes|jobs)[.]ts$|\/platform\/http\/|^(fastify|kysely)$/,
    except: /\/http\/limits\/(rate-rules|rates)[.]ts$/, // which a use case charges
  },
  {
    name: 'a repo is only SQL',
    from: role('(repo|queries)'),
    to: /[.](routes|jobs)[.]ts$|\/features\/[^/]+\/[^/]+\/[^/.]+[.]ts$|\/platform\/http\/|^fastify$/,
  },
  {
    name: 'rules and shapes have no I/O',
    from: role('(rules|schema)'),
    to: /[.](repo|queries|routes|jobs)[.]ts$|\/features\/[^/]+\/[^/]+\/(?!index[.])[^/.]+[.]ts$|\/platform\/(db|http|redis)\/|^(fastify|kysely)$/,
  },

  // Addresses that others name are called through the one client that looks where they lead.
  hidden(
    'outbound calls',
    /^node:(dns|dns\/promises|http|http2|https|tls|dgram)$/,
    /platform\/(egress\/|http\/upgrades[.]ts)/,
  ),
  hidden(
    'sockets',
    /^node:net$/,
    /platform\/(egress|http|db)\/|src\/config\/|\/operations\/operations[.]ts$/,
  ),
  hidden('ipaddr.js', /^ipaddr[.]js$/, /platform\/(egress|http\/callers)\//),
  hidden('ws', /^ws$/, /platform\/http\//),
  hidden('pg', /^pg$/, /platform\/db\//),
  hidden('redis', /^redis$/, /platform\/redis\//),
  hidden('pino and OpenTelemetry', /^(pino|@opentelemetry\/.*)$/, /platform\/telemetry\//),
];

/** @param order the names of the features, from the top */
export function importProblems(imports: readonly Import[], order: readonly string[]): string[] {
  return imports.flatMap((one) => {
    if (TEST.test(one.from)) return [];
    return [featureProblem(one, order), ...rules.map((rule) => breachOf(rule, one))].filter(
      (problem) => problem !== undefined,
    );
  });
}

function featureProblem({ from, to }: Import, order: readonly string[]): string | undefined {
  const [upper, lower] = [FEATURE.exec(to)?.[1], FEATURE.exec(from)?.[1]];
  if (upper === undefined || lower === undefined || upper === lower) return;
  if (!PUBLIC.test(to)) return `${from} imports ${to}, which is not a public file of ${upper}`;
  if (order.indexOf(upper) < order.indexOf(lower)) return;
  return `${from} imports ${upper}, which is below ${lower} in features.ts`;
}

function breachOf(rule: Rule, { from, to, isType }: Import): string | undefined {
  const isExcepted = rule.but?.test(from) || rule.except?.test(to) || (isType && rule.allowsTypes);
  return rule.from.test(from) && rule.to.test(to) && !isExcepted
    ? `${rule.name}: ${from} imports ${to}`
    : undefined;
}

const STATEMENT =
  /^(?:import|export)\s+(type\s)?(?:[^'";]*?\sfrom\s+)?'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/gm;

function importsOf(from: string): Import[] {
  return [...readFileSync(from, 'utf8').matchAll(STATEMENT)].map(([, type, fixed, late = '']) => {
    const name = fixed ?? late;
    return {
      from,
      to: name.startsWith('.') ? normalize(join(dirname(from), name)) : name,
      isType: type !== undefined,
    };
  });
}

/** The folders of the features in their order, read from the text because to import them takes seconds. */
function featuresIn(text: string): string[] {
  const folders = new Map(
    [...text.matchAll(/^import \{ (\w+) \} from '[^']*\/([\w-]+)\/[\w-]+[.]feature[.]ts';$/gm)].map(
      ([, name = '', folder = '']) => [name, folder],
    ),
  );
  const [, list = ''] = /^export const features: readonly Feature\[\] = \[$(.*?)^\];$/ms.exec(text) ?? [];
  return [...list.matchAll(/^ {2}(\w+),/gm)].map(([, name = '']) => folders.get(name) ?? name);
}

if (import.meta.main) {
  const files = globSync('{apps,packages}/*/src/**/*.{ts,js,mjs}');
  const imports = files.flatMap(importsOf);
  const problems = importProblems(imports, featuresIn(readFileSync('apps/server/src/features.ts', 'utf8')));
  for (const problem of problems) process.stdout.write(`${problem}\n`);
  process.stdout.write(`${files.length} modules, ${problems.length} problems\n`);
  process.exitCode = problems.length > 0 || files.length === 0 ? 1 : 0;
}
