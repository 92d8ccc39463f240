import { type AuditEntry, verifyChain } from './audit-chain.ts';
import type { VerificationJwk } from './key-set.ts';
import { readStatement, type StatementMeans } from './kind-verifier.ts';
import { type Refused, refused } from './token-refusal.ts';

/** A service that was told to take back its tokens. */
export interface ToldUpstream {
  readonly credentialId: string;
  readonly service: string;
  readonly state: 'pending' | 'revoked' | 'failed' | 'unsupported';
  /** Null while it waits. */
  readonly at: string | null;
}

/** How many deliveries of an offboarding wait, were taken, and were not. */
export interface Deliveries {
  readonly pending: number;
  readonly delivered: number;
  readonly failed: number;
}

/** A webhook or a stream of signals, with the deliveries of an offboarding to it. */
export interface ToldReceiver extends Deliveries {
  readonly webhookId: string;
}

/** What a service says, under its signature, of the end of a principal or an agent. */
export interface OffboardingStatement {
  readonly issuer: string;
  readonly developerId: string;
  readonly offboardingId: string;
  readonly kind: 'principal' | 'agent';
  /** The id of the agent, or the id by which the person was offboarded. */
  readonly subjectId: string;
  /** Every id of the person that was closed; none for an agent. */
  readonly principalIds: readonly string[];
  /** Those of them that count in any case, in lower case. */
  readonly principalIdsInAnyCase: readonly string[];
  /** Whether nothing was given to them as yet when the statement was signed. */
  readonly isClosed: boolean;
  readonly endedAt: string;
  /** The first and the last audit entry of the offboarding. */
  readonly firstSeq: number;
  readonly seq: number;
  /** The hash of the last. */
  readonly hash: string;
  /** What ended, by kind. */
  readonly ended: Readonly<Record<string, number>>;
  /** What was still of use at the last entry, by kind. */
  readonly remaining: Readonly<Record<string, number>>;
  /** The first 500. */
  readonly upstream: readonly ToldUpstream[];
  /** How many there are in all, by state. */
  readonly upstreamStates: Readonly<Record<ToldUpstream['state'], number>>;
  /** The first 100. */
  readonly receivers: readonly ToldReceiver[];
  /** Those to all receivers. */
  readonly deliveries: Deliveries;
  readonly signedAt: Date;
}

/** Reads the statement of an offboarding: a compact JWS with `typ` `offboarding-statement+jwt`. */
export async function readOffboardingStatement<Key extends VerificationJwk>(
  jws: string,
  means: StatementMeans<Key>,
): Promise<{ readonly ok: true; readonly statement: OffboardingStatement } | Refused> {
  const read = await readStatement('offboarding-statement', jws, means);
  if (!read.ok) return read;
  const statement = statementOf(read.claims, read.issuedAt);
  return statement ? { ok: true, statement } : refused('malformed');
}

function statementOf(
  claims: Readonly<Record<string, unknown>>,
  signedAt: Date,
): OffboardingStatement | undefined {
  const { iss, dev, offboardingId, kind, subjectId, endedAt, hash, firstSeq, seq } = claims;
  const { ended, remaining, upstream, upstreamStates, receivers, deliveries } = claims;
  const { principalIds, principalIdsInAnyCase, isClosed } = claims;
  if (kind !== 'principal' && kind !== 'agent') return undefined;
  const texts = [iss, dev, offboardingId, subjectId, endedAt, hash];
  if (!texts.every((text) => typeof text === 'string') || !isSeq(firstSeq) || !isSeq(seq)) return undefined;
  if (!areTexts(principalIds) || !areTexts(principalIdsInAnyCase) || typeof isClosed !== 'boolean')
    return undefined;
  if (
    !isCounts(ended) ||
    !isCounts(remaining) ||
    !hasCounts(upstreamStates, ['pending', 'revoked', 'failed', 'unsupported'])
  )
    return undefined;
  if (!hasCounts(deliveries, ['pending', 'delivered', 'failed'])) return undefined;
  if (!Array.isArray(upstream) || !Array.isArray(receivers)) return undefined;
  const [issuer = '', developerId = '', id = '', subject = '', at = '', last = ''] = texts.map(String);
  return {
    issuer,
    developerId,
    offboardingId: id,
    kind,
    subjectId: subject,
    principalIds,
    principalIdsInAnyCase,
    isClosed,
    endedAt: at,
    firstSeq,
    seq,
    hash: last,
    ended,
    remaining,
    upstream,
    upstreamStates,
    receivers,
    deliveries,
    signedAt,
  };
}

const areTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((text) => typeof text === 'string');

function hasCounts<Name extends string>(
  value: unknown,
  names: readonly Name[],
): value is Record<Name, number> {
  return isCounts(value) && names.every((name) => name in value);
}

const isSeq = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 1;

const isCounts = (value: unknown): value is Record<string, number> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every((count) => typeof count === 'number');

/** The first fault that a check of a statement finds. */
export type OffboardingFault =
  /** The statement itself says that something was left. */
  | 'something_remained'
  /** The entries are no whole chain from the first one on. */
  | 'chain_broken'
  /** The chain has another entry where the statement ends. */
  | 'other_chain'
  /** The entries of the offboarding end another number of grants than the statement says. */
  | 'other_counts'
  /** A grant was made before and had not ended. */
  | 'grant_survived'
  /** Something was given to them, or used by them, after. */
  | 'used_after'
  /** An upstream did not take its tokens back. */
  | 'upstream_failed'
  /** The statement says that they are closed, and they had been admitted again when it was signed. */
  | 'admitted_before';

/** The result of `verifyOffboardingStatement`. */
export interface OffboardingVerdict {
  readonly valid: boolean;
  readonly fault: OffboardingFault | null;
  /** The entry at fault: the one that made the grant, or that used something. */
  readonly entryId: string | null;
  /** The grants that were made, with all that was delegated from them. */
  readonly grants: number;
  /** The entries after the offboarding that were looked at. */
  readonly entriesAfter: number;
  /** Entries whose personal content was erased: nobody can tell any more whom they name. */
  readonly erasedEntries: number;
  /** The upstreams that have not answered yet, and the deliveries to receivers that wait. */
  readonly pending: number;
  /** The deliveries that receivers did not take. */
  readonly failedDeliveries: number;
}

/** Acts that give somebody something, or use it. */
const USES: ReadonlySet<string> = new Set([
  'authorization.approved',
  'authorization.requested',
  'budget.debited',
  'fido.assertion',
  'fido.registered',
  'grant.created',
  'passport.issued',
  'principal.address_proved',
  'principal.session_created',
  'sd-jwt.issued',
  'sso.login',
  'token.exchanged',
  'token.issued',
  'tool.enforce',
  'vault.connection.connected',
  'vault.connection.requested',
  'vault.credential.exchanged',
  'vault.credential.refreshed',
  'vault.credential.stored',
  'vault.proxy.called',
  'vc.issued',
  'wallet.authorization.consumed',
  'wallet.authorization.issued',
]);

/**
 * Checks a statement against the account's own export of its audit entries, without the service: the chain is whole and is
 * the one that the statement names; each grant to them, and each that was delegated from one, had ended by the statement's
 * last entry; and no entry behind that gives them anything or uses it, up to their admission.
 *
 * @param entries the whole chain from its first entry, in the order of `seq`, up to any entry behind the statement's last
 * @param sha256 hashes the UTF-8 of a text to 64 digits of lower-case hex
 *
 * @example
 * ```ts
 * const read = await readOffboardingStatement(jws, { keys: () => keys, verifySignature, issuer, now: new Date() });
 * if (!read.ok) throw new Error(read.reason);
 * const { valid, fault, entryId } = verifyOffboardingStatement(read.statement, entries, sha256);
 * if (!valid) throw new Error(`${fault} ${entryId}`);
 * ```
 */
