import { readDescription } from '../generate/description/resolve.ts';
import { type Described, type Description, operationsOf } from '../generate/sdk/operations.ts';
import { answersText, inputsText } from './api/members.ts';

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
