import type { Caller } from '../../../platform/caller.ts';
import type { ChargeRecipient } from '../../../platform/charge.ts';
import type { Clock } from '../../../platform/clock.ts';
import { afterCommit, type Executor, inTransaction } from '../../../platform/db/db.ts';
import { AppError, badField } from '../../../platform/errors.ts';
import { rateRules } from '../../../platform/http/limits/rate-rules.ts';
import { hashOf, newId, newSecret } from '../../../platform/ids.ts';
import { pageLanguage } from '../../../platform/languages.ts';
import { isBeyondMail, type Mail, type Mailer } from '../../../platform/mail/mailer.ts';
import type { Logger } from '../../../platform/telemetry/logger.ts';
import { recordActs } from '../../record/audit/index.ts';
import { lockAccount, lockOpenAccount, type OnAccountClosed, setVerifiedEmail } from '../developers/index.ts';
import {
  claimAddress,
  deleteVerifications,
  findVerificationAcrossTenants,
  insertVerification,
  lockVerification,
  markVerified,
  releaseAddress,
} from './emails.repo.ts';
import type {
  EmailVerificationLink,
  SentEmailVerification,
  VerifiedEmail,
  VerifyEmail,
} from './emails.schema.ts';
import { verificationMail } from './mail.rules.ts';

export const rates = rateRules({
  emailVerify: {
    perMinute: 5,
    describes: '`POST /v1/signup/verify`, by developer',
    counts: [{ by: 'developer' }],
  },
  mailRecipient: {
    perHour: 5,
    describes: 'links and codes mailed to an address, by that address, whichever developer sends them',
    counts: [{ by: 'recipient' }],
  },
  mailDeveloper: {
    perDay: 200,
    describes: 'links mailed for an account in a day (UTC): to verify an address, to invite and to confirm',
    counts: [{ by: 'developer' }],
  },
  // Or a stranger who has codes sent to a person could keep the person from hearing of changes.
  mailNotice: {
    perHour: 20,
    describes: 'notices of an account to a person whose address is known, by both',
    counts: [{ by: 'recipient' }],
  },
  mailNoticeDaily: {
    perDay: 2000,
    describes: 'notices of an account to people whose addresses are known, in a day (UTC)',
    counts: [{ by: 'developer' }],
  },
});

export interface EmailDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly publicBaseUrl: string;
  readonly chargeRecipient: ChargeRecipient;
  /** Undefined where the service sends no mail. */
  readonly mailer?: Mailer;
  readonly logger?: Logger;
  readonly onMailFailed: () => void;
}

const LINK_MS = 24 * 3_600_000;

/**
 * Mails a link to the address. It voids the links that were sent before. The answer tells neither whether the
 * mail server took the mail nor whether another account owns the address.
 * @param input with `Accept-Language` of who asks, in which the mail is written
 * @throws BAD_REQUEST, NOT_CONFIGURED, RATE_LIMITED
 */
export async function sendLink(
  deps: EmailDeps,
  caller: Caller,
  input: VerifyEmail & { readonly languages?: string | undefined },
): Promise<SentEmailVerification> {
  const { mailer } = deps;
  if (!mailer) throw new AppError('NOT_CONFIGURED', 'This service sends no mail.', { setting: 'SMTP_URL' });
  const email = input.email.toLowerCase();
  if (isBeyondMail(email)) {
    const message = 'Letters beyond ASCII before the `@` are not supported; give another address.';
    throw badField('email', 'not_allowed', message);
  }
  await deps.chargeRecipient([rates.mailRecipient, rates.mailDeveloper], email, caller.tenant);
  const at = deps.clock();
  const expiresAt = new Date(at.getTime() + LINK_MS);
  const token = newSecret();
  const id = newId('emv', at);
  const { tenant, actor: askedBy } = caller;
  const verification = { id, email, askedBy, createdAt: at, expiresAt, verifiedAt: null };
  const link = `${deps.publicBaseUrl}/v1/signup/verify/${token}`;

  return inTransaction(deps.db, async (tx) => {
    await lockOpenAccount(tx, tenant);
    await deleteVerifications(tx, tenant, 'pending');
    await insertVerification(tx, tenant, { ...verification, hash: hashOf(token) });
    const mail = { to: email, ...verificationMail(link, tenant.developerId, pageLanguage(input.languages)) };
    await afterCommit(tx, () => handOver(deps, mailer, mail));
    return {
      message: 'Look for a link at this address. If none comes, check the address and ask again.',
      expiresAt: expiresAt.toISOString(),
    };
  });
}

/** The log names no address and repeats no text of the mail server, which may hold one. */
async function handOver({ logger, onMailFailed }: EmailDeps, mailer: Mailer, mail: Mail): Promise<void> {
  await mailer.send(mail).catch((error: unknown) => {
    const { code, command, responseCode } = Object(error);
    onMailFailed();
    logger?.warn({ code, command, responseCode }, 'the mail server did not take a verification mail');
  });
}

/** Changes nothing, because programs that look for bad links open them all. @throws NOT_FOUND, TOKEN_EXPIRED */
export async function showLink({ db, clock }: EmailDeps, token: string): Promise<EmailVerificationLink> {
  const found = await findVerificationAcrossTenants(db, hashOf(token));
  if (!found) throw unknownLink();
  const { email, verifiedAt, expiresAt } = found;
  if (verifiedAt) return { message: 'The address is verified.', email, status: 'verified' };
  if (expiresAt <= clock()) throw expiredLink();
  return { message: 'Send this request as POST to verify the address.', email, status: 'pending' };
}

/**
 * Makes the address that of the account. A link that has done so before changes nothing.
 * @throws NOT_FOUND, TOKEN_EXPIRED, EMAIL_TAKEN when another account verified the address first
 */
export async function verifyEmail(
  { db, clock }: EmailDeps,
  token: string,
  requestId: string,
): Promise<VerifiedEmail> {
  const found = await findVerificationAcrossTenants(db, hashOf(token));
  if (!found) throw unknownLink();
  const tenant = { developerId: found.developerId };
  const at = clock();

  return inTransaction(db, async (tx) => {
    const account = await lockAccount(tx, tenant);
    const verification = await lockVerification(tx, tenant, found.id);
    if (!account || !verification) throw unknownLink(); // a newer link, or the end of the account, voided it
    const { id, email, askedBy: actor } = verification;
    if (verification.verifiedAt) return { message: 'The address was verified before.' };
    if (verification.expiresAt <= at) throw expiredLink();
    if (!(await claimAddress(tx, tenant, email))) {
      throw new AppError('EMAIL_TAKEN', 'Another account has verified this address.');
    }
    await markVerified(tx, tenant, id, at);
    await deleteVerifications(tx, tenant, { otherThan: id });
    await setVerifiedEmail(tx, tenant, email, at);
    const { mode, plan } = account;
    const caller = { tenant, agentIds: null, actor, role: 'full', mode, plan, requestId } as const;
    const about = { developerId: tenant.developerId, data: { verificationId: id } };
    await recordActs(tx, caller, [{ type: 'developer.email_verified', ...about }], at);
    return { message: 'The address is verified.', email };
  });
}

/** Voids the links of an account that is closed, and lets another account verify its address. */
export const freeAddress: OnAccountClosed = async (tx, { tenant }) => {
  await deleteVerifications(tx, tenant, 'all');
  await releaseAddress(tx, tenant);
  return [];
};

const unknownLink = () => new AppError('NOT_FOUND', 'This link is unknown, or a newer one has replaced it.');

const expiredLink = () =>
  new AppError('TOKEN_EXPIRED', 'This link is no longer valid. Ask for another link.');
