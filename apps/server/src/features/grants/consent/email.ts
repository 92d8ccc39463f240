import type { Caller } from '../../../platform/caller.ts';
import { AppError, badField } from '../../../platform/errors.ts';
import { emailUnverified, thumbprintsOf } from '../../accounts/developers/index.ts';
import { nameInMail } from '../../accounts/emails/index.ts';
import { checkMailedCode, sendMailedCode } from './code.ts';
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
): Promise<SentCode> {
  const { row, proofs } = await requestOfSession(deps, session);
  const email = standingHint(proofs, thumbprintsOf(row.consentKeys))?.email;
  if (row.consentMode !== 'email' || email === undefined) throw unknownAddress();
  if (!row.emailVerified) throw emailUnverified();
  return sendMailedCode(deps, caller, {
    subjectId: session.requestId,
    email,
    mailOf: (code) => codeMail(row, code),
  });
}

/** The person's application names the address, and nothing else does. */
export const unknownAddress = () =>
  new AppError(
    'CONFLICT',
    'The email address of this person is unknown. Open the link again from the application that sent you.',
  );

/** Begins with a sentence of the service, because developers choose the names. */
export function codeMail(
  {
    agentName,
    agentId,
    developerName,
    developerId,
  }: Pick<ShownRow, 'agentName' | 'agentId' | 'developerName' | 'developerId'>,
  code: string,
) {
  return {
    subject: `${code} is your code to decide about an agent`,
    text: `Nothing is allowed without this code. If you did not open a page that asks for it, do nothing.

    ${code}

An AI agent asks to act for you. To decide about it, type the code into the page that asked for it. The code is good for 10 minutes. Tell it to nobody.

The agent: ${nameInMail(agentName, agentId)}
Its developer: ${nameInMail(developerName, developerId)}
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
  const outcome = await checkMailedCode(deps, session.requestId, code);
  if (outcome === 'right') {
    await storeProof(deps, session, { mailReadAt: deps.clock().toISOString() });
    const { verification } = await requestOfSession(deps, session);
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
