import { uncovered } from '../scopes.ts';
import type { ReceiptEntry } from './entries.ts';

/** A grant as the entries show it. A member that is hidden is undefined. */
export interface ReceiptGrant {
  readonly grantId: string;
  /** Null for the root of the tree. */
  readonly parentGrantId: string | null | undefined;
  readonly agentId: string | null;
  readonly agentDid: string | null;
  readonly createdAt: string;
  readonly scopes: readonly string[] | undefined;
  readonly expiresAt: string | undefined;
  readonly depth: number | undefined;
  readonly consentMethod: string | undefined;
  /** Nobody proved who the person was. */
  readonly unverified: boolean;
  /** `unknown` where a withheld entry may be the revocation, or the end is hidden. */
  readonly status: 'active' | 'expired' | 'revoked' | 'unknown';
  readonly revokedAt?: string;
  /** Who revoked it, where the entry shows that: `principal`, `developer`. */
  readonly revokedBy?: string;
}

/** A fault, with the grant or the member that it is about. */
export interface TreeFault {
  readonly id: 'tree' | 'no_grant_entry';
  readonly detail: string;
}

export interface ReadTree {
  readonly grants: readonly ReceiptGrant[];
  readonly faults: readonly TreeFault[];
  /** Something that the checks need is hidden. */
  readonly isPartial: boolean;
}

interface TreeOf {
  readonly rootGrantId: string;
  readonly grantId: string;
  /** How many entries are withheld. */
  readonly withheld: number;
  readonly now: Date | undefined;
}

/** Reads the tree of grants out of the entries, and checks that each grant is within the one that it came from. */
export function readTree(
  entries: readonly ReceiptEntry[],
  { rootGrantId, grantId, withheld, now }: TreeOf,
): ReadTree {
  const faults: TreeFault[] = [];
  const fault = (detail: string) => faults.push({ id: 'tree', detail });
  let isPartial = false;

  const created = new Map<string, ReceiptEntry>();
  const revoked = new Map<string, ReceiptEntry>();
  for (const entry of entries) {
    if (entry.grantId === null || entry.status !== 'success') continue;
    if (entry.action === 'grant.revoked' && !revoked.has(entry.grantId)) revoked.set(entry.grantId, entry);
    if (entry.action !== 'grant.created') continue;
    if (created.has(entry.grantId)) fault(`created_twice ${entry.grantId}`);
    else created.set(entry.grantId, entry);
  }

  const grants = new Map([...created].map(([id, entry]) => [id, grantOf(id, entry, rootGrantId)]));
  const depthOf = depthsIn(grants);
  const missing = new Set<string>();
  const isMissing = (id: string) => {
    if (grants.has(id)) return false;
    missing.add(id);
    return true;
  };
  for (const id of [rootGrantId, grantId, ...entries.map((entry) => entry.grantId)]) {
    if (id !== null) isMissing(id);
  }

  for (const grant of grants.values()) {
    const { parentGrantId } = grant;
    if (parentGrantId === undefined) isPartial = true;
    if (parentGrantId === null && grant.grantId !== rootGrantId) fault(`second_root ${grant.grantId}`);
    if (typeof parentGrantId !== 'string') continue;
    if (grant.grantId === rootGrantId) fault(`root_has_parent ${rootGrantId}`);
    if (isMissing(parentGrantId)) continue;
    const parent = grants.get(parentGrantId);
    if (!parent) continue;
    if (depthOf(grant) > DEEPEST) fault(`circle ${grant.grantId}`);
    const wider = beyond(parent, grant);
    if (wider === undefined) isPartial = true;
    else if (wider) fault(`${wider} ${grant.grantId}`);
  }

  if (withheld > 0 && missing.size > 0) isPartial = true;
  else for (const detail of missing) faults.push({ id: 'no_grant_entry', detail });

  const principals = new Set(entries.map(({ principalId }) => principalId).filter((id) => id != null));
  if (principals.size > 1) fault('second_principal');
  if (new Set(entries.map(({ developerId }) => developerId)).size > 1) fault('second_developer');
  const malformed = [...created.keys()].filter((id) => !isReadable(created.get(id)));
  for (const id of malformed) fault(`malformed_grant ${id}`);

  return {
    grants: [...grants.values()].map((grant) =>
      withStatus(grant, revoked.get(grant.grantId), { withheld, now }),
    ),
    faults,
    isPartial,
  };
}

type Grant = Omit<ReceiptGrant, 'status'>;

