import type { ApproverRow } from './approvers.repo.ts';
import type { Approver } from './approvers.schema.ts';

/** The `sub` of a person's decision grants, the same for all their life as an approver. */
export const subOf = ({
  id,
  principalId,
  ssoSub,
}: Pick<ApproverRow, 'id' | 'principalId' | 'ssoSub'>): string =>
  principalId === null ? (ssoSub ?? `approver:${id}`) : `principal:${principalId}`;

export function toApprover(row: ApproverRow): Approver {
  const { id, kind, principalId, email, emailVerified, displayName, groups, connectors } = row;
  const { assurance, status, enrolledBy, confirmedBy, activeFrom, absentFrom, absentUntil, deputyId } = row;
  const { recoveryFrom } = row;
  const absence =
    absentFrom && absentUntil
      ? { from: absentFrom.toISOString(), until: absentUntil.toISOString(), deputyApproverId: deputyId }
      : null;
  return {
    ...{ approverId: id, kind, principalId, sub: subOf(row), email, emailVerified, displayName },
    ...{ groups, connectors, assurance, status, enrolledBy, confirmedBy, absence },
    activeFrom: activeFrom?.toISOString() ?? null,
    recoveryFrom: recoveryFrom?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
  };
}
