import type { Context } from '../context.ts';
import { wrongUsage } from '../errors.ts';
import type { ArgumentSpec, Given, OptionSpec } from '../program/options.ts';
import type { CommandSpec } from '../program/spec.ts';
import { flagOf, secretOf, secretOptions, TOKEN_OPTIONS, tokenOf } from '../secrets.ts';
import { FILE_OPTION, saveAnswer } from './answers.ts';
import { BODY_OPTION, membersOf, optionsOf } from './fields.ts';
import { LIST_OPTIONS, mostOf, rowsOf } from './lists.ts';
import { BY_HAND, EXEMPT, NAMINGS, type Naming } from './naming.ts';
import { OPERATIONS } from './operations.gen.ts';
import type { Field, OperationRow } from './rows.ts';

/** Makes the commands of a resource from the operations of the service. */
export function apiCommands(group: string): CommandSpec[] {
  return OPERATIONS.filter((row) => isOfTable(row) && commandOf(row).split(' ')[0] === group).map(
    commandSpec,
  );
}

export const isOfTable = ({ id }: OperationRow) => !(id in EXEMPT) && !(id in BY_HAND);

/** The words of the command of an operation. */
export const commandOf = ({ id, method }: Pick<OperationRow, 'id' | 'method'>): string =>
  BY_HAND[id] ?? NAMINGS[id]?.command ?? method.split('.').map(flagOf).join(' ');

/** The row of an operation, for commands that are written by hand. */
export function rowOf(id: string): OperationRow {
  const found = OPERATIONS.find((row) => row.id === id);
  if (found) return found;
  throw new TypeError(`There is no operation ${id}.`);
}

const isToken = (name: string) => name === 'token' || name === 'credential';

function commandSpec(row: OperationRow): CommandSpec {
  const name = commandOf(row);
  const naming = NAMINGS[row.id] ?? {};
  const args: ArgumentSpec[] = row.path.map((each) => ({
    name: flagOf(each),
    about: `the ${flagOf(each).replaceAll('-', ' ')}`,
  }));
  const hasToken = row.as === 'grant' || row.first.some(isToken);
  if (hasToken) args.unshift({ name: 'token', about: 'the token', isOptional: true });
  for (const each of row.first.filter((each) => !isToken(each)))
    args.push({ name: flagOf(each), about: `the ${flagOf(each).replaceAll('-', ' ')}` });
  const isIdGiven = hasToken && row.path.length > 0;
  return {
    name,
    summary: row.summary,
    operation: row.id,
    args: isIdGiven ? args.slice(1) : args,
    options: optionsFor(row, hasToken),
    examples: [`behest ${name}${exampleOf(row, naming, hasToken)}`],
    run: (context, given) => runRow(context, given, row, naming, isIdGiven),
  };
}

function optionsFor({ body, query, rows, as, file }: OperationRow, hasToken: boolean): OptionSpec[] {
  const fields = [...(body ?? []), ...(query ?? [])].filter(({ name }) => !(rows && isOfPaging(name)));
  return [
    ...fields.flatMap(optionsOf),
    ...(body ? [BODY_OPTION] : []),
    ...(rows ? LIST_OPTIONS : []),
    ...(hasToken ? TOKEN_OPTIONS : []),
    ...(as === 'scim' ? secretOptions('scim-token', 'the SCIM token') : []),
    ...(as === 'operator' ? secretOptions('admin-key', "the operator's key") : []),
    ...(as === 'session' ? secretOptions('session-token', "the token of the person's session") : []),
    ...(file ? [FILE_OPTION] : []),
  ];
}

const isOfPaging = (name: string) => name === 'limit' || name === 'cursor';

/** Values of required members in examples. A member with a closed set of values shows its first. */
const SAMPLES: Readonly<Record<string, string>> = {
  ...{ scopes: 'calendar:read', principalId: 'user_42', name: 'example', label: 'Okta' },
  ...{ agentId: '<agent-id>', grantId: '<grant-id>', agentDid: '<agent-did>' },
  ...{ amount: '1.50', initialBudget: '100.00', action: 'calendar.read', caseVersion: '2' },
  ...{ connector: 'crm', tool: 'lookup', service: 'github', domain: 'example.com' },
  ...{ resource: 'http://localhost:8080/mcp', issuer: 'https://token.actions.example.com' },
  ...{ subject: 'repo:acme/agent', url: 'https://hooks.example.com/T0/B0/x', email: 'ops@example.com' },
  ...{ from: '2026-12-24T00:00:00Z', until: '2027-01-02T00:00:00Z', clientId: 'behest' },
  ...{ successUrl: 'https://app.example.com/paid', cancelUrl: 'https://app.example.com/plans' },
  ...{ returnUrl: 'https://app.example.com/plans', redirectUri: 'https://app.example.com/callback' },
  ...{ redirectUris: 'https://app.example.com/callback', issuerUrl: 'https://login.example.com' },
};

