import type { DecisionPhase } from '@behest/protocol/enforcement/ports';

/** A held decision is free again after so long, because the call that held it was not answered. */
const HELD_MS = 30_000;
/** The longest life of a decision grant, in seconds. */
export const GRANT_SECONDS = 86_400;

/** The use of the approvals of one decision. */
export interface Use {
  readonly hold: 'free' | 'held' | 'sent' | 'spent';
  readonly callId: string | null;
  readonly heldAt: Date | null;
}

export interface Step {
  readonly phase: DecisionPhase;
  readonly callId: string;
  readonly at: Date;
}

/**
 * The next state of a decision's approvals. A call that repeats its own step finds it done; another call finds them taken.
 * @returns undefined when the step is refused as `consumed`
 */
export function nextUse(
  use: Use,
  { phase, callId, at }: Step,
): { readonly use: Use; readonly replayed: boolean } | undefined {
  const isFree = use.hold === 'free' || (use.hold === 'held' && isOver(use.heldAt, at));
  const done = { use, replayed: true };
  if (isFree) {
    if (phase === 'release') return { use: FREE, replayed: true };
    if (phase === 'spend') return undefined;
    return { use: { hold: phase === 'hold' ? 'held' : 'sent', callId, heldAt: at }, replayed: false };
  }
  if (use.callId !== callId || use.hold === 'spent') return undefined;
  if (use.hold === 'held') {
    if (phase === 'hold') return done;
    if (phase === 'release') return { use: FREE, replayed: false };
    return phase === 'send' ? { use: { ...use, hold: 'sent' }, replayed: false } : undefined;
  }
  if (phase === 'spend') return { use: { ...use, hold: 'spent' }, replayed: false };
  return phase === 'release' ? undefined : done;
}

const FREE: Use = { hold: 'free', callId: null, heldAt: null };

const isOver = (heldAt: Date | null, at: Date) =>
  heldAt === null || at.getTime() >= heldAt.getTime() + HELD_MS;

type Status = 'pending' | 'approved' | 'consumed' | 'denied' | 'cancelled' | 'superseded' | 'expired';

/** The status at an instant: nobody's silence approves, whatever the row says. */
export const statusAt = ({ status, expiresAt }: { status: Status; expiresAt: Date }, at: Date): Status =>
  (status === 'pending' || status === 'approved') && expiresAt <= at ? 'expired' : status;

/** A person as the checks of four eyes see them. */
export interface Eyes {
  readonly approverId: string;
  readonly sub: string;
  readonly credential: string;
  readonly mailbox: string;
  /** Has the assurance that the account demands. */
  readonly isAssured: boolean;
  readonly deviceHash: Buffer;
  readonly sessionId: string;
  /** The person who asked through the agent. */
  readonly isRequester: boolean;
}

export type FourEyesCheck = 'person' | 'sub' | 'credential' | 'email' | 'assurance' | 'device' | 'requester';

/** @returns the first check by which the second approver is not another person than the first */
export function fourEyesFault(first: Eyes, second: Eyes, isRelaxed: boolean): FourEyesCheck | undefined {
  const sameDevice = first.deviceHash.equals(second.deviceHash) || first.sessionId === second.sessionId;
  const isWeak = !first.isAssured || !second.isAssured;
  const faults: readonly [FourEyesCheck, boolean][] = [
    ['person', first.approverId === second.approverId],
    ['sub', first.sub === second.sub],
    ['credential', first.credential === second.credential],
    ['email', first.mailbox === second.mailbox],
    ['assurance', !isRelaxed && isWeak],
    ['device', !isRelaxed && sameDevice],
    ['requester', first.isRequester || second.isRequester],
  ];
  return faults.find(([, isFaulty]) => isFaulty)?.[0];
}

/** The parts of a request's life after which people are reminded. */
const REMINDERS = [0.5, 0.9];

/** When a request is due for its next reminder, or expires. */
export function dueAt(createdAt: Date, expiresAt: Date, reminders: number): Date {
  const part = REMINDERS[reminders];
  const length = expiresAt.getTime() - createdAt.getTime();
  return part === undefined ? expiresAt : new Date(createdAt.getTime() + Math.ceil(length * part));
}
