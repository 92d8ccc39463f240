import { randomInt } from 'node:crypto';
import type { Caller } from '../../../platform/caller.ts';
import { AppError, badField } from '../../../platform/errors.ts';
import { hashOf, isSameText } from '../../../platform/ids.ts';
import type { ShownRow } from './consent.repo.ts';
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
/** Longer than any request is open: what has been counted is not forgotten before. */
const COUNTED_SECONDS = 90_000;

const codeKey = (requestId: string) => `bh:{${requestId}}:mailed-code`;
const sentKey = (requestId: string) => `bh:{${requestId}}:mailed-codes`;
const triesKey = (requestId: string) => `bh:{${requestId}}:code-tries`;

interface KeptCode {
  readonly hash: string;
  readonly expiresAt: string;
}

/**
 * Sends eight digits to the address that the developer vouches for; never to one out of the request itself, which
 * is the agent's word. A newer code takes the place of the one before.
 * @throws CONFLICT without an address or when enough has been sent, NOT_CONFIGURED, UPSTREAM_ERROR
 */
export async function sendCode(deps: ConsentDeps, session: ConsentSession): Promise<SentCode> {
  const { row, proofs } = await requestOfSession(deps, session);
  const { email } = proofs;
  if (row.consentMode !== 'email' || email === undefined) {
    throw new AppError(
      'CONFLICT',
      'No address of this person is known; open the link anew from where it came.',
    );
  }
  if (!deps.mailer)
    throw new AppError('NOT_CONFIGURED', 'This service sends no mail.', { setting: 'SMTP_URL' });
  const { requestId } = session;
  if (!(await isAdmitted(deps, sentKey(requestId), MOST_SENT))) {
    throw new AppError(
      'CONFLICT',
      `${MOST_SENT} codes were sent for this request, and there will be no more.`,
    );
  }

  const code = String(randomInt(100_000_000)).padStart(8, '0');
  const expiresAt = new Date(deps.clock().getTime() + CODE_SECONDS * 1000).toISOString();
  const kept: KeptCode = { hash: hashOf(code).toString('base64url'), expiresAt };
  await deps.store.put([{ key: codeKey(requestId), value: JSON.stringify(kept), seconds: CODE_SECONDS }]);
  await deps.mailer.send({ to: email, ...mailOf(row, code) }).catch((cause: unknown) => {
    const failure = new AppError('UPSTREAM_ERROR', 'The mail could not be handed over.', { service: 'smtp' });
    throw Object.assign(failure, { cause });
  });
  return { expiresAt };
}

/** What it is for comes first: a person who did not ask for it should see that at once. */
function mailOf({ agentName, developerName }: ShownRow, code: string) {
  return {
    subject: `${code} is your code to decide about an agent`,
    text: `An AI agent of ${developerName} asks to act for you: ${agentName}.

To decide about it, type this code into the page that asked for it:

    ${code}

It is good for 10 minutes. Tell it to nobody. If you did not open such a page, do nothing: without the code, nothing is allowed.
`,
  };
}

/**
 * Takes the code that was read. After the fifth that is wrong the session ends: eight digits are few.
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
    await storeProof(deps, session, { hasReadMail: true });
    const { verification } = await requestOfSession(deps, session);
    return { verification };
  }

  await reportFailedProof(deps, caller, row, 'email');
  if (isLast) {
    await deps.store.remove(codeKey(requestId)); // or a session opened anew could go on guessing
    await endConsentSession(deps, session);
    throw new AppError('UNAUTHORIZED', 'Too many wrong codes; open the link anew from where it came.');
  }
  if (isLate) throw new AppError('TOKEN_EXPIRED', 'This code is of no more use; ask for another one.');
  throw badField('code', 'not_allowed', 'This is not the code that was sent.');
}

/** Counted in one step, so that of many at once none gets through uncounted. */
async function isAdmitted({ store }: ConsentDeps, key: string, limit: number): Promise<boolean> {
  const charge = { key, limit, cost: 1, seconds: COUNTED_SECONDS } as const;
  const settled = await store.charge([{ name: 'tries', charges: [charge] }]);
  return settled.get('tries')?.outcome === 'charged';
}
