import { randomInt } from 'node:crypto';
import type { Caller } from '../../../platform/caller.ts';
import type { ChargeRecipient } from '../../../platform/charge.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import { AppError, badField } from '../../../platform/errors.ts';
import { hashOf, isSameText } from '../../../platform/ids.ts';
import { pageLanguage, sayIn } from '../../../platform/languages.ts';
import type { Mail, Mailer } from '../../../platform/mail/mailer.ts';
import type { Quotas } from '../../../platform/quotas.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import { emailUnverified, thumbprintsOf } from '../../accounts/developers/index.ts';
import { nameInMail, rates } from '../../accounts/emails/index.ts';
import { limitOf, overQuota } from '../../accounts/quotas/index.ts';
import { rememberAddress } from '../../people/principals/index.ts';
import { type ConsentRow, countMail } from './consent.repo.ts';
import { validHint } from './consent.rules.ts';
import type { EmailCodeResult, SentEmailCode } from './consent.schema.ts';
import {
  type ConsentDeps,
  type ConsentSession,
  endConsentSession,
  reportFailedProof,
  requestOfSession,
  storeProof,
} from './session.ts';

/**
 * Sends eight digits to the address that the developer's hint names. The service never takes an address from
 * the request itself, because the agent wrote it.
 * @throws CONFLICT without an address, after the last code, or for an account without a verified address,
 * NOT_CONFIGURED, PLAN_LIMIT_EXCEEDED, RATE_LIMITED, UPSTREAM_ERROR
 */
export async function sendCode(
  deps: ConsentDeps,
  caller: Caller,
  session: ConsentSession,
): Promise<SentEmailCode> {
  const { row, proofs } = await requestOfSession(deps, session);
  const email = validHint(proofs, thumbprintsOf(row.consentKeys))?.email;
  if (row.consentMode !== 'email' || email === undefined) throw unknownAddress();
  if (!row.emailVerified) throw emailUnverified();
  return sendMailedCode(deps, caller, {
    subjectId: session.requestId,
    email,
    mailOf: (code) => codeMail(row, code, { ...deps, language: pageLanguage(session.languages) }),
  });
}

/** The person's application names the address, and nothing else does. */
export const unknownAddress = () =>
  new AppError(
    'CONFLICT',
    'The email address of this person is unknown. Open the link again from the application that sent you.',
  );

/** The texts of the mails with codes. @public The check of the messages reads it. */
export const texts = {
  subject: '{code} is your code to decide about an agent',
  lead: 'Nothing is allowed without this code. If you did not open a page that asks for it, do nothing.',
  text: 'An AI agent asks to act for you. To decide about it, type the code into the page that asked for it. The code is good for 10 minutes. Tell it to nobody.',
  agent: 'The agent: {agent}',
  developer: 'Its developer: {developer}',
  ownPage: 'See and end what agents may do for you at any time: {address}',
};

/** Where the reader of a mail goes, and what they read. */
interface Reader {
  readonly publicBaseUrl: string;
  readonly language: string;
}

/** Begins with a sentence of the service, because developers choose the names. */
export function codeMail(
  {
    agentName,
    agentId,
    developerName,
    developerId,
  }: Pick<ConsentRow, 'agentName' | 'agentId' | 'developerName' | 'developerId'>,
  code: string,
  reader: Reader,
) {
  const { language } = reader;
  const say = sayIn(language);
  const developer = nameInMail(developerName, developerId);
  return {
    subject: say(texts.subject, { code }),
    account: developer,
    text: `${say(texts.lead)}

    ${code}

${say(texts.text)}

${say(texts.agent, { agent: nameInMail(agentName, agentId) })}
${say(texts.developer, { developer })}

${ownPageInMail(reader)}
`,
    language,
  };
}

/** Every mail to a person leads to the page on which they see and end what agents may do. */
export const ownPageInMail = ({ publicBaseUrl, language }: Reader) =>
  sayIn(language)(texts.ownPage, { address: `${publicBaseUrl}/permissions` });

/**
 * Takes the code that the person typed. The fifth wrong code ends the session, because eight digits can be
 * guessed.
 * @throws BAD_REQUEST for a wrong code, TOKEN_EXPIRED, UNAUTHORIZED when the session has ended
 */
export async function checkCode(
  deps: ConsentDeps,
  caller: Caller,
  session: ConsentSession,
  code: string,
): Promise<EmailCodeResult> {
  const { row, proofs } = await requestOfSession(deps, session);
  const email = validHint(proofs, thumbprintsOf(row.consentKeys))?.email;
  const outcome = await checkMailedCode(deps, session.requestId, { code, email });
  if (outcome === 'right') {
    await storeProof(deps, session, { mailReadAt: deps.clock().toISOString() });
    const { verification } = await requestOfSession(deps, session);
    if (email !== undefined) {
      const proof = { principalId: row.principalId, email, about: { authRequestId: session.requestId } };
      await rememberAddress(deps, caller, proof);
    }
    return { verification };
  }
  await reportFailedProof(deps, caller, row, 'email');
  if (outcome === 'last') await endConsentSession(deps, session);
  throw wrongCode(outcome);
}

/** The refusal of a code that proves nothing. */
export function wrongCode(outcome: 'wrong' | 'late' | 'last'): AppError {
  if (outcome === 'last') {
    return new AppError(
      'UNAUTHORIZED',
      'Too many wrong codes. Open the link again from the application that sent you.',
    );
  }
  if (outcome === 'late') {
    return new AppError('TOKEN_EXPIRED', 'This code is no longer valid. Ask for another code.');
  }
  return badField('code', 'not_allowed', 'This is not the last code that was sent.');
}

