/** The owner of an approver's passkeys. */
export const approverOwner = (ownerId: string) => ({ ownerKind: 'approver', ownerId }) as const;

/** A link to enrol is good for so long. */
export const INVITE_MS = 72 * 3_600_000;
/** A person whom a key enrolled decides nothing before, so that the account sees the enrolment first. */
export const WAIT_MS = 24 * 3_600_000;
/** A link of the operator opens so long after it was asked for, so that the account and its approvers see it first. */
export const RECOVERY_WAIT_MS = 24 * 3_600_000;
/** A session of the page ends so long after it began, and after its last use. */
export const SESSION_MS = 8 * 3_600_000;
export const IDLE_MS = 15 * 60_000;
/** The longest absence. */
export const LONGEST_ABSENCE_MS = 90 * 86_400_000;

/**
 * The address by which two people are told apart: lower case, without the tag that one mailbox may have many of.
 * @example mailboxOf('Ada+pay@Example.org') // 'ada@example.org'
 */
export function mailboxOf(email: string): string {
  const at = email.lastIndexOf('@');
  return `${email.slice(0, at).replace(/(?<=.)\+[\s\S]*$/, '')}${email.slice(at)}`.toLowerCase();
}

interface ApproverAvailability {
  readonly status: string;
  readonly activeFrom: Date | null;
  readonly absentFrom: Date | null;
  readonly absentUntil: Date | null;
}

/** Whether an approver may decide now, absence apart. */
export const isActiveAt = ({ status, activeFrom }: ApproverAvailability, at: Date): boolean =>
  status === 'active' && activeFrom !== null && activeFrom <= at;

export type Assurance = 'single' | 'dual' | 'sso';

const RANKS: Readonly<Record<Assurance, number>> = { single: 0, dual: 1, sso: 2 };

export const isAssured = (assurance: Assurance, least: Assurance): boolean =>
  RANKS[assurance] >= RANKS[least];

interface Person extends ApproverAvailability {
  readonly id: string;
  readonly kind: string;
  readonly assurance: Assurance;
}

/** A deputy is another active person with at least the same assurance. */
export const mayDeputiseFor = (deputy: Person, absent: Pick<Person, 'id' | 'assurance'>, at: Date): boolean =>
  deputy.kind === 'person' &&
  deputy.id !== absent.id &&
  isActiveAt(deputy, at) &&
  isAssured(deputy.assurance, absent.assurance);

export const isAbsentAt = ({ absentFrom, absentUntil }: ApproverAvailability, at: Date): boolean =>
  absentFrom !== null && absentUntil !== null && absentFrom <= at && at < absentUntil;
