import { auditLineParts } from '@behest/protocol/audit-line';
import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { AppError, badField, notFound } from '../../../platform/errors.ts';
import { newId, newSalt } from '../../../platform/ids.ts';
import type { Quotas } from '../../../platform/quotas.ts';
import { limitOf, overQuota } from '../../accounts/quotas/index.ts';
import type { Catalogue } from '../events/index.ts';
import { appendCounted, findGrantOfEntry } from './audit.repo.ts';
import type { AuditEntry, NewAuditEntry } from './audit.schema.ts';

export interface AppendDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly quotas: Quotas;
  readonly catalogue: Catalogue;
}

/**
 * Appends an entry that a developer writes about an act of an agent. The service did not do the act, so there
 * is no event.
 * @throws NOT_FOUND, BAD_REQUEST when the entry disagrees with its grant, RESERVED_ACTION, PLAN_LIMIT_EXCEEDED
 */
export async function appendEntry(
  deps: AppendDeps,
  caller: Caller,
  entry: NewAuditEntry,
): Promise<AuditEntry> {
  const { tenant, requestId } = caller;
  const { action, agentId, agentDid, grantId, principalId, status, metadata } = entry;
  mustBeKeepableMetadata(metadata);
  if (deps.catalogue.isReserved(action)) {
    throw new AppError('RESERVED_ACTION', 'Only the service writes entries with this action.', { action });
  }
  const grant = await findGrantOfEntry(deps.db, caller, grantId);
  if (!grant) throw notFound();
  for (const name of ['agentId', 'agentDid', 'principalId'] as const) {
    if (grant[name] !== entry[name]) throw badField(name, 'not_allowed', 'The entry differs from its grant.');
  }

  const at = deps.clock();
  const id = newId('alog', at);
  const about = { agentId, agentDid, grantId, principalId, purpose: grant.purpose };
  const facts = { id, ...tenant, ...about, action, status, metadata, salt: newSalt() };
  const line = { ...auditLineParts(facts), requestId };
  const limit = limitOf(deps.quotas, caller, 'audit_appends');
  const append = { id, entry: line, monthLimit: limit };
  const recorded = await appendCounted(deps.db, tenant, at, append);
  if (!recorded) throw overQuota(caller, 'audit_appends', limit);
  const { seq, timestamp, prevHash, hash } = recorded;
  const position = { seq: Number(seq), timestamp, prevHash, hash };
  return { entryId: id, ...facts, ...position, source: 'developer', requestId };
}

const MAX_BYTES = 16_384;
const MAX_DEPTH = 8;
/** Objects, arrays, strings, numbers and literals together. Each costs a reader far more than its bytes. */
const MAX_NODES = 1_000;

interface Problem {
  readonly path: string;
  readonly problem: string;
}

/**
 * Accepts metadata that comes back from the database as exactly the text that was hashed, in every parser, and that
 * costs no reader more than it cost the writer.
 * @throws BAD_REQUEST when it is too large or too deep, or holds what a parser could change
 */
function mustBeKeepableMetadata(metadata: object): void {
  const measured = { nodes: 0, keptBytes: 0 };
  const isTooLong = () => Math.max(bytesOf(metadata), measured.keptBytes) > MAX_BYTES;
  const problem = measure(metadata, 1, 'metadata', measured) ?? (isTooLong() ? TOO_LONG : undefined);
  if (problem) {
    throw new AppError('BAD_REQUEST', 'The metadata cannot be kept as it is.', { fields: [problem] });
  }
}

const TOO_LONG: Problem = { path: 'metadata', problem: 'too_long' };

type Measured = Record<'nodes' | 'keptBytes', number>;

/**
 * Adds up the nodes of a value and the bytes of the text that Postgres keeps of it, without the blanks that Postgres
 * sets after commas and colons: the writer could not know of those.
 */
function measure(value: unknown, depth: number, path: string, measured: Measured): Problem | undefined {
  measured.nodes += 1;
  if (measured.nodes > MAX_NODES) return TOO_LONG;
  if (typeof value !== 'object' || value === null) {
    measured.keptBytes += typeof value === 'number' ? keptDigits(value) : bytesOf(value);
    return isRounded(value) ? { path, problem: 'too_large' } : undefined;
  }
  if (depth > MAX_DEPTH) return { path, problem: 'too_long' };
  const members = Object.entries(value);
  measured.keptBytes += 2 + Math.max(0, members.length - 1); // the brackets, and commas
  for (const [name, member] of members) {
    if (!Array.isArray(value)) {
      if (isEscaped(name)) return { path, problem: 'not_allowed' };
      measured.keptBytes += bytesOf(name) + 1; // with its colon
    }
    const problem = measure(member, depth + 1, `${path}.${name}`, measured);
    if (problem) return problem;
  }
  return undefined;
}

/** Readers with 64-bit floating-point numbers would round it. */
const isRounded = (value: unknown) => Number.isInteger(value) && !Number.isSafeInteger(value);

/**
 * Whether JSON has to escape a member's name. `JSON.parse` of some engines takes such a name for another, so that one
 * entry could make a good chain look broken.
 * @see https://github.com/nodejs/node/issues/63785
 */
const isEscaped = (name: string) => JSON.stringify(name).length !== name.length + 2;

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

/** The length of a number as `jsonb` writes it: without an exponent, so `5e-324` takes 326 characters. */
function keptDigits(value: number): number {
  const [, digits = '', exponent] = /^-?([\d.]+)(?:e([+-]\d+))?$/.exec(JSON.stringify(value)) ?? [];
  const sign = value < 0 ? 1 : 0;
  if (exponent === undefined) return sign + digits.length;
  const fraction = digits.split('.')[1]?.length ?? 0;
  const power = Number(exponent);
  // Integers beyond the safe ones are refused, so the exponent is negative here: `0.`, zeros, digits.
  return sign + 2 + Math.max(0, fraction - power);
}
