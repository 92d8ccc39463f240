import { boolean, integer } from '../../../config/readers.ts';
import { defaulted, type ValuesOf } from '../../../config/setting.ts';
import type { ServiceContext } from '../../../feature.ts';
import { definePart } from '../../../platform/parts.ts';
import { legacyClaims } from '../../extras/verifiable-credentials/index.ts';
import { decisionPoint } from '../policies/index.ts';
import type { DelegateDeps } from './delegate.ts';
import { grantTokenVerifier, ownVerifier } from './look-up.ts';
import type { ProofDeps } from './proof.ts';

export const tokenSettings = {
  MAX_DELEGATION_DEPTH: defaulted(
    integer(1, 10),
    '3',
    'The greatest delegation depth of a grant, for developers that have not set their own.',
  ),
  DPOP_NONCE: defaulted(
    boolean,
    'false',
    'Whether DPoP proofs have to carry a nonce of the service (RFC 9449, section 8).',
  ),
  REUSE_GRACE_SECONDS: defaulted(
    integer(0, 300),
    '30',
    'How long the service only refuses a second use of a code or refresh token. A later second use also revokes the grant.',
  ),
  REFRESH_OVERLAP_SECONDS: defaulted(
    integer(0, 60),
    '10',
    'How long `/oauth/token` answers a refresh token that was just used with the same tokens again, for programs of one client that refresh at the same time. With `0` the second of them is refused.',
  ),
};

type TokenParts = DelegateDeps & ProofDeps;

/** The parts of the process with which tokens are issued and looked up. The OAuth profile issues the same tokens. */
export const tokenParts = definePart<TokenParts>('the parts of tokens');

export function tokenDeps(context: ServiceContext, settings: ValuesOf<typeof tokenSettings>): TokenParts {
  const deps = { ...context, ...context.lifetimes };
  return {
    ...deps,
    verifyOwn: context.provide(grantTokenVerifier, ownVerifier(deps)),
    outside: context.take(decisionPoint),
    issuesLegacyClaims: context.take(legacyClaims),
    maxDelegationDepth: settings.MAX_DELEGATION_DEPTH,
    reuseGraceSeconds: settings.REUSE_GRACE_SECONDS,
    refreshOverlapSeconds: settings.REFRESH_OVERLAP_SECONDS,
    demandsNonce: settings.DPOP_NONCE,
  };
}
