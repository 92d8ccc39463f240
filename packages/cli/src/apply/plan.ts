import { isDeepStrictEqual } from 'node:util';
import type { Behest } from '@behest/sdk';
import { isRecord } from '../config/user-file.ts';
import { CliError, EXIT } from '../errors.ts';
import { KINDS, type Kind, type Members, NAMED_BY, type Wanted } from './wanted.ts';

/** A step from the account as it is to the account as the file says. */
export interface Step {
  readonly action: 'create' | 'change' | 'delete' | 'keep';
  readonly kind: Kind;
  readonly name: string;
  /** Absent for a thing that is not there yet. */
  readonly id?: string;
  /** The members that differ, as the file has them. */
  readonly members: Members;
}

const idOf = (row: Members) => String(row.id ?? row.agentId ?? row.webhookId ?? row.connector);

/**
 * Compares the file with the account. Things that the file does not name are deleted with `prunes` alone.
 *
 * @throws CliError where two things of the account have a name of the file
 */
export async function stepsTo(client: Behest, wanted: Wanted, prunes: boolean): Promise<Step[]> {
  const steps: Step[] = [];
  for (const kind of KINDS) {
    const list = wanted[kind];
    if (!list) continue; // a kind that the file leaves out is not its business
    const found = await rowsOf(client, kind);
    const names = new Set(list.map((each) => each[NAMED_BY[kind]]));
    for (const each of list) {
      const name = String(each[NAMED_BY[kind]]);
      const rows = found.filter((one) => one[NAMED_BY[kind]] === name);
      if (rows.length > 1) throw ambiguous(kind, name);
      const [row] = rows;
      steps.push(stepOf(kind, name, each, row));
    }
    for (const row of found) {
      const name = String(row[NAMED_BY[kind]]);
      if (prunes && !names.has(name))
        steps.push({ action: 'delete', kind, name, id: idOf(row), members: {} });
    }
  }
  return steps;
}

/** A change of either could be the wrong one. */
const ambiguous = (kind: Kind, name: string) =>
  new CliError(
    'CONFLICT',
    `The account has two ${kind} with the ${NAMED_BY[kind]} "${name}". Rename or delete one.`,
    {
      exitCode: EXIT.conflict,
      next: `behest ${kind} list`,
    },
  );

function stepOf(kind: Kind, name: string, wanted: Members, row: Members | undefined): Step {
  if (!row) return { action: 'create', kind, name, members: wanted };
  const there = kind === 'manifests' && isRecord(row.manifest) ? row.manifest : row;
  const differing = Object.entries(wanted).filter(([member, value]) => !isSame(value, there[member]));
  const isLess =
    kind === 'manifests' && Object.keys(there).some((member) => !(member in wanted) && member !== 'version');
  const action = differing.length > 0 || isLess ? 'change' : 'keep';
  // A manifest is replaced as a whole.
  return {
    action,
    kind,
    name,
    id: idOf(row),
    members: kind === 'manifests' ? wanted : Object.fromEntries(differing),
  };
}

/** Scopes and events are sets: their order says nothing. */
function isSame(wanted: unknown, there: unknown): boolean {
  const sorted = (value: unknown) =>
    Array.isArray(value) && value.every((each) => typeof each === 'string') ? value.toSorted() : value;
  return isDeepStrictEqual(sorted(wanted), sorted(there));
}

async function rowsOf(client: Behest, kind: Kind): Promise<Members[]> {
  const rows: Members[] = [];
  const query = { limit: 100 };
  if (kind === 'agents')
    for await (const row of client.agents.list(query)) if (row.status !== 'revoked') rows.push({ ...row });
  if (kind === 'webhooks') for await (const row of client.webhooks.list(query)) rows.push({ ...row });
  if (kind === 'policies') for await (const row of client.policies.list(query)) rows.push({ ...row });
  if (kind === 'manifests')
    for await (const { connector } of client.manifests.list(query))
      rows.push({ ...(await client.manifests.get(connector)) });
  return rows;
}

/** Makes one step. @returns the answer of the service, where it has something that no other answer shows */
export async function carryOut(
  client: Behest,
  { action, kind, id = '', members }: Step,
): Promise<{ readonly secret?: string } | undefined> {
  if (kind === 'manifests') {
    if (action === 'delete') await client.manifests.remove(id);
    else await client.manifests.put(String(members.connector), { ...members });
    return undefined;
  }
  const resource: unknown = client[kind];
  const name = {
    create: kind === 'agents' ? 'register' : 'create',
    change: 'update',
    delete: 'delete',
    keep: '',
  }[action];
  const method: unknown = Reflect.get(Object(resource), name);
  if (typeof method !== 'function') throw new TypeError(`The SDK has no ${kind}.${name}.`);
  // The service checks the members, which come from a file.
  const args = action === 'create' ? [members] : action === 'change' ? [id, members] : [id];
  const { secret } = Object(await method.apply(resource, args));
  return typeof secret === 'string' ? { secret } : undefined;
}
