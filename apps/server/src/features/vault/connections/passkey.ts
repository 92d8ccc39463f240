import type { Assertion } from '@behest/protocol/passkey-shapes';
import type { Caller } from '../../../platform/caller.ts';
import { AppError } from '../../../platform/errors.ts';
import { beginAssertion, finishAssertion } from '../../people/passkeys/index.ts';
import type { PageHold } from './browser.ts';
import type { ShownRow } from './connections.repo.ts';
import type { Verified } from './connections.schema.ts';
import type { ConnectDeps } from './deps.ts';
import { keepProof, pageOf } from './held.ts';
import { reportBlocked } from './proof.ts';

const subjectOf = ({ id: subjectId, principalId }: ShownRow) =>
  ({ use: 'connect', subjectId, principalId }) as const;

/** Asks for the person's passkey over what is to be connected. @throws FIDO_NOT_ENROLLED, CONFLICT */
export async function askForPasskey(deps: ConnectDeps, { tenant }: Caller, hold: PageHold) {
  const { row } = await pageOf(deps, hold);
  const { providerId, service, scopes, principalId } = row;
  return beginAssertion(deps, tenant, subjectOf(row), { providerId, service, scopes, principalId });
}

/** @throws CHALLENGE_INVALID, WEBAUTHN_VERIFICATION_FAILED, WEBAUTHN_CLONE_SUSPECTED, BAD_REQUEST */
export async function takePasskey(
  deps: ConnectDeps,
  caller: Caller,
  hold: PageHold,
  assertion: Assertion,
): Promise<Verified> {
  const { row } = await pageOf(deps, hold);
  const passkey = await finishAssertion(deps, caller, subjectOf(row), assertion).catch(
    async (error: unknown) => {
      if (error instanceof AppError) await reportBlocked(deps, caller, row, 'proof');
      throw error;
    },
  );
  const held = await pageOf(deps, hold); // another proof may have come meanwhile
  const { page } = held;
  return keepProof(deps, { ...held, page: { ...page, proofs: { ...page.proofs, passkey } } });
}
