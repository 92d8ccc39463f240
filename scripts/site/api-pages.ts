import { readDescription } from '../generate/description/resolve.ts';
import { type Described, type Description, operationsOf, type Schema } from '../generate/sdk/operations.ts';

interface Api extends Description {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly components: {
    readonly securitySchemes: Readonly<
      Record<string, { readonly description?: string; readonly name?: string }>
    >;
  };
}

interface Entry {
  readonly path: string;
  readonly verb: string;
  readonly described: Described;
}

/** The reference of the API in Markdown: a page for each tag, and a list of them. */
export function apiPages(description: string): Readonly<Record<string, string>> {
  // The service writes the description, so its shape is known.
  const api = readDescription(description) as Api;
  const methods = new Map(operationsOf(api).map(({ id, method }) => [id, method]));
  const entries = Object.entries(api.paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).map(([verb, described]): Entry => ({ path, verb: verb.toUpperCase(), described })),
  );
  const sections = api.tags
    .map((tag) => ({ ...tag, own: entries.filter(({ described }) => described.tags?.includes(tag.name)) }))
    .filter(({ own }) => own.length > 0);

  const pages = sections.map(({ name, description: about, own }) => {
    const texts = own.map((entry) => entryText(entry, api, methods));
    return [
      `docs/api/${fileOf(name)}`,
      `# ${titleOf(name)}\n\n${about} [All parts of the API](index.md).\n\n${texts.join('\n\n')}\n`,
    ] as const;
  });
  const rows = sections.map(
    ({ name, description: about, own }) =>
      `| [${titleOf(name)}](${fileOf(name)}) | ${own.length} | ${about} |\n`,
  );
  return Object.fromEntries([['docs/api/index.md', `${HEAD}${rows.join('')}`], ...pages]);
}

const HEAD = `# API reference

These pages are made from [openapi.json](../../openapi.json). Bodies are JSON unless a page says
otherwise, and \`Authorization: Bearer …\` carries the credential. An answer that is not 2xx has the members \`code\`,
\`message\` and \`requestId\`; [Errors](../errors.md) has every code.

| Part | Routes | About |
|---|---:|---|
`;

const words = (tag: string) => tag.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
const SHORT: Readonly<Record<string, string>> = {
  authzen: 'AuthZEN',
  dids: 'DIDs',
  oauth: 'OAuth',
  scim: 'SCIM',
  sso: 'SSO',
};
const titleOf = (tag: string) =>
  SHORT[tag] ??
  `${tag[0]?.toUpperCase()}${words(tag).slice(1)}`.replace(/^Scim|^Api/, (word) => word.toUpperCase());
const fileOf = (tag: string) => `${words(tag).replaceAll(' ', '-')}.md`;

/** The operator has a client of its own. */
function methodText(method: string, { security = [] }: Described): string {
  return `\`${method}\`${security.some((each) => 'operator' in each) ? ' of `BehestAdmin`' : ''}`;
}

function entryText({ path, verb, described }: Entry, api: Api, methods: ReadonlyMap<string, string>): string {
  const { operationId: id = '', summary = id, description } = described;
  const method = methods.get(id);
  const parts = [
    `## ${summary}`,
    `\`${verb} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}\``,
    ...(description ? [description] : []),
    [credentialText(described, api), method ? `In the SDK: ${methodText(method, described)}.` : '']
      .filter(Boolean)
      .join(' '),
    ...inputsText(described),
    ...answersText(described.responses),
  ];
  return parts.join('\n\n');
}

/** Several entries of `security` are alternatives. */
function credentialText({ security = [] }: Described, { components }: Api): string {
  const names = security.map((each) => {
    const [name] = Object.keys(each);
    if (name === undefined) return 'none';
    const { description, name: cookie } = components.securitySchemes[name] ?? {};
    const said = description?.replace(/\.$/, '').replace(/^An? |^The /, (article) => article.toLowerCase());
    return said ?? `the cookie \`${cookie}\``;
  });
  return names.length === 0 ? 'Takes no credential.' : `Credential: ${names.join(', or ')}.`;
}

const DEEPEST = 3;
const TABLE = '| Member | Type | Notes |\n|---|---|---|\n';

type Answers = Described['responses'];

/** The parameters and the body, each as a table. */
function inputsText({ parameters = [], requestBody }: Described): string[] {
  const rows = parameters
    .filter(({ in: place }) => place !== 'path')
    .map(({ name, in: place, schema, required, description = schema.description }) => {
      const isNeeded = required && schema.default === undefined;
      return row(name, kindOf(schema), [place, isNeeded ? 'required' : '', ...limitsOf(schema)], description);
    });
  const [body] = Object.entries(requestBody?.content ?? {});
  return [
    ...(rows.length > 0 ? [`| Parameter | Type | Notes |\n|---|---|---|\n${rows.join('\n')}`] : []),
    ...(body
      ? schemaText(body[0] === 'application/json' ? 'Body' : `Body, \`${body[0]}\``, body[1].schema, true)
      : []),
  ];
}

