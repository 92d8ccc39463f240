import { canonicalJson } from '@behest/protocol/canonical-json';
import {
  type Caller,
  type Loosening,
  type Mode,
  NeedsSecondMember,
  type Plan,
} from '../../../platform/caller.ts';
import { mustBeSteppedUp } from '../../../platform/capabilities.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { AppError, badField } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { openChain, recordActs } from '../../record/audit/index.ts';
import { insertKey } from './api-keys.repo.ts';
import { newKey } from './api-keys.ts';
import type { OnConsentMode } from './developers.hooks.ts';
import { findLooseningRule } from './developers.queries.ts';
import {
  countOwners,
  type DeveloperRow,
  getDeveloperRow,
  insertDeveloper,
  lockOpenAccount,
  updateDeveloper,
} from './developers.repo.ts';
import {
  generateKey,
  keysIn,
  mustBeKeepableSettings,
  thumbprintsOf,
  weakenedSettings,
} from './developers.rules.ts';
import type { CreatedDeveloper, Developer, DeveloperChange, SignUp } from './developers.schema.ts';

export interface DeveloperDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly signupMode: 'open' | 'closed';
  readonly defaultPlan: Plan;
  /** Whether the operator has set up mail, or the service runs in development. */
  readonly canMail: boolean;
  readonly onConsentMode: readonly OnConsentMode[];
}

/**
 * Creates a developer and a first key. The answer does not tell whether the address is known, because only
 * its verification shows whose it is. @throws SIGNUP_DISABLED
 */
export async function signUp(
  deps: DeveloperDeps,
  input: SignUp,
  requestId: string,
): Promise<CreatedDeveloper> {
  if (deps.signupMode === 'closed') {
    throw new AppError(
      'SIGNUP_DISABLED',
      'Sign-up is closed; ask the operator of this service for an account.',
    );
  }
  return inTransaction(deps.db, (tx) => openAccount(tx, deps, input, { requestId }));
}

interface Opening {
  readonly requestId: string;
  /** Absent: the first API key of the account. */
  readonly actor?: string;
}

/** Creates a developer and a first key in a transaction of the caller. It does not ask who may sign up. */
export async function openAccount(
  tx: Tx,
  deps: Pick<DeveloperDeps, 'clock' | 'defaultPlan'>,
  input: SignUp,
  { requestId, actor }: Opening,
): Promise<CreatedDeveloper> {
  const at = deps.clock();
  const { name, mode } = input;
  const email = input.email?.toLowerCase() ?? null;
  const developer = { ...newDeveloper(name, mode, deps.defaultPlan, at), email };
  const apiKey = generateKey(mode);
  const key = newKey('first', 'full', at, apiKey);
  const caller = firstCaller(developer, actor ?? `developer:${key.id}`, requestId);
  const row = await insertDeveloper(tx, developer);
  await insertKey(tx, caller.tenant, key);
  await openChain(tx, caller.tenant);
  const { developerId } = caller.tenant;
  await recordActs(tx, caller, [{ type: 'developer.created', developerId, data: { mode } }], at);
  return { ...toDeveloper(row), apiKey, keyId: key.id };
}

/** A developer with the settings that every account begins with. */
export function newDeveloper(name: string, mode: Mode, plan: Plan, at: Date) {
  return {
    id: newId('dev', at),
    name,
    email: null,
    emailVerified: false,
    mode,
    plan,
    consentMode: 'developer' as const,
    consentKeys: '[]',
    scopeDescriptions: '{}',
    redirectUris: [],
    connectLoginUrl: null,
    enforceAgentScopes: false,
    maxDelegationDepth: null,
    auditPrivateKeys: [],
    capsMode: 'enforce' as const,
    manifestPinning: 'warn' as const,
    reconsentOnAgentChange: false,
    policyAutoApproval: false,
    requireTwoForLoosening: false,
    isSeeded: false,
    closedAt: null,
    stoppedAt: null,
    stopReason: null,
    createdAt: at,
    updatedAt: at,
  };
}

