import { randomInt } from 'node:crypto';
import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/errors.ts';
import { hashOf, isSameText } from '../../../platform/ids.ts';
import type { ChargeRecipient } from '../../../platform/mail/charge-recipient.ts';
import type { Mailer } from '../../../platform/mail/mailer.ts';
import type { Quotas } from '../../../platform/quotas.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import { rates } from '../../accounts/emails/index.ts';
import { limitOf, overQuota } from '../../accounts/quotas/index.ts';
import { countMail } from './consent.repo.ts';
import type { SentCode } from './consent.schema.ts';

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
const MOST_SENT = 3;
const MOST_TRIES = 5;
/** Longer than any request stays open, so the count lasts as long as the request. */
const COUNTED_SECONDS = 90_000;

const codeKey = (subjectId: string) => `bh:{${subjectId}}:mailed-code`;
const sentKey = (subjectId: string) => `bh:{${subjectId}}:mailed-codes`;
const triesKey = (subjectId: string) => `bh:{${subjectId}}:code-tries`;

interface KeptCode {
  readonly hash: string;
  readonly expiresAt: string;
}

interface Sending {
  /** The id of the record that the person decides about. */
  readonly subjectId: string;
  readonly email: string;
  readonly mailOf: (code: string) => { readonly subject: string; readonly text: string };
}

/**
 * Sends eight digits. A new code replaces the last. A refusal counts for no limit, and leaves the last code good.
 * @throws CONFLICT after the last code, NOT_CONFIGURED, PLAN_LIMIT_EXCEEDED, RATE_LIMITED, UPSTREAM_ERROR
 */
export async function sendMailedCode(
  deps: CodeDeps,
  caller: Caller,
  { subjectId, email, mailOf }: Sending,
): Promise<SentCode> {
  const { mailer } = deps;
  if (!mailer) throw new AppError('NOT_CONFIGURED', 'This service sends no mail.', { setting: 'SMTP_URL' });
  await countSending(deps, caller, subjectId, email);

  const code = String(randomInt(100_000_000)).padStart(8, '0');
  const expiresAt = new Date(deps.clock().getTime() + CODE_SECONDS * 1000).toISOString();
  const kept: KeptCode = { hash: hashOf(code).toString('base64url'), expiresAt };
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
    if (!(await isAdmitted(deps, sentKey(subjectId), MOST_SENT, 0))) {
      throw new AppError(
        'CONFLICT',
        `The service has sent ${MOST_SENT} codes for this request and sends no more. Type the last code.`,
      );
    }
    await deps.chargeRecipient([rates.mailRecipient], email, caller.tenant);
    await isAdmitted(deps, sentKey(subjectId), MOST_SENT);
  });
}

/** Looks at a typed code. `last` is the fifth wrong one, after which no code counts. */
export async function checkMailedCode(
  deps: Pick<CodeDeps, 'store' | 'clock'>,
  subjectId: string,
  code: string,
): Promise<'right' | 'wrong' | 'late' | 'last'> {
  const found = await deps.store.get(codeKey(subjectId));
  const kept: KeptCode | undefined = found === undefined ? undefined : JSON.parse(found);
  const isLast = !(await isAdmitted(deps, triesKey(subjectId), MOST_TRIES - 1));
  const isLate = kept === undefined || new Date(kept.expiresAt) <= deps.clock();
  const isRight = kept !== undefined && isSameText(kept.hash, hashOf(code).toString('base64url'));
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
