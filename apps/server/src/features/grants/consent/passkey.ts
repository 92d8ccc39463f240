import type { Assertion } from '@behest/protocol/passkey-shapes';
import type { Caller } from '../../../platform/caller.ts';
import { AppError } from '../../../platform/errors.ts';
import { beginAssertion, finishAssertion } from '../../people/passkeys/index.ts';
import { budgetOf, mustBeNarrower } from '../authorization/index.ts';
import { findScopeWords } from '../resources/resources.queries.ts';
import type { ConsentRow } from './consent.repo.ts';
import type { ConsentApproval, PasskeyVerification } from './consent.schema.ts';
import { lastConsent } from './previous.ts';
import {
  type ConsentDeps,
  type ConsentSession,
  reportFailedProof,
  requestOfSession,
  storeProof,
} from './session.ts';
import { manifestsAsShown, signedRequest } from './show.ts';

const subjectOf = ({ id: subjectId, principalId }: ConsentRow) =>
  ({ use: 'consent', subjectId, principalId }) as const;

/**
 * Asks for the person's passkey over the request as they see it, and over the part of it that they chose.
 * @throws FIDO_NOT_ENROLLED, CONFLICT, and as the approval for a part that is wider
 */
export async function askForPasskey(
  deps: ConsentDeps,
  { tenant }: Caller,
  session: ConsentSession,
  decision: ConsentApproval = {},
) {
  const { row } = await requestOfSession(deps, session);
  mustBeNarrower(row, decision);
  return beginAssertion(deps, tenant, subjectOf(row), await signedBy(deps, row, decision, session));
}

/** @throws CHALLENGE_INVALID, WEBAUTHN_VERIFICATION_FAILED, WEBAUTHN_CLONE_SUSPECTED, BAD_REQUEST */
export async function takePasskey(
  deps: ConsentDeps,
  caller: Caller,
  session: ConsentSession,
  assertion: Assertion,
): Promise<PasskeyVerification> {
  const { row } = await requestOfSession(deps, session);
  const passkey = await finishAssertion(deps, caller, subjectOf(row), assertion).catch(
    async (error: unknown) => {
      if (error instanceof AppError) await reportFailedProof(deps, caller, row, 'passkey');
      throw error;
    },
  );
  await storeProof(deps, session, { passkey });
  const { verification } = await requestOfSession(deps, session);
  return { verified: true, verification };
}

/** Everything that the person of this approval sees and chooses, as their passkey signs it. */
export async function signedBy(
  deps: ConsentDeps,
  row: ConsentRow,
  decision: ConsentApproval,
  { languages }: Pick<ConsentSession, 'languages'>,
) {
  const [manifests, words, last] = await Promise.all([
    manifestsAsShown(deps, row, decision.manifests),
    findScopeWords(deps.db, row, row),
    lastConsent(deps, row),
  ]);
  const beside = {
    budget: budgetOf(row) ?? null,
    manifests,
    words,
    previousGrantId: last?.id ?? null,
    languages,
  };
  return signedRequest(row, beside, decision);
}