export function verifyOffboardingStatement(
  statement: OffboardingStatement,
  entries: readonly AuditEntry[],
  sha256: (text: string) => string,
): OffboardingVerdict {
  const { upstreamStates, deliveries } = statement;
  const chain = verifyChain(entries, {}, sha256);
  const { made, fault: inEntries, after } = faultIn(statement, entries);
  const fault = !chain.valid
    ? { fault: 'chain_broken' as const, entryId: chain.firstBrokenAt }
    : (faultOfPosition(statement, entries) ??
      faultOfCounts(statement, entries) ??
      inEntries ??
      faultSaid(statement));
  return {
    valid: fault === undefined,
    fault: fault?.fault ?? null,
    entryId: fault?.entryId ?? null,
    grants: made,
    entriesAfter: after,
    erasedEntries: chain.erasedEntries,
    pending: deliveries.pending + upstreamStates.pending,
    failedDeliveries: deliveries.failed,
  };
}

interface Fault {
  readonly fault: OffboardingFault;
  readonly entryId: string | null;
}

/** The chain begins with 1 and has no gaps, so an entry's place follows from its number. */
function faultOfPosition(
  { seq, hash, developerId }: OffboardingStatement,
  entries: readonly AuditEntry[],
): Fault | undefined {
  const entry = entries[seq - 1];
  if (entry?.hash === hash && entry.developerId === developerId) return undefined;
  return { fault: 'other_chain', entryId: entry?.id ?? null };
}

function faultOfCounts(
  { firstSeq, seq, ended }: OffboardingStatement,
  entries: readonly AuditEntry[],
): Fault | undefined {
  const own = entries.slice(firstSeq - 1, seq).filter(({ action }) => action === 'grant.revoked');
  return own.length === (ended.grants ?? 0) ? undefined : { fault: 'other_counts', entryId: null };
}

/** What the statement owns up to. */
function faultSaid({ remaining, upstream, upstreamStates }: OffboardingStatement): Fault | undefined {
  if (Object.values(remaining).some((count) => count !== 0))
    return { fault: 'something_remained', entryId: null };
  const isFailed = upstreamStates.failed > 0 || upstream.some(({ state }) => state === 'failed');
  return isFailed ? { fault: 'upstream_failed', entryId: null } : undefined;
}

/** One walk along the chain, since a grant that was delegated comes behind the one above it. */
function faultIn(statement: OffboardingStatement, entries: readonly AuditEntry[]) {
  const { kind, subjectId, seq, endedAt, isClosed, signedAt } = statement;
  const isPerson = kind === 'principal';
  const exact = new Set([subjectId, ...statement.principalIds]);
  const folded = new Set(statement.principalIdsInAnyCase);
  const names = (id: unknown) =>
    typeof id === 'string' && (exact.has(id) || (folded.size > 0 && folded.has(id.toLowerCase())));
  const living = new Map<string, { readonly entryId: string; readonly expiresAt: string }>();
  const theirs = new Set<string>();
  let used: Fault | undefined;
  let admitted: Fault | undefined;
  let after = 0;
  for (const entry of entries) {
    const isNamed = names(isPerson ? entry.principalId : entry.agentId);
    if (entry.seq > seq && isPerson && isNamed && entry.action === 'principal.admitted') {
      const isBefore = isClosed && Date.parse(entry.timestamp) < signedAt.getTime();
      admitted = isBefore ? { fault: 'admitted_before', entryId: entry.id } : undefined;
      break;
    }
    if (entry.seq > seq) after += 1;
    const { parentGrantId, expiresAt } = Object(entry.metadata);
    const isTheirs = isNamed || (parentGrantId !== undefined && theirs.has(parentGrantId));
    if (entry.seq > seq) {
      if (isTheirs && entry.status === 'success' && USES.has(entry.action)) {
        used ??= { fault: 'used_after', entryId: entry.id };
      }
    } else if (entry.grantId && entry.action === 'grant.created' && isTheirs) {
      theirs.add(entry.grantId);
      living.set(entry.grantId, { entryId: entry.id, expiresAt: String(expiresAt) });
    } else if (entry.grantId && entry.action === 'grant.revoked') {
      living.delete(entry.grantId);
    }
  }
  const survivor = [...living.values()].find((grant) => !(grant.expiresAt <= endedAt));
  const survived: Fault | undefined = survivor && { fault: 'grant_survived', entryId: survivor.entryId };
  return { made: theirs.size, fault: survived ?? used ?? admitted, after };
}
