import { nobodys, requestTo, ways } from '../../../apps/server/test/app/every-route.ts';
import type { OperationId } from '../../../packages/sdk/src/api/caller.ts';
import { CALLS } from '../../../packages/sdk/src/api/calls.gen.ts';
import type { CallRow } from '../../../packages/sdk/src/api/rows.ts';
import { OWN_ARGUMENTS } from './own-arguments.ts';
import type { Clients, World } from './world.ts';

/** A call of a method that is made from the table of operations. */
export interface Call {
  readonly id: OperationId;
  readonly row: CallRow;
  /** Without the token of a grant, and without the options. */
  readonly args: readonly unknown[];
}

/** These take away what the calls before them need. */
const LAST: readonly OperationId[] = [
  ...(['tokens.revoke', 'principals.revokeAll', 'principals.endSession'] as const),
  ...(['agents.revoke', 'approvers.remove', 'providers.delete', 'developers.close'] as const),
];

function rank([id, { sends }]: readonly [OperationId, CallRow]): number {
  return LAST.includes(id) ? 2 + LAST.indexOf(id) : Number(sends.startsWith('DELETE'));
}

/** The operations whose methods are made from the table, in an order in which each finds its records. */
export const ROWS = (Object.entries(CALLS) as [OperationId, CallRow][])
  .filter(([, { byHand }]) => !byHand)
  .toSorted((one, other) => rank(one) - rank(other));

/** The arguments of a good call: those of the samples, of which the tests of the service make their requests too. */
export async function callOf(world: World, [id, row]: (typeof ROWS)[number]): Promise<Call> {
  return { id, row, args: (await OWN_ARGUMENTS[id]?.(world)) ?? sampled(row, world) };
}

function sampled(row: CallRow, { its }: World): unknown[] {
  const pattern = row.sends.replaceAll(/\{(\w+)\}/g, ':$1');
  const body: Readonly<Record<string, unknown>> = requestTo(pattern, its).body ?? {};
  const idOf = (name: string) => its[name === 'id' ? (ways[pattern]?.id ?? '') : name] ?? nobodys.agentId;
  const { first = [], takes } = row;
  const rest = Object.fromEntries(Object.entries(body).filter(([name]) => !first.includes(name)));
  return [
    ...namesIn(row).map(idOf),
    ...first.map((name) => body[name]),
    ...(takes === 'body' || takes === 'both' ? [rest] : []),
    ...(takes === 'query' ? [row.rows ? { limit: 1 } : {}] : takes === 'both' ? [{}] : []),
  ];
}

const namesIn = ({ sends }: CallRow) => [...sends.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

/** As the call, with a member that its body does not have. @returns undefined for a method without a body */
export function withUnknownMember({ id, row, args }: Call): Call | undefined {
  if (row.takes !== 'body' && row.takes !== 'both') return undefined;
  const at = namesIn(row).length + (row.first?.length ?? 0);
  return { id, row, args: args.with(at, { ...Object(args[at]), isAdmin: true }) };
}

/** As the call, about records that nobody has. @returns undefined for a method that names none */
export function withNobodysIds({ id, row, args }: Call): Call | undefined {
  const names = namesIn(row);
  if (names.length === 0) return undefined;
  return { id, row, args: args.map((arg, at) => (at < names.length ? nobodyLike(String(arg)) : arg)) };
}

/** An id of the same kind that is nobody's. */
function nobodyLike(known: string): string {
  const [kind] = known.split('_');
  return known.includes('_') ? `${kind}_01K9Z3QW5M8T2V4X6Y7Z8A9B0C` : 'nobodys';
}

/** Calls the method. */
export async function make({ row, args }: Call, clients: Clients): Promise<unknown> {
  const { behest, admin, grantToken, sessionToken, scimToken } = clients;
  const [area = '', name] = row.method.split('.');
  const isPersons = area === 'principal';
  const client = row.as === 'operator' ? admin : behest;
  const holder = isPersons ? behest.principal(sessionToken) : Reflect.get(client, area);
  const method = name === undefined ? holder : Reflect.get(holder, name);
  return method(
    ...[...(row.as === 'grant' ? [grantToken] : []), ...args],
    ...(row.as === 'scim' ? [{ scimToken }] : []),
  );
}

/** The call as a program writes it, for the compiler. */
export function writtenAs({ row, args }: Call): string {
  const [area, name = ''] = row.method.split('.');
  const given = [...(row.as === 'grant' ? ['token'] : []), ...args].map((value) => JSON.stringify(value));
  const method = area === 'principal' ? `principal('session').${name}` : row.method;
  return `${row.as === 'operator' ? 'admin' : 'behest'}.${method}(${given.join(', ')})`;
}

/** The method as `methodsOfSdk` names it. */
export const nameOf = ({ method, as }: CallRow): string =>
  `${as === 'operator' ? 'admin.' : ''}${method.replace(/^principal\./, 'principal().')}`;
