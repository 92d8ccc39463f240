import { hash } from 'node:crypto';
import type { Caller } from '../../../platform/caller.ts';
import { afterCommit, type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { isPrincipalActive } from '../../../platform/db/principals.ts';
import { AppError } from '../../../platform/errors.ts';
import { hashOf, secretParts } from '../../../platform/ids.ts';
import { findBrand, findCallerParts } from '../../accounts/developers/developers.queries.ts';
import { lockOpenAccount } from '../../accounts/developers/index.ts';
import {
  beginCreation,
  checkRegistration,
  deletePasskeyRowsOf,
  getChallenge,
  storePasskey,
  takeChallenge,
  useUp,
  verifyingParty,
} from '../../people/passkeys/index.ts';
import { userOfPrincipal } from '../../people/scim/scim.queries.ts';
import { readSessionCookie } from '../../people/sso/index.ts';
import { vouchingFor } from '../../people/sso/sessions.queries.ts';
import { recordActs } from '../../record/audit/index.ts';
import {
  type ApproverRow,
  deleteApproverSessions,
  findApprover,
  listAllApprovers,
  lockApprover,
  NO_LINK,
  updateApprover,
} from './approvers.repo.ts';
import { approverOwner, mailboxOf, WAIT_MS } from './approvers.rules.ts';
import type { EnrolmentOptions, EnrolmentRequest } from './approvers.schema.ts';
import { askForConfirmation, hasConfirmer } from './confirm.ts';
import type { ApproverDeps } from './deps.ts';
import { enrolledMail, noticeQuietly } from './mail.ts';
import { type OpenedBrowser, type OpeningBrowser, openApproverSession } from './session.ts';

interface Voucher {
  /** Whether the person’s provider vouches for them in this browser. */
  readonly isVouched: boolean;
  /** The person as their provider names them. A principal keeps the name of a principal. */
  readonly vouched: Pick<ApproverRow, 'ssoSub' | 'ssoUserId'> | undefined;
  /** Where the person signs in, so that it does. */
  readonly signInAt: string | null;
}

/**
 * The identity provider that vouches for a person: that of the verified domain of their address, when this browser has
 * signed in there as the person with this address, and for a principal as the user who stands for it.
 */
async function voucherOf(
  { clock, publicBaseUrl }: Pick<ApproverDeps, 'clock' | 'publicBaseUrl'>,
  db: Executor,
  row: ApproverRow,
  signOn: string | undefined,
): Promise<Voucher> {
  const asking = { address: row.email, now: clock(), cookie: readSessionCookie(signOn) };
  const found = await vouchingFor(db, row, asking);
  const session = found?.session;
  const isSame = session?.email && mailboxOf(session.email) === row.mailbox;
  if (isSame && (await isUserOf(db, row, session.userId))) {
    const provider = hash('sha256', session.issuer, 'base64url').slice(0, 22);
    const vouched = { ssoSub: `sso:${provider}:${session.subject}`, ssoUserId: session.userId };
    return { isVouched: true, vouched: row.kind === 'person' ? vouched : undefined, signInAt: null };
  }
  const signInAt = found ? `${publicBaseUrl}${found.loginPath}` : null;
  return { isVouched: false, vouched: undefined, signInAt };
}

const isUserOf = async (db: Executor, row: ApproverRow, userId: string | null): Promise<boolean> =>
  row.principalId === null ||
  (userId !== null && userId === (await userOfPrincipal(db, row, row.principalId)));

/** One sentence for every reason. */
const unusable = () =>
  new AppError(
    'NOT_FOUND',
    'This link was used, has expired or was replaced, or the time in its mail has not come. Ask for a new link.',
  );

async function invited(db: Executor, invite: string, at: Date): Promise<ApproverRow> {
  const { developerId, id, secret } = secretParts(invite);
  const row = await findApprover(db, { developerId }, id);
  const isGood =
    isOpenAt(row, at) &&
    row?.inviteHash?.equals(hashOf(secret)) &&
    row.inviteExpiresAt !== null &&
    at < row.inviteExpiresAt;
  if (!row || !isGood) throw unusable();
  return row;
}

/** An approver who has enrolled does so once more only by a link of the operator, from its time on. */
const isOpenAt = (row: ApproverRow | undefined, at: Date): boolean =>
  row?.status === 'invited' ||
  (row?.status === 'active' && row.recoveryFrom !== null && row.recoveryFrom <= at);

/** Begins to enrol the holder of the link. Changes nothing that anybody would see. @throws NOT_FOUND, CONFLICT */
export async function beginEnrolment(
  deps: ApproverDeps,
  invite: string,
  signOn: string | undefined,
): Promise<EnrolmentOptions> {
  const at = deps.clock();
  const party = verifyingParty(deps);
  const row = await invited(deps.db, invite, at);
  const { email, displayName, groups, connectors } = row;
  const user = { userName: email, displayName, existing: [], residentKey: 'required' } as const;
  const creation = { owner: approverOwner(row.id), use: 'enrol', ...user } as const;
  const options = await inTransaction(deps.db, (tx) => beginCreation(tx, row, party, creation, at));
  const brand = await findBrand(deps.db, row);
  const { signInAt } = await voucherOf(deps, deps.db, row, signOn);
  return { ...brand, displayName, email, groups, connectors, signInAt, ...options };
}

/**
 * Stores the approver's passkey, and uses the link up. The first approver of an account needs nobody; each later one
 * waits until another approver confirms them, so that an API key alone adds nobody. A principal of a live account waits
 * for an approver, or for their own confirmation where there is none, unless their provider vouches for them.
 * @throws NOT_FOUND, CHALLENGE_INVALID, WEBAUTHN_VERIFICATION_FAILED, PRINCIPAL_INACTIVE, CONFLICT
 */
export async function finishEnrolment(
  deps: ApproverDeps,
  { invite, challengeId, response }: EnrolmentRequest,
  browser: OpeningBrowser & { readonly requestId: string; readonly languages: string | undefined },
): Promise<OpenedBrowser> {
  const at = deps.clock();
  const party = verifyingParty(deps);
  const found = await invited(deps.db, invite, at);
  const owner = approverOwner(found.id);
  const claim = { ...owner, id: challengeId, use: 'enrol' } as const;
  const { challenge } = await getChallenge(deps, found, claim);
  const made = await checkRegistration({ party, challenge, response }).catch(useUp(deps, found, challengeId));

  return inTransaction(deps.db, async (tx) => {
    const caller = await callerFor(tx, found, browser.requestId);
    const account = await lockOpenAccount(tx, found);
    await lockApprover(tx, found, found.id);
    const row = await invited(tx, invite, at);
    await takeChallenge(tx, row, challengeId, at);
    const { principalId, recoveryFrom } = row;
    const isRecovered = recoveryFrom !== null;
    if (isRecovered) {
      await deleteApproverSessions(tx, row, row.id);
      await deletePasskeyRowsOf(tx, row, owner, { isForGood: false });
    }
    if (principalId !== null && !(await isPrincipalActive(tx, row, principalId))) throw unusable();
    if (principalId !== null && caller.mode !== 'sandbox' && !row.inviteMailed) throw unusable();
    await storePasskey(tx, row, owner, { made, deviceName: null, lastUsedAt: at }, at);
    const others = (await listAllApprovers(tx, row)).filter(({ status }) => status !== 'invited');
    const { isVouched, vouched } = await voucherOf(deps, tx, row, browser.signOn);
    const waitsUntil = caller.mode === 'sandbox' ? at : new Date(at.getTime() + WAIT_MS);
    const enrolled = await updateApprover(tx, row, row.id, {
      ...NO_LINK,
      ...{ status: statusOf(row, caller.mode, others, isVouched), activeFrom: waitsUntil },
      emailVerified: row.inviteMailed,
      // Nobody has vouched for the person who came with the link of the operator.
      ...(isRecovered && { status: 'active', activeFrom: at, assurance: 'single', confirmedBy: null }),
      ...(vouched && (!isRecovered || vouched.ssoSub === row.ssoSub) && { ...vouched, assurance: 'sso' }),
    });
    if (row.kind === 'principal' && enrolled.status !== 'active' && !hasConfirmer(others, at))
      await askForConfirmation(deps, tx, { ...enrolled, languages: browser.languages });
    const opened = await openApproverSession(deps, tx, enrolled, browser);
    const to = [account, ...others.filter(({ status }) => status === 'active')];
    await tellOfEnrolment(deps, tx, to, { ...enrolled, developerName: account.name });
    const data = { approverId: row.id, kind: row.kind, status: enrolled.status };
    await recordActs(tx, caller, [{ type: 'approver.enrolled', data }], at);
    return opened;
  });
}

/** An API key can write the directory, so the address of a principal vouches for nobody. */
function statusOf(
  { kind }: ApproverRow,
  mode: Caller['mode'],
  others: readonly ApproverRow[],
  isVouched: boolean,
) {
  const isFirst = !others.some((other) => other.kind === 'person');
  const needsNobody = kind === 'principal' ? isVouched : isFirst;
  return needsNobody || mode === 'sandbox' ? 'active' : 'pending_confirmation';
}

type MailedApprover = ApproverRow & { readonly developerName: string };

async function tellOfEnrolment(
  deps: ApproverDeps,
  tx: Tx,
  to: readonly { readonly email: string | null; readonly emailVerified: boolean }[],
  enrolled: MailedApprover,
): Promise<void> {
  if (!deps.mailer) return;
  const mail = enrolledMail(enrolled, enrolled.displayName);
  for (const { email, emailVerified } of to) {
    if (emailVerified && email !== null)
      await afterCommit(tx, () => noticeQuietly(deps, enrolled, { to: email, ...mail }));
  }
}

/** The person who holds the link acts as the approver that they become. */
async function callerFor(db: Executor, { developerId, id }: ApproverRow, requestId: string): Promise<Caller> {
  const tenant = { developerId };
  const parts = await findCallerParts(db, tenant);
  if (!parts) throw unusable();
  return { tenant, agentIds: null, actor: `approver:${id}`, role: 'runtime', ...parts, requestId };
}