/** The caller in whose name an account is created. */
export function firstCaller(
  { id, mode, plan }: { id: string; mode: Mode; plan: Plan },
  actor: string,
  requestId: string,
): Caller {
  return { tenant: { developerId: id }, agentIds: null, actor, role: 'full', mode, plan, requestId };
}

export async function getDeveloper({ db }: DeveloperDeps, { tenant }: Caller): Promise<Developer> {
  return toDeveloper(await getDeveloperRow(db, tenant));
}

/** @throws BAD_REQUEST, INVALID_REDIRECT_URI, NOT_CONFIGURED, CONFLICT */
export async function changeDeveloper(deps: DeveloperDeps, caller: Caller, change: DeveloperChange) {
  mustBeKeepableSettings(change);
  const { consentMode: asked, fidoRequired: isFido } = change;
  if (asked !== undefined && isFido !== undefined && (asked === 'passkey') !== isFido) {
    throw badField(
      'fidoRequired',
      'not_allowed',
      '`fidoRequired` contradicts `consentMode`; send one of them.',
    );
  }
  if (change.requireTwoForLoosening === true && caller.mode === 'sandbox') {
    throw badField('requireTwoForLoosening', 'not_allowed', 'Only a live account asks for two people.');
  }
  if (change.relaxFourEyes === true && caller.mode === 'live') {
    throw badField('relaxFourEyes', 'not_allowed', 'Only a sandbox account relaxes four eyes.');
  }
  if (change.consentMode === 'email' && !deps.canMail) {
    throw new AppError('NOT_CONFIGURED', 'This service sends no mail; choose another `consentMode`.', {
      setting: 'SMTP_URL',
    });
  }
  const { consentKeys, scopeDescriptions, fidoRequired, ...plain } = change;
  const columns = {
    ...plain,
    ...(consentKeys && { consentKeys: JSON.stringify(consentKeys) }),
    ...(scopeDescriptions && { scopeDescriptions: JSON.stringify(scopeDescriptions) }),
  };
  const at = deps.clock();

  return inTransaction(deps.db, async (tx) => {
    const before = await lockOpenAccount(tx, caller.tenant);
    if (change.consentMode === 'email' && !before.emailVerified) throw emailUnverified();
    if (change.consentMode) {
      for (const listener of deps.onConsentMode) await listener(tx, caller.tenant, change.consentMode);
    }
    if (change.requireTwoForLoosening && (await countOwners(tx, caller.tenant)) < 2) throw needsOwners();
    const consentMode = change.consentMode ?? modeFor(before.consentMode, fidoRequired);
    const weaker = weakenedSettings(before, { ...before, ...plain });
    if (Object.keys(weaker).length > 0)
      await mustMayLoosen(tx, caller, { about: 'settings', difference: weaker });
    const after = await updateDeveloper(tx, caller.tenant, { ...columns, consentMode, updatedAt: at });
    const about = { developerId: after.id, data: { changed: Object.keys(change) } };
    const evidence = { old: secured(before, change), new: secured(after, change) };
    const told = Object.keys(evidence.new).length > 0 ? { ...about, evidence } : about;
    await recordActs(tx, caller, [{ type: 'developer.updated', ...told }], at);
    return { ...toDeveloper(after), updated: true as const };
  });
}

const needsOwners = () =>
  new AppError('CONFLICT', 'Two active owners are needed first, or nobody could agree. Invite another one.', {
    sub_reason: 'second_owner',
  });

/** Older clients name one of the modes by a flag. A mode that is written beside the flag has to agree with it. */
function modeFor(mode: DeveloperRow['consentMode'], fidoRequired: boolean | undefined) {
  if (fidoRequired === undefined) return mode;
  if (fidoRequired) return 'passkey';
  return mode === 'passkey' ? 'developer' : mode;
}

/** The refusal to send mail to strangers for an account that has shown no address of its own. */
export const emailUnverified = () =>
  new AppError(
    'CONFLICT',
    'The service sends codes only for an account whose own address is verified: `POST /v1/signup/verify`.',
    { field: 'emailVerified' },
  );

/**
 * The changed settings that decide who may approve, and which calls are denied. The audit entry keeps their values for a later reader.
 */
