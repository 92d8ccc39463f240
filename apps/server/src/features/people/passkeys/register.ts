import type { Caller } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { holdPrincipal } from '../../../platform/db/principals.ts';
import { type AppError, principalInactive } from '../../../platform/errors.ts';
import { findFidoRpName } from '../../accounts/developers/developers.queries.ts';
import { recordActs, recordBlockedAttempt } from '../../record/audit/index.ts';
import { displayNameOf } from '../scim/scim.queries.ts';
import {
  beginCreation,
  getChallenge,
  getRelyingParty,
  type PasskeyDeps,
  storePasskey,
  takeChallenge,
  useUp,
} from './ceremony.ts';
import { listPasskeysOf } from './passkeys.repo.ts';
import { authenticatorOf, principalOwner } from './passkeys.rules.ts';
import type { CreatedPasskey, PasskeyCreationOptions, VerifyPasskeyRegistration } from './passkeys.schema.ts';
import { checkRegistration } from './webauthn.ts';

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
  const owner = principalOwner(principalId);

  return inTransaction(deps.db, async (tx) => {
    if (!(await holdPrincipal(tx, tenant, principalId))) throw principalInactive();
    const existing = await listPasskeysOf(tx, tenant, owner);
    const displayName = (await displayNameOf(tx, tenant, principalId)) ?? principalId;
    const name = (await findFidoRpName(tx, tenant)) ?? party.name;
    const creation = { owner, use: 'register', userName: principalId, displayName, existing } as const;
    return beginCreation(tx, tenant, { ...party, name }, creation, at);
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
  const claim = { id: challengeId, ownerKind: 'principal', use: 'register' } as const;
  const { ownerId: principalId, challenge } = await getChallenge(deps, tenant, claim);
  const refuse = useUp(deps, tenant, challengeId, (refusal) =>
    reportFailure(deps, caller, principalId, refusal),
  );
  const made = await checkRegistration({ party, challenge, response }).catch(refuse);

  return inTransaction<CreatedPasskey>(deps.db, async (tx) => {
    if (!(await holdPrincipal(tx, tenant, principalId))) throw principalInactive();
    await takeChallenge(tx, tenant, challengeId, at);
    const passkey = { made, deviceName: deviceName ?? null, lastUsedAt: null };
    const row = await storePasskey(tx, tenant, principalOwner(principalId), passkey, at);
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
  }).catch(refuse);
}

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
