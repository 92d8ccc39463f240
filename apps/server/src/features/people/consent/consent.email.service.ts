import { randomInt } from 'node:crypto';
import type { Caller } from '../../../platform/caller.ts';
import { AppError, badField } from '../../../platform/errors.ts';
import { hashOf, isSameText } from '../../../platform/ids.ts';
import { thumbprintsOf } from '../../accounts/developers/index.ts';
import type { ShownRow } from './consent.repo.ts';
import { standingHint } from './consent.rules.ts';
import type { CheckedCode, SentCode } from './consent.schema.ts';
import {
  type ConsentDeps,
  type ConsentSession,
  endConsentSession,
  reportFailedProof,
  requestOfSession,
  storeProof,
} from './consent.session.service.ts';

const CODE_SECONDS = 600;
const MOST_SENT = 3;
const MOST_TRIES = 5;
/** Longer than any request stays open, so the count lasts as long as the request. */
const COUNTED_SECONDS = 90_000;

const codeKey = (requestId: string) => `bh:{${requestId}}:mailed-code`;
const sentKey = (requestId: string) => `bh:{${requestId}}:mailed-codes`;
const triesKey = (requestId: string) => `bh:{${requestId}}:code-tries`;

interface KeptCode {
  readonly hash: string;
  readonly expiresAt: string;
}

/**
 * Sends eight digits to the address that the developer's hint names. The service never takes an address from
 * the request itself, because the agent wrote it. A new code replaces the last.
 * @throws CONFLICT without an address or after the last code, NOT_CONFIGURED, UPSTREAM_ERROR
 */
export async function sendCode(deps: ConsentDeps, session: ConsentSession): Promise<SentCode> {
  const { row, proofs } = await requestOfSession(deps, session);
  const email = standingHint(proofs, thumbprintsOf(row.consentKeys))?.email;
  if (row.consentMode !== 'email' || email === undefined) {
    throw new AppError(
      'CONFLICT',
      'The email address of this person is unknown. Open the link again from the application that sent you.',
    );
  }
  if (!deps.mailer)
    throw new AppError('NOT_CONFIGURED', 'This service sends no mail.', { setting: 'SMTP_URL' });
  const { requestId } = session;
  if (!(await isAdmitted(deps, sentKey(requestId), MOST_SENT))) {
    throw new AppError(
      'CONFLICT',
      `The service has sent ${MOST_SENT} codes for this request and sends no more. Type the last code.`,
    );
  }

  const code = String(randomInt(100_000_000)).padStart(8, '0');
  const expiresAt = new Date(deps.clock().getTime() + CODE_SECONDS * 1000).toISOString();
  const kept: KeptCode = { hash: hashOf(code).toString('base64url'), expiresAt };
  await deps.store.put([{ key: codeKey(requestId), value: JSON.stringify(kept), seconds: CODE_SECONDS }]);
  await deps.mailer.send({ to: email, ...mailOf(row, code) }).catch((cause: unknown) => {
    const failure = new AppError(
      'UPSTREAM_ERROR',
      'The mail server did not take the mail. Ask for another code later.',
      { service: 'smtp' },
    );
    throw Object.assign(failure, { cause });
  });
  return { expiresAt };
}

/** Begins with the purpose of the code, so a person who did not ask for it sees that at once. */
function mailOf({ agentName, developerName }: ShownRow, code: string) {
  return {
    subject: `${code} is your code to decide about an agent`,
    text: `An AI agent of ${developerName} asks to act for you: ${agentName}.

To decide about it, type this code into the page that asked for it:

    ${code}

It is good for 10 minutes. Tell it to nobody. If you did not open such a page, do nothing: nobody gets access without the code.
`,
  };
}

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
): Promise<CheckedCode> {
  const { row } = await requestOfSession(deps, session);
  const { requestId } = session;
  const found = await deps.store.get(codeKey(requestId));
  const kept: KeptCode | undefined = found === undefined ? undefined : JSON.parse(found);
  const isLast = !(await isAdmitted(deps, triesKey(requestId), MOST_TRIES - 1));
  const isLate = kept === undefined || new Date(kept.expiresAt) <= deps.clock();
  const isRight = kept !== undefined && isSameText(kept.hash, hashOf(code).toString('base64url'));
  if (isRight && !isLate) {
    await deps.store.remove(codeKey(requestId));
    await storeProof(deps, session, { mailReadAt: deps.clock().toISOString() });
    const { verification } = await requestOfSession(deps, session);
    return { verification };
  }

  await reportFailedProof(deps, caller, row, 'email');
  if (isLast) {
    await deps.store.remove(codeKey(requestId)); // or the next session could go on guessing
    await endConsentSession(deps, session);
    throw new AppError(
      'UNAUTHORIZED',
      'Too many wrong codes. Open the link again from the application that sent you.',
    );
  }
  if (isLate) throw new AppError('TOKEN_EXPIRED', 'This code is no longer valid. Ask for another code.');
  throw badField('code', 'not_allowed', 'This is not the last code that was sent.');
}

/** Counts in one step, so concurrent tries are all counted. */
async function isAdmitted({ store }: ConsentDeps, key: string, limit: number): Promise<boolean> {
  const charge = { key, limit, cost: 1, seconds: COUNTED_SECONDS } as const;
  const settled = await store.charge([{ name: 'tries', charges: [charge] }]);
  return settled.get('tries')?.outcome === 'charged';
}
