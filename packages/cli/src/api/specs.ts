import type { ArgumentSpec, CommandSpec, OptionSpec } from '../program/spec.ts';
import { flagOf, secretOptions, TOKEN_OPTIONS } from '../secrets.ts';
import { BODY_OPTION, optionsOf } from './fields.ts';
import { BY_HAND, EXEMPT, NAMINGS, type Naming } from './naming.ts';
import { OPERATIONS } from './operations.gen.ts';
import type { Field, OperationRow } from './rows.ts';
import { FILE_OPTION, isOfPaging, isToken, LIST_OPTIONS, runRow, tokenPlace } from './run.ts';

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

/** The words behind the command in the example of its help. */
function exampleOf(row: OperationRow, { example }: Naming): string {
  const credential = credentialOf(row);
  if (example !== undefined) return ` ${example}${credential}`;
  const args = [...row.path, ...row.first.filter((each) => !isToken(each))]
    .map((each) => ` <${flagOf(each)}>`)
    .join('');
  const needed = (row.body ?? []).filter(({ name, required }) => required && !isToken(name));
  const isChange = row.sends.startsWith('PATCH') && needed.length === 0; // a change of nothing is refused
  const required = isChange ? (row.body ?? []).filter(({ type }) => type === 'string').slice(0, 1) : needed;
  const isFile = row.body?.length === 0 || required.some(({ type }) => type === 'json');
  const options = isFile
    ? ' -f body.json'
    : required.map((field) => exampleOption(field, optionsOf(field)[0]?.flags ?? '')).join('');
  return `${args}${tokenPlace(row).isTaken ? ' --env TOKEN' : ''}${options}${credential}`;
}

function credentialOf({ as }: OperationRow): string {
  if (as === 'operator') return ' --admin-key-env ADMIN_API_KEY';
  return as === 'scim' ? ' --scim-token-env SCIM_TOKEN' : '';
}

function exampleOption({ name, values }: Field, flags: string): string {
  const [, flag = '', value = ''] = /^(--[\w-]+)(?:[^\w<-][^<]*)?(<.*>)$/.exec(flags) ?? [];
  return ` ${flag} ${SAMPLES[name] ?? values?.[0] ?? value}`;
}

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

function commandSpec(row: OperationRow): CommandSpec {
  const name = commandOf(row);
  const naming = NAMINGS[row.id] ?? {};
  const args: ArgumentSpec[] = row.path.map((each) => ({
    name: flagOf(each),
    about: `the ${flagOf(each).replaceAll('-', ' ')}`,
  }));
  const { isTaken, isArgument } = tokenPlace(row);
  if (isArgument) args.unshift({ name: 'token', about: 'the token', isOptional: true });
  for (const each of row.first.filter((each) => !isToken(each)))
    args.push({ name: flagOf(each), about: `the ${flagOf(each).replaceAll('-', ' ')}` });
  return {
    name,
    summary: row.summary,
    operation: row.id,
    args,
    options: optionsFor(row, isTaken),
    examples: [`behest ${name}${exampleOf(row, naming)}`],
    ...(naming.verdict !== undefined && { notes: 'Ends with 0 for yes and with 1 for no.' }),
    run: (context, given) => runRow(context, given, row, naming),
  };
}

function optionsFor({ body, query, rows, as, file }: OperationRow, hasToken: boolean): OptionSpec[] {
  const fields = [...(body ?? []), ...(query ?? [])].filter(
    ({ name }) => !(rows && isOfPaging(name)) && !isToken(name),
  );
  return [
    ...fields.flatMap(optionsOf),
    ...(body && !isTokenAlone(body) ? [BODY_OPTION] : []),
    ...(rows ? LIST_OPTIONS : []),
    ...(hasToken ? TOKEN_OPTIONS : []),
    ...(as === 'scim' ? secretOptions('scim-token', 'the SCIM token') : []),
    ...(as === 'operator' ? secretOptions('admin-key', "the operator's key") : []),
    ...(as === 'session' ? secretOptions('session-token', "the token of the person's session") : []),
    ...(file ? [FILE_OPTION] : []),
  ];
}

const isTokenAlone = (body: readonly Field[]) => body.length > 0 && body.every(({ name }) => isToken(name));