export interface CodeDeps {
  readonly db: Executor;
  readonly store: EphemeralStore;
  readonly clock: Clock;
  readonly quotas: Quotas;
  /** Undefined where the service sends no mail. */
  readonly mailer?: Mailer;
  readonly chargeRecipient: ChargeRecipient;
  readonly onMailFailed: () => void;
}

const CODE_SECONDS = 600;
const MAX_SENT = 3;
const MAX_TRIES = 5;
/** Longer than any request stays open, so the count lasts as long as the request. */
const COUNTED_SECONDS = 90_000;

const codeKey = (subjectId: string) => `bh:{${subjectId}}:mailed-code`;
const sentKey = (subjectId: string) => `bh:{${subjectId}}:mailed-codes`;
const triesKey = (subjectId: string) => `bh:{${subjectId}}:code-tries`;

interface KeptCode {
  /** Of the code and the address that it went to: at another address it proves nothing. */
  readonly hash: string;
  readonly expiresAt: string;
}

/** A code, and the address that the hint names now. */
interface Typed {
  readonly code: string;
  readonly email: string | undefined;
}

const hashOfCode = ({ code, email = '' }: Typed) =>
  hashOf(`${code}\n${email.toLowerCase()}`).toString('base64url');

interface Sending {
  /** The id of the record that the person decides about. */
  readonly subjectId: string;
  readonly email: string;
  readonly mailOf: (code: string) => Omit<Mail, 'to'>;
}

/**
 * Sends eight digits. A new code replaces the last. A refusal counts for no limit, and leaves the last code good.
 * @throws CONFLICT after the last code, NOT_CONFIGURED, PLAN_LIMIT_EXCEEDED, RATE_LIMITED, UPSTREAM_ERROR
 */
export async function sendMailedCode(
  deps: CodeDeps,
  caller: Caller,
  { subjectId, email, mailOf }: Sending,
): Promise<SentEmailCode> {
  const { mailer } = deps;
  if (!mailer) throw new AppError('NOT_CONFIGURED', 'This service sends no mail.', { setting: 'SMTP_URL' });
  await countSending(deps, caller, subjectId, email);

  const code = String(randomInt(100_000_000)).padStart(8, '0');
  const expiresAt = new Date(deps.clock().getTime() + CODE_SECONDS * 1000).toISOString();
  const kept: KeptCode = { hash: hashOfCode({ code, email }), expiresAt };
  await deps.store.put([{ key: codeKey(subjectId), value: JSON.stringify(kept), seconds: CODE_SECONDS }]);
  await mailer.send({ to: email, ...mailOf(code) }).catch((cause: unknown) => {
    deps.onMailFailed();
    const failure = new AppError(
      'UPSTREAM_ERROR',
      'The mail server did not take the mail. Ask for another code later.',
      { service: 'smtp' },
    );
    throw Object.assign(failure, { cause });
  });
  return { expiresAt };
}

/**
 * Counts one mail for each limit, or for none. The transaction undoes the count of the plan when another limit
 * refuses, and its lock makes two sendings of one developer take turns.
 */
function countSending(deps: CodeDeps, caller: Caller, subjectId: string, email: string): Promise<void> {
  const limit = limitOf(deps.quotas, caller, 'consent_mails');
  return inTransaction(deps.db, async (tx) => {
    if (!(await countMail(tx, caller.tenant, { at: deps.clock(), limit }))) {
      throw overQuota(caller, 'consent_mails', limit);
    }
    if (!(await isAdmitted(deps, sentKey(subjectId), MAX_SENT, 0))) {
      throw new AppError(
        'CONFLICT',
        `The service has sent ${MAX_SENT} codes for this request and sends no more. Type the last code.`,
      );
    }
    await deps.chargeRecipient([rates.mailRecipient], email, caller.tenant);
    await isAdmitted(deps, sentKey(subjectId), MAX_SENT);
  });
}

/**
 * Looks at a typed code, which is right for the address alone to which it went: a hint may name another since. `last` is
 * the fifth wrong one, after which no code counts.
 */
export async function checkMailedCode(
  deps: Pick<CodeDeps, 'store' | 'clock'>,
  subjectId: string,
  typed: Typed,
): Promise<'right' | 'wrong' | 'late' | 'last'> {
  const found = await deps.store.get(codeKey(subjectId));
  const kept: KeptCode | undefined = found === undefined ? undefined : JSON.parse(found);
  const isLast = !(await isAdmitted(deps, triesKey(subjectId), MAX_TRIES - 1));
  const isLate = kept === undefined || new Date(kept.expiresAt) <= deps.clock();
  const isRight = kept !== undefined && isSameText(kept.hash, hashOfCode(typed));
  // The code goes after the last try too, or the next session could go on guessing.
  if ((isRight && !isLate) || isLast) await deps.store.remove(codeKey(subjectId));
  if (isRight && !isLate) return 'right';
  if (isLast) return 'last';
  return isLate ? 'late' : 'wrong';
}

/** Counts in one step, so concurrent tries are all counted. @param cost 0 only looks whether there is room */
async function isAdmitted(
  { store }: Pick<CodeDeps, 'store'>,
  key: string,
  limit: number,
  cost: 0 | 1 = 1,
): Promise<boolean> {
  const charge = { key, limit, cost, seconds: COUNTED_SECONDS } as const;
  const settled = await store.charge([{ name: 'tries', charges: [charge] }]);
  return settled.get('tries')?.outcome === 'charged';
}