function grantOf(grantId: string, entry: ReceiptEntry, rootGrantId: string): Grant {
  const { scopes, expiresAt, parentGrantId, delegationDepth, consentMethod, unverified } = entry.metadata;
  const isRoot = grantId === rootGrantId;
  const absent = entry.hidden > 0 && !isRoot ? undefined : null; // the parent may be among what is hidden
  return {
    grantId,
    parentGrantId: typeof parentGrantId === 'string' ? parentGrantId : absent,
    agentId: entry.agentId,
    agentDid: entry.agentDid,
    createdAt: entry.timestamp,
    scopes: areScopes(scopes) ? scopes : undefined,
    expiresAt: isTime(expiresAt) ? expiresAt : undefined,
    depth: typeof delegationDepth === 'number' ? delegationDepth : undefined,
    consentMethod: typeof consentMethod === 'string' ? consentMethod : undefined,
    unverified: unverified === true,
  };
}

/** The most that the service takes. Each is compared with each of the parent's. */
const MOST_SCOPES = 100;

/** Whether the members of a grant have the types that the service writes, or are hidden. */
function isReadable(entry: ReceiptEntry | undefined): boolean {
  if (!entry) return false;
  const { scopes, expiresAt, parentGrantId, delegationDepth } = entry.metadata;
  const isThere = (member: unknown) => member !== undefined || entry.hidden > 0;
  if (![scopes, expiresAt, delegationDepth].every(isThere)) return false;
  if (scopes !== undefined && !areScopes(scopes)) return false;
  if (!isTime(entry.timestamp) || (expiresAt !== undefined && !isTime(expiresAt))) return false;
  if (delegationDepth !== undefined && !Number.isSafeInteger(delegationDepth)) return false;
  return parentGrantId === undefined || typeof parentGrantId === 'string';
}

/** Each time has one spelling, so no two readers take it for different times. */
function isTime(value: unknown): value is string {
  const time = typeof value === 'string' ? new Date(value) : undefined;
  return time !== undefined && !Number.isNaN(time.getTime()) && time.toISOString() === value;
}

/** What of a grant goes beyond its parent; an empty text for nothing, undefined where a member is hidden. */
function beyond(parent: Grant, child: Grant): string | undefined {
  if (parent.scopes && child.scopes && uncovered(parent.scopes, child.scopes).length > 0)
    return 'wider_scopes';
  if (parent.expiresAt && child.expiresAt && Date.parse(child.expiresAt) > Date.parse(parent.expiresAt))
    return 'later_end';
  if (parent.depth !== undefined && child.depth !== undefined && child.depth !== parent.depth + 1)
    return 'wrong_depth';
  const needed = [parent, child].flatMap(({ scopes, expiresAt, depth }) => [scopes, expiresAt, depth]);
  return needed.includes(undefined) ? undefined : '';
}

/** Far beyond the deepest delegation that the service takes. */
const DEEPEST = 100;

/** Looks at each grant once. @returns how many grants are above one, or more than `DEEPEST` in a circle */
function depthsIn(grants: ReadonlyMap<string, Grant>): (grant: Grant) => number {
  const known = new Map<string, number>();
  return (grant) => {
    const path: string[] = [];
    let at: Grant | undefined = grant;
    for (; at && !known.has(at.grantId) && path.length <= DEEPEST; at = grants.get(at.parentGrantId ?? ''))
      path.push(at.grantId);
    const above = at ? (known.get(at.grantId) ?? DEEPEST) : -1;
    for (const [place, id] of path.entries()) known.set(id, above + path.length - place);
    return known.get(grant.grantId) ?? 0;
  };
}

function withStatus(
  grant: Grant,
  revocation: ReceiptEntry | undefined,
  { withheld, now }: Pick<TreeOf, 'withheld' | 'now'>,
): ReceiptGrant {
  if (revocation) {
    const { revokedBy } = revocation.metadata;
    return {
      ...{ ...grant, status: 'revoked', revokedAt: revocation.timestamp },
      ...(typeof revokedBy === 'string' && { revokedBy }),
    };
  }
  const isOver = now && grant.expiresAt !== undefined && Date.parse(grant.expiresAt) <= now.getTime();
  const mayBeOver = withheld > 0 || (now && grant.expiresAt === undefined);
  return { ...grant, status: isOver ? 'expired' : mayBeOver ? 'unknown' : 'active' };
}

const areScopes = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length <= MOST_SCOPES && value.every((each) => typeof each === 'string');