function exampleOf(row: OperationRow, { example }: Naming, hasToken: boolean): string {
  const credential = credentialOf(row);
  if (example !== undefined) return ` ${example}${credential}`;
  const args = [...row.path, ...row.first.filter((each) => !isToken(each))]
    .map((each) => ` <${flagOf(each)}>`)
    .join('');
  const needed = (row.body ?? []).filter(({ required }) => required);
  const isChange = row.sends.startsWith('PATCH') && needed.length === 0; // a change of nothing is refused
  const required = isChange ? (row.body ?? []).filter(({ type }) => type === 'string').slice(0, 1) : needed;
  const isFile = row.body?.length === 0 || required.some(({ type }) => type === 'json');
  const options = isFile
    ? ' -f body.json'
    : required.map((field) => exampleOption(field, optionsOf(field)[0]?.flags ?? '')).join('');
  return `${args}${hasToken ? ' --env TOKEN' : ''}${options}${credential}`;
}

function credentialOf({ as }: OperationRow): string {
  if (as === 'operator') return ' --admin-key-env ADMIN_API_KEY';
  return as === 'scim' ? ' --scim-token-env SCIM_TOKEN' : '';
}

function exampleOption({ name, values }: Field, flags: string): string {
  const [, flag = '', value = ''] = /^(--[\w-]+).*?(<.*>)$/.exec(flags) ?? [];
  return ` ${flag} ${SAMPLES[name] ?? values?.[0] ?? value}`;
}

async function runRow(context: Context, given: Given, row: OperationRow, naming: Naming, isIdGiven: boolean) {
  const { sends, as, body, query, rows, first, path } = row;
  const isEnding = sends.startsWith('DELETE') || /(^| )(revoke|close)$/.test(context.command) || naming.asks;
  const hasToken = as === 'grant' || first.some(isToken);
  const positional = [...given.args];
  const token = hasToken
    ? await tokenOf(context, given, isIdGiven ? undefined : positional.shift())
    : undefined;
  const inPath = path.map(() => positional.shift());
  const ahead = first.map((each) => (isToken(each) ? token : positional.shift()));
  const inBody = body && (await membersOf(context, given, body, true));
  const inQuery =
    query &&
    (await membersOf(
      context,
      given,
      query.filter(({ name }) => !(rows && isOfPaging(name))),
      false,
    ));
  const scimToken = as === 'scim' ? await secretOf(context, given, 'scimToken') : undefined;
  const session = as === 'session' ? await secretOf(context, given, 'sessionToken') : undefined;
  if (isEnding)
    await context.confirm(`${row.summary}: ${[...inPath, ...ahead].join(' ') || 'this account'}?`);

  const client = await clientFor(context, given, as, session ?? scimToken);
  const holder: unknown =
    session === undefined || !('principal' in client) ? client : { principal: client.principal(session) };
  const call = (more: object) =>
    methodOf(holder, row.method)(
      ...(as === 'grant' ? [token] : []),
      ...[...inPath, ...ahead],
      ...(inBody ? [inBody] : []),
      ...(inQuery ? [{ ...inQuery, ...more }] : []),
      { ...(scimToken !== undefined && { scimToken }) },
    );
  if (rows !== undefined) {
    // The method of a row with `rows` answers a list.
    const ask = (more: object) => call(more) as AsyncIterable<unknown> & Promise<unknown>;
    const found = await rowsOf(context, given, { rows, most: mostOf(query) }, ask);
    return context.rows(found, { columns: naming.columns });
  }
  await saveAnswer(context, given, await call({}), naming);
}

/** The client with the credential of a row. A token of the call itself needs no API key beside it. */
async function clientFor(context: Context, given: Given, as: string | undefined, token: string | undefined) {
  if (as === 'nobody' || as === 'grant' || token !== undefined) return context.openClient();
  if (as !== 'operator') return context.client();
  const adminKey = await secretOf(context, given, 'adminKey');
  if (adminKey === undefined)
    throw wrongUsage('Give one of: --admin-key-file, --admin-key-stdin, --admin-key-env.', context.help);
  const { url } = await context.settings();
  const { BehestAdmin } = await import('@behest/sdk');
  return new BehestAdmin({ adminKey, baseUrl: url, fetch: context.exchange.fetchWith(adminKey) });
}

/** Finds a method of the client by its name. */
function methodOf(client: unknown, name: string): (...args: unknown[]) => unknown {
  const [area = '', own] = name.split('.');
  const holder = Reflect.get(Object(client), area);
  const method: unknown = own === undefined ? holder : Reflect.get(Object(holder), own);
  if (typeof method !== 'function') throw new TypeError(`The SDK has no ${name}.`);
  return (...args) => method.apply(holder, args);
}
