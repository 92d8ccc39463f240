import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { badField } from '../../../platform/errors.ts';
import type { FourEyesRule } from '../../accounts/developers/developers.queries.ts';
import { addressOfPrincipal } from '../../people/scim/scim.queries.ts';
import { type ApproverRow, isAbsentAt, isActiveAt, isAssured, mailboxOf } from '../approvers/index.ts';

/** A person who may decide now, in their own name or for somebody who is absent. */
export interface Eligible {
  readonly row: ApproverRow;
  readonly onBehalfOf?: string;
}

interface Subject {
  readonly connector: string;
  readonly principalId: string;
}

const isFor = ({ kind, principalId, connectors }: ApproverRow, subject: Subject) =>
  (kind === 'person' || principalId === subject.principalId) &&
  (connectors === null || connectors.includes(subject.connector));

/**
 * The people to whom a request goes: those whom it names, or all who may decide about the connector.
 * @throws BAD_REQUEST for a person who may not decide about this call
 */
export function routeOf(
  all: readonly ApproverRow[],
  subject: Subject,
  named: readonly string[] | undefined,
  at: Date,
): string[] {
  const fit = all.filter((row) => isActiveAt(row, at) && isFor(row, subject));
  if (!named) return fit.map(({ id }) => id);
  const routed = named.flatMap((name, index) => {
    const group = /^group:(.+)$/.exec(name)?.[1];
    const found = fit.filter(({ id, groups }) =>
      group === undefined ? id === name : groups.includes(group),
    );
    if (found.length === 0) {
      throw badField(`approvers.${index}`, 'not_allowed', 'Name approvers who may decide about this call.');
    }
    return found.map(({ id }) => id);
  });
  return [...new Set(routed)];
}

/** Those of the routed people who may decide now. A deputy stands in for one absent person, and counts once. */
export function eligibleOf(all: readonly ApproverRow[], routed: readonly string[], at: Date): Eligible[] {
  const byId = new Map(all.map((row) => [row.id, row]));
  const present = routed
    .flatMap((id) => byId.get(id) ?? [])
    .filter((row) => isActiveAt(row, at) && !isAbsentAt(row, at));
  const deputies = routed.flatMap((id): Eligible[] => {
    const absent = byId.get(id);
    if (!absent?.deputyId || !isActiveAt(absent, at) || !isAbsentAt(absent, at)) return [];
    const row = byId.get(absent.deputyId);
    const isFit = row?.kind === 'person' && isActiveAt(row, at) && !isAbsentAt(row, at);
    return row && isFit && isAssured(row.assurance, absent.assurance) ? [{ row, onBehalfOf: id }] : [];
  });
  const own = new Set(present.map(({ id }) => id));
  const once = new Map(deputies.map((deputy) => [deputy.row.id, deputy]));
  return [...present.map((row) => ({ row })), ...[...once.values()].filter(({ row }) => !own.has(row.id))];
}

/** The addresses of the person in whose name an agent asks. */
export async function requesterOf(db: Executor, tenant: Tenant, principalId: string) {
  const address = await addressOfPrincipal(db, tenant, principalId);
  const mailbox = address === undefined ? undefined : mailboxOf(address);
  return (row: Pick<ApproverRow, 'principalId' | 'mailbox'>) =>
    row.principalId === principalId || (mailbox !== undefined && row.mailbox === mailbox);
}

/** Whether enough different people may decide. */
export function hasQuorum(
  eligible: readonly Eligible[],
  {
    quorum,
    rule,
    isRequester,
  }: { quorum: number; rule: FourEyesRule; isRequester: (row: ApproverRow) => boolean },
): boolean {
  if (quorum === 1) return eligible.length > 0;
  const good = eligible.filter(
    ({ row }) => !isRequester(row) && (rule.isRelaxed || isAssured(row.assurance, rule.least)),
  );
  return new Set(good.map(({ row }) => row.mailbox)).size >= quorum;
}
