import type { Caller } from './caller.ts';
import { AppError } from './errors.ts';

/** What the session of a member may do, as routes declare it. A role holds a set of them. */
export type Capability = 'read' | 'export' | 'operate' | 'configure' | 'people' | 'govern' | 'own';

export const memberRoles = ['owner', 'admin', 'operator', 'auditor'] as const;
/** What a group at an identity provider may be, from the most to the least. What a provider says makes nobody an owner. */
export const consoleRoles = [
  'admin',
  'operator',
  'auditor',
] as const satisfies readonly (typeof memberRoles)[number][];
export type MemberRole = (typeof memberRoles)[number];

const auditor: readonly Capability[] = ['read', 'export'];
const operator: readonly Capability[] = ['read', 'operate'];
const admin: readonly Capability[] = ['read', 'export', 'operate', 'configure', 'people'];
const owner: readonly Capability[] = [...admin, 'govern', 'own'];

/** The capabilities of each role. `people` covers approvers, and members up to the role below one's own. */
export const capabilitiesOf: Readonly<Record<MemberRole, readonly Capability[]>> = {
  owner,
  admin,
  operator,
  auditor,
};

/** @throws FORBIDDEN when the session of a member lacks a capability. A caller with an API key holds all of them. */
export function mustHold({ member: acting }: Caller, needed: Capability | 'never' | undefined): void {
  if (!acting || needed === undefined) return;
  const { role, capabilities } = acting;
  if (needed === 'never') {
    throw new AppError('FORBIDDEN', 'No session of the console may call this route; use an API key.');
  }
  if (capabilities.length === 0) {
    throw new AppError('FORBIDDEN', 'Register a passkey first: until then this session can do nothing else.');
  }
  if (capabilities.includes(needed)) return;
  const message = `Your role, \`${role}\`, does not have the capability \`${needed}\`. Ask an owner.`;
  throw new AppError('FORBIDDEN', message, { capability: needed, role });
}

/** Capabilities that let a session do what cannot be taken back, or let others in. */
const WITH_STEP_UP: readonly unknown[] = ['govern', 'own'];

/** Whether a capability always asks for a step-up. */
export const needsStepUp = (capability: Capability | 'never' | undefined): boolean =>
  WITH_STEP_UP.includes(capability);

/**
 * What gives authority, or loosens a rule, asks for the passkey of the member once more. What cuts authority never does.
 * @throws STEP_UP_REQUIRED
 */
export function mustBeSteppedUp({ member: acting }: Caller): void {
  if (!acting || acting.isSteppedUp) return;
  throw new AppError('STEP_UP_REQUIRED', 'Use your passkey again, and then repeat this request.', {
    maxAgeSeconds: acting.stepUpSeconds,
    methods: ['passkey'],
  });
}
