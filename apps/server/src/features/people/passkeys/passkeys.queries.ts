import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { principalsIn } from '../../../platform/db/values.ts';

/** The principals of passkeys who have one of these ids, in any case. */
export const principalsWithPasskeys = principalsIn('passkeys');

/** The passkey with which a person approved a request. */
interface ShownEvidence {
  /** The id of the passkey with this service. */
  readonly credentialId: string;
  /** Whether the authenticator knew the person, by a fingerprint or a PIN, say. */
  readonly userVerified: boolean;
  readonly verifiedAt: Date;
}

/** @returns undefined for a request that was approved without a passkey */
export async function findPasskeyEvidence(
  db: Executor,
  { developerId }: Tenant,
  requestId: string,
): Promise<ShownEvidence | undefined> {
  const found = await db
    .selectFrom('passkeyEvidence')
    .select(['passkeyId', 'evidence', 'verifiedAt'])
    .where('developerId', '=', developerId)
    .where('authRequestId', '=', requestId)
    .executeTakeFirst();
  if (!found) return undefined;
  const { passkeyId: credentialId, evidence, verifiedAt } = found;
  return { credentialId, userVerified: isUserVerified(Object(evidence).proof), verifiedAt };
}

/** @see https://www.w3.org/TR/webauthn-3/#authdata-flags */
function isUserVerified({ authenticatorData }: { readonly authenticatorData: string }): boolean {
  const [flags = 0] = Buffer.from(authenticatorData, 'base64url').subarray(32);
  return (flags & 0x04) !== 0;
}
