import type { Schemas } from '../../api/client.ts';
import { type Session, useSession } from '../../session/session.ts';

export type Member = Schemas['Member'];
export type Role = Member['role'];

/** What an owner may give, from the most to the least. */
const ROLES: readonly Role[] = ['owner', 'admin', 'operator', 'auditor'];
/** What an admin may give. */
const LESSER: readonly Role[] = ['operator', 'auditor'];

/** @returns the roles that this session may give and take */
export function rolesOf({ member, capabilities }: Session): readonly Role[] {
  if (!capabilities.includes('people')) return [];
  return member.role === 'owner' ? ROLES : LESSER;
}

/** @returns the roles that this session may give a member, none where it may not touch the member */
export function useRolesFor({ memberId, role }: Member): readonly Role[] {
  const session = useSession();
  const roles = rolesOf(session);
  return memberId !== session.member.memberId && roles.includes(role) ? roles : [];
}
