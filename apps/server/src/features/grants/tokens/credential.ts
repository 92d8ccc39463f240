import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import { type CredentialDeps, issuedAct, signCredential } from '../../extras/verifiable-credentials/index.ts';
import type { NewCredentialRow } from '../../extras/verifiable-credentials/verifiable-credentials.queries.ts';
import type { IssuableGrant } from './issue.ts';
import type { NewGrant } from './tokens.repo.ts';
import type { Exchange, ExchangedTokens } from './tokens.schema.ts';

/** The credential about a grant that is about to be stored, which is stored with it. */
interface GrantCredential {
  readonly credential: NewCredentialRow | null;
  readonly acts: readonly Act[];
  readonly members: Pick<ExchangedTokens, 'verifiableCredential' | 'sdJwtCredential'>;
}

/** Signs the credential that the caller asked for with the tokens. It ends with the grant. */
export async function credentialFor(
  deps: CredentialDeps,
  caller: Caller,
  grant: NewGrant & IssuableGrant,
  { credentialFormat: asked, at }: Pick<Exchange, 'credentialFormat'> & { readonly at: Date },
): Promise<GrantCredential> {
  if (asked === 'jwt') return { credential: null, acts: [], members: {} };
  const format = asked === 'sd-jwt' ? 'sd-jwt' : 'vc-jwt';
  const credential = await signCredential(deps, caller, { grant, format, at });
  const text = credential.credential;
  const members = format === 'sd-jwt' ? { sdJwtCredential: text } : { verifiableCredential: text };
  return { credential, acts: [issuedAct(credential)], members };
}