/** Good answers as tables, and the codes of the others in one line. */
function answersText(responses: Answers): string[] {
  const all = Object.entries(responses);
  const good = all
    .filter(([status]) => status < '400')
    .flatMap(([status, { content = {} }]) => {
      const bodies = Object.entries(content);
      if (bodies.length === 0) return [`Answer \`${status}\`, without a body.`];
      return bodies.flatMap(([type, { schema }]) =>
        type === 'application/json'
          ? schemaText(`Answer \`${status}\``, schema, false)
          : [`Answer \`${status}\`, as \`${type}\`.`],
      );
    });
  const errors = all
    .filter(([status]) => status >= '400')
    .map(([status, { content = {} }]) => {
      const { code, error } = Object.values(content)[0]?.schema.properties ?? {};
      const codes = (code ?? error)?.enum?.map((value) => `\`${value}\``) ?? [];
      return [status, ...codes].join(' ').replaceAll('` `', '`, `');
    });
  return [...good, ...(errors.length > 0 ? [`Errors: ${errors.join('; ')}.`] : [])];
}

function schemaText(title: string, schema: Schema, isInput: boolean): string[] {
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants?.every((each) => each.properties)) {
    return variants.flatMap((each, index) => schemaText(`${title}, form ${index + 1}`, each, isInput));
  }
  const rows = rowsOf(schema, '', isInput, 1);
  if (rows.length > 0) return [`${title}:`, `${TABLE}${rows.join('\n')}`];
  return [`${title}: ${kindOf(schema)}.`];
}

/** A member, then its own members with their path. */
function rowsOf(schema: Schema, path: string, isInput: boolean, depth: number): string[] {
  const { object, suffix } = objectIn(schema);
  const { properties = {}, required = [] } = object ?? {};
  return Object.entries(properties).flatMap(([name, member]) => {
    const own = `${path}${suffix}${path || suffix ? '.' : ''}${name}`;
    const isSure = required.includes(name) && !(isInput && member.default !== undefined);
    const state = isSure === isInput ? (isInput ? 'required' : 'may be absent') : '';
    const below = depth < DEEPEST ? rowsOf(member, own, isInput, depth + 1) : [];
    return [row(own, kindOf(member), [state, ...limitsOf(member)], member.description), ...below];
  });
}

function row(name: string, kind: string, notes: readonly string[], description = ''): string {
  const limits = notes.filter(Boolean).join('; ');
  const said = [limits && `${limits}.`, description].filter(Boolean).join(' ');
  return `| \`${name}\` | ${kind} | ${inCell(said)}${said ? ' ' : ''}|`;
}

const inCell = (text: string) => text.replaceAll('|', String.raw`\|`).replaceAll('\n', ' ');

interface Limited extends Schema {
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** The kind of a value in words: `text or null`. */
function kindOf(schema: Limited): string {
  const { type, enum: values, anyOf, oneOf, items, format } = schema;
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (values) return values.map((value) => `\`${escaped(String(value))}\``).join(', ');
  const choices = anyOf ?? oneOf;
  if (choices) return [...new Set(choices.map(kindOf))].join(' or ');
  if (type === 'array') return `list of ${items ? kindOf(items) : 'values'}`;
  if (Array.isArray(type)) return type.join(' or ');
  return format === 'date-time' ? 'time' : String(type ?? 'any value');
}

const escaped = (text: string) => text.replaceAll('|', String.raw`\|`);

/** The default of a value and its limits. */
function limitsOf(schema: Limited): string[] {
  const { default: fallback } = schema;
  const some = Object.assign({}, ...(schema.anyOf ?? []), schema) as Limited;
  return [
    fallback === undefined ? '' : `default \`${JSON.stringify(fallback)}\``,
    rangeOf(some.minLength, some.maxLength, 'characters'),
    rangeOf(some.minItems, some.maxItems, 'entries'),
    rangeOf(some.minimum, some.maximum, ''),
  ];
}

function rangeOf(least: number | undefined, most: number | undefined, unit: string): string {
  const after = unit && ` ${unit}`;
  if (most === undefined) return least ? `at least ${least}${after}` : '';
  return least ? `${least} to ${most}${after}` : `at most ${most}${after}`;
}

/** The object that a value is, or holds: in a list, or beside null. */
function objectIn(schema: Schema): { readonly object: Schema | undefined; readonly suffix: string } {
  const choices = (schema.anyOf ?? schema.oneOf)?.filter(({ type }) => type !== 'null') ?? [];
  const [only] = choices;
  if (choices.length === 1 && only) return objectIn(only);
  if (schema.type !== 'array' || !schema.items) return { object: schema.properties && schema, suffix: '' };
  const { object, suffix } = objectIn(schema.items);
  return { object, suffix: `[]${suffix}` };
}
