import { randomBytes } from 'node:crypto';
import type { Caller } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { holdPrincipal } from '../../../platform/db/principals.ts';
import { AppError, principalInactive } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { findFidoRpName } from '../../accounts/developers/developers.queries.ts';
import { recordActs, recordBlockedAttempt } from '../../record/audit/index.ts';
import { displayNameOf } from '../scim/scim.queries.ts';
import { checkRegistration, creationOptions } from './ceremony.ts';
import { getRelyingParty, type PasskeyDeps } from './deps.ts';
import {
  claimChallenge,
  findChallenge,
  insertChallenge,
  insertPasskey,
  listAllOf,
  lockUser,
} from './passkeys.repo.ts';
import { authenticatorOf, CHALLENGE_MS } from './passkeys.rules.ts';
import type { CreatedPasskey, PasskeyCreationOptions, VerifyPasskeyRegistration } from './passkeys.schema.ts';

/**
 * Begins to register a passkey of a principal whom the developer has signed in.
 * @throws CONFLICT, PRINCIPAL_INACTIVE
 */
export function beginRegistration(
  deps: PasskeyDeps,
  caller: Caller,
  principalId: string,
): Promise<PasskeyCreationOptions> {
  const at = deps.clock();
  const party = getRelyingParty(deps);
  const { tenant } = caller;
  const challenge = randomBytes(32);
  const id = newId('wac', at);

  return inTransaction(deps.db, async (tx) => {
    if (!(await holdPrincipal(tx, tenant, principalId))) throw principalInactive();
    const userHandle = await lockUser(tx, tenant, principalId);
    const expiresAt = new Date(at.getTime() + CHALLENGE_MS);
    await insertChallenge(tx, tenant, { id, principalId, use: 'register', challenge, expiresAt }, at);
    const existing = await listAllOf(tx, tenant, principalId);
    const displayName = (await displayNameOf(tx, tenant, principalId)) ?? principalId;
    const name = (await findFidoRpName(tx, tenant)) ?? party.name;
    const options = { challenge, userHandle, principalId, displayName, existing };
    const publicKey = await creationOptions({ ...party, name }, options);
    return { challengeId: id, publicKey: { ...publicKey } };
  });
}

/**
 * Stores the passkey that an authenticator has made. An attempt that fails uses the challenge up, too.
 * @throws CHALLENGE_INVALID, BAD_REQUEST, WEBAUTHN_VERIFICATION_FAILED, PRINCIPAL_INACTIVE, CONFLICT
 */
export async function finishRegistration(
  deps: PasskeyDeps,
  caller: Caller,
  { challengeId, response, deviceName }: VerifyPasskeyRegistration,
): Promise<CreatedPasskey> {
  const at = deps.clock();
  const party = getRelyingParty(deps);
  const { tenant } = caller;
  const claim = { id: challengeId, use: 'register', subjectId: null } as const;
  const found = await findChallenge(deps.db, tenant, claim, at);
  if (!found) throw challengeInvalid();
  const { principalId, challenge } = found;
  /** Runs after the attempt is rolled back. A lost race is no refusal: the request begins again. */
  const useUp = async (error: unknown): Promise<never> => {
    const isRefused = error instanceof AppError;
    if (isRefused && (await claimChallenge(deps.aside, tenant, challengeId, at))) {
      await reportFailure(deps, caller, principalId, error);
    }
    throw error;
  };
  const made = await checkRegistration({ party, challenge, response }).catch(useUp);

  return inTransaction<CreatedPasskey>(deps.db, async (tx) => {
    if (!(await holdPrincipal(tx, tenant, principalId))) throw principalInactive();
    if (!(await claimChallenge(tx, tenant, challengeId, at))) throw challengeInvalid();
    const row = await insertPasskey(tx, tenant, {
      ...made,
      id: newId('cred', at),
      principalId,
      status: 'active',
      deviceName: deviceName ?? null,
      createdAt: at,
    });
    if (!row) throw new AppError('CONFLICT', 'This passkey is registered already.', { field: 'response' });
    await recordActs(tx, caller, [{ type: 'fido.registered', principalId, data: authenticatorOf(row) }], at);
    return {
      id: row.id,
      principalId,
      deviceName: row.deviceName,
      backedUp: row.backedUp,
      deviceType: row.isMultiDevice ? 'multiDevice' : 'singleDevice',
      transports: row.transports,
      aaguid: row.aaguid,
      createdAt: at.toISOString(),
    };
  }).catch(useUp);
}

export const challengeInvalid = () =>
  new AppError('CHALLENGE_INVALID', 'This challenge is unknown, used or expired. Begin again.');

function reportFailure(
  { aside, clock }: PasskeyDeps,
  caller: Caller,
  principalId: string,
  { code, details }: AppError,
): Promise<void> {
  const data = { code, ...(details?.check !== undefined && { check: details.check }) };
  const attempt = { action: 'fido.registration_failed', about: { principalId }, data } as const;
  return inTransaction(aside, (tx) => recordBlockedAttempt(tx, caller, attempt, clock()));
}
