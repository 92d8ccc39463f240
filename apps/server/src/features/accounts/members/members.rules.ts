import type { Caller, Mode } from '../../../platform/caller.ts';
import { type Capability, capabilitiesOf, type MemberRole } from '../../../platform/capabilities.ts';

/** Members of an account, so that nobody fills a list that people have to read. */
export const MAX_MEMBERS = 200;
/** Members with those whom the operator let in, for whom the others leave no place in vain. */
export const MAX_MEMBERS_RECOVERED = MAX_MEMBERS + 10;
/** Open sessions of a member. One more ends the oldest. */
export const MAX_SESSIONS = 20;
/** How long a link that opens the console works. */
export const LINK_SECONDS = 600;
/** How long a link of the operator works, and how long after its use nobody can put its person out again. */
export const RECOVERY_SECONDS = 3600;
/** Recovery codes of a member. */
export const RECOVERY_CODES = 10;
/** How old a sign-in at a provider may be that opens the console: the groups are those of its time. */
export const SIGN_ON_MS = 600_000;
/** How long a session lives that has to register a passkey first. */
export const ENROLMENT_SECONDS = 1800;

/** What a session may do: everything of its member's role, once they have the passkey that a live account asks for. */
export const capabilitiesIn = (
  { role }: { readonly role: MemberRole },
  { needsPasskey }: { readonly needsPasskey: boolean },
): readonly Capability[] => (needsPasskey ? [] : capabilitiesOf[role]);

/** Whether the passkey of a first sign-in by key may be left out. */
export const needsPasskeyAfterKey = ({ mode }: Pick<Caller, 'mode'>): boolean => mode !== 'sandbox';

/** A person's passkeys. One more than a person has devices would serve nobody but an intruder. */
export const MAX_PASSKEYS = 10;

export const memberOwner = (ownerId: string) => ({ ownerKind: 'member', ownerId }) as const;

interface SteppingUp {
  readonly mode: Mode;
  readonly hasPasskey: boolean;
  readonly steppedUpAt: Date | null;
}

/** Until when a session needs no other use of the passkey. Null where it has none that counts. */
export const steppedUpUntil = (
  { steppedUpAt }: Pick<SteppingUp, 'steppedUpAt'>,
  seconds: number,
): Date | null => (steppedUpAt ? new Date(steppedUpAt.getTime() + seconds * 1000) : null);

/** Whether a session may do what asks for a passkey. In a sandbox, a member who has none is asked for none. */
export function isSteppedUp(session: SteppingUp, seconds: number, now: Date): boolean {
  if (session.mode === 'sandbox' && !session.hasPasskey) return true;
  const until = steppedUpUntil(session, seconds);
  return until !== null && now < until;
}

/** How long an invitation can be accepted. */
export const INVITATION_MS = 7 * 86_400_000;

/** Whether a member may give, change or take away a role: admins only those below their own, owners all. */
export const mayManage = (own: MemberRole, role: MemberRole): boolean =>
  own === 'owner' || (own === 'admin' && (role === 'operator' || role === 'auditor'));

/** Whether an account keeps an active owner when one of its members is no such owner any more. */
export const keepsOwner = (
  members: readonly { readonly id: string; readonly role: MemberRole; readonly status: string }[],
  without: string,
): boolean =>
  members.some(({ id, role, status }) => id !== without && role === 'owner' && status === 'active');

/** The member with an address. What a provider says of its people finds nobody: it may say any address. */
export const withAddress = <
  Row extends { readonly email: string | null; readonly ssoConnectionId: string | null },
>(
  members: readonly Row[],
  email: string,
): Row | undefined => members.find((each) => each.ssoConnectionId === null && each.email === email);