function secured(row: DeveloperRow, change: DeveloperChange) {
  const { consentKeys, redirectUris } = row;
  return {
    ...((change.consentMode || change.fidoRequired !== undefined) && { consentMode: row.consentMode }),
    ...(change.consentKeys && { consentKeys: thumbprintsOf(consentKeys) }),
    ...(change.redirectUris && { redirectUris }),
    ...(change.connectLoginUrl !== undefined && { connectLoginUrl: row.connectLoginUrl }),
    ...(change.capsMode && { capsMode: row.capsMode }),
    ...(change.policyAutoApproval !== undefined && { policyAutoApproval: row.policyAutoApproval }),
    ...(change.auditRetentionDays !== undefined && { auditRetentionDays: row.auditRetentionDays }),
    ...(change.manifestPinning && { manifestPinning: row.manifestPinning }),
    ...(change.reconsentAfterDays !== undefined && { reconsentAfterDays: row.reconsentAfterDays }),
    ...(change.reconsentOnAgentChange !== undefined && {
      reconsentOnAgentChange: row.reconsentOnAgentChange,
    }),
    ...(change.fourEyesAssurance && { fourEyesAssurance: row.fourEyesAssurance }),
    ...(change.relaxFourEyes !== undefined && { relaxFourEyes: row.relaxFourEyes }),
    ...(change.requireTwoForLoosening !== undefined && {
      requireTwoForLoosening: row.requireTwoForLoosening,
    }),
  };
}

function toDeveloper(row: DeveloperRow): Developer {
  const { id, name, email, emailVerified, mode, plan, consentMode, redirectUris, enforceAgentScopes } = row;
  return {
    developerId: id,
    id,
    name,
    email,
    emailVerified,
    mode,
    plan,
    consentMode,
    consentKeys: keysIn(row.consentKeys),
    scopeDescriptions: Object(row.scopeDescriptions),
    redirectUris,
    connectLoginUrl: row.connectLoginUrl,
    enforceAgentScopes,
    maxDelegationDepth: row.maxDelegationDepth,
    auditPrivateKeys: row.auditPrivateKeys,
    capsMode: row.capsMode,
    manifestPinning: row.manifestPinning,
    reconsentAfterDays: row.reconsentAfterDays,
    reconsentOnAgentChange: row.reconsentOnAgentChange,
    policyAutoApproval: row.policyAutoApproval,
    fidoRequired: consentMode === 'passkey',
    fidoRpName: row.fidoRpName,
    fourEyesAssurance: row.fourEyesAssurance === 'sso' ? 'sso' : 'dual',
    relaxFourEyes: row.relaxFourEyes,
    requireTwoForLoosening: row.requireTwoForLoosening,
    auditRetentionDays: row.auditRetentionDays,
    stoppedAt: row.stoppedAt?.toISOString() ?? null,
    stopReason: row.stopReason,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

/**
 * Every change that weakens what a live account enforces comes here, in its transaction and before it writes. A member uses
 * their passkey again, and where the account wants two people, the change waits for the second.
 * @throws STEP_UP_REQUIRED, CONFLICT when members agreed to another change, NeedsSecondMember
 */
export async function mustMayLoosen(db: Executor, caller: Caller, loosening: Loosening): Promise<void> {
  mustBeSteppedUp(caller);
  const { agreed, mode, tenant } = caller;
  if (agreed) {
    if (canonicalJson(Object(agreed.difference)) !== canonicalJson(loosening.difference))
      throw changedMeanwhile();
    agreed.onReached();
    return;
  }
  if (mode === 'live' && (await findLooseningRule(db, tenant))) throw new NeedsSecondMember(loosening);
}

export const changedMeanwhile = () =>
  new AppError('CONFLICT', 'The rule has changed since this change was proposed. Propose it again.', {
    sub_reason: 'changed',
  });

/** Whether the account keeps what it enforces from one person, for what cannot be kept until a second agrees. */
export const needsTwo = async (db: Executor, { mode, tenant, agreed }: Caller): Promise<boolean> =>
  mode === 'live' && !agreed && (await findLooseningRule(db, tenant));
