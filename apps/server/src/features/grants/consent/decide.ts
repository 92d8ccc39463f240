import { type Authentication, secondOf } from '@behest/protocol/authentication';
import type { Caller } from '../../../platform/caller.ts';
import type { Tx } from '../../../platform/db/db.ts';
import { digestOf, keepEvidence } from '../../people/passkeys/index.ts';
import { type CreatedPrincipalSession, openOwnSession } from '../../people/principals/index.ts';
import { mustAllowScopes } from '../../people/sso/index.ts';
import { approveRequest, denyRequest, redirectTo } from '../authorization/index.ts';
import type { AcceptedAssertion } from './consent.rules.ts';
import type {
  ConsentApproval,
  ConsentApprovalResult,
  ConsentDenial,
  ConsentDenialResult,
} from './consent.schema.ts';
import { signedBy } from './passkey.ts';
import { keepConsent, proofOf } from './record.ts';
import {
  type ConsentDeps,
  type ConsentSession,
  personOfSession,
  requestOfSession,
  verificationFor,
} from './session.ts';
import { manifestsAsShown } from './show.ts';
import { proofMissing, unproved } from './verify.ts';

/**
 * The person approves the request, or less of it. The service accepts nothing wider, and requires the proof
 * first.
 * @throws PRINCIPAL_VERIFICATION_REQUIRED or FIDO_REQUIRED, SSO_REQUIRED, SSO_SCOPE_DENIED, GONE, INVALID_SCOPE, BAD_REQUEST, CONFLICT
 */
export async function approve(
  deps: ConsentDeps,
  caller: Caller,
  session: ConsentSession,
  narrowing: ConsentApproval,
): Promise<ConsentApprovalResult> {
  const { passkey, ...proved } = await provedRequest(deps, session, narrowing);
  const { row, mode, authentication, standing, signed } = proved;
  if (standing) mustAllowScopes(standing, narrowing.scopes ?? row.scopes);
  const evidence = { ...caller.browser };
  const manifests = await manifestsAsShown(deps, row, narrowing.manifests);
  const requestId = session.requestId;
  const alongside = async (tx: Tx, at: Date) => {
    const challengeId = passkey?.challengeId;
    const proof =
      challengeId === undefined
        ? proofOf(proved, at)
        : await keepEvidence(tx, caller, { challengeId, requestId });
    if (!proof) throw proofMissing('passkey');
    return keepConsent(tx, row, { ...signed, proof }, at);
  };
  const { scopeWordsSha256 = signed.shown.scopeWordsSha256 } = narrowing;
  const approval = {
    method: mode,
    narrowing: { ...narrowing, manifests, scopeWordsSha256 },
    evidence,
    authentication,
    isShown: true,
    alongside,
  };
  const { request, code } = await approveRequest(deps, caller, requestId, approval);
  return {
    status: 'approved',
    ...(code !== undefined && { code, ...back(deps, request, { code }) }),
  };
}

/**
 * The request, with the method that proves its person. A passkey proves only the approval that it signed.
 * @throws PRINCIPAL_VERIFICATION_REQUIRED, FIDO_REQUIRED, SSO_REQUIRED
 */
async function provedRequest(deps: ConsentDeps, session: ConsentSession, narrowing: ConsentApproval) {
  const { row, proofs, ...verified } = await requestOfSession(deps, session);
  const { verification, standing } = verified;
  const { passkey, ...others } = proofs;
  const signed = await signedBy(deps, row, narrowing, session);
  const isSigned = verification.mode === 'passkey' && passkey?.digest === digestOf(signed);
  const proved = passkey && !isSigned ? await verificationFor(deps, row, others, session.signOn) : verified;
  const { satisfied, mode, methods } = proved.verification;
  const signing = isSigned ? passkey : undefined;
  const authentication = signing ? byPasskey(signing) : proved.standing?.session?.authentication;
  if (satisfied) return { row, mode, standing, passkey: signing, authentication, proofs, signed };
  const isOnlySignOn = methods[0] === 'sso'; // which comes last
  throw passkey && !isOnlySignOn ? proofMissing('passkey') : unproved(deps.publicBaseUrl, proved);
}

const byPasskey = ({ at, methods }: AcceptedAssertion): Authentication => ({
  at: secondOf(Date.parse(at)),
  methods: methods ?? [],
});

/** The person denies the request. No proof is needed. @throws GONE */
export async function deny(
  deps: ConsentDeps,
  caller: Caller,
  requestId: string,
  { reason }: ConsentDenial,
): Promise<ConsentDenialResult> {
  const said = { ...(reason && { reason }), evidence: { ...caller.browser } };
  const request = await denyRequest(deps, caller, requestId, said);
  return { status: 'denied', ...back(deps, request, { error: 'access_denied' }) };
}

/**
 * Opens the page on which the person sees and ends what agents may do, for one who has just shown this page who they are: by
 * mail, a passkey or single sign-on. The developer's word, the sandbox or the link alone opens nothing.
 * @throws PRINCIPAL_VERIFICATION_REQUIRED or FIDO_REQUIRED, and as `openOwnSession`
 */
export async function openOwnPage(
  deps: ConsentDeps,
  { tenant, requestId }: Caller,
  session: ConsentSession,
): Promise<CreatedPrincipalSession> {
  const { row, verification, standing } = await personOfSession(deps, session);
  const { mode, methods, satisfied } = verification;
  const byCode = mode === 'email' || mode === 'passkey' ? mode : undefined;
  const method = standing?.session ? 'sso' : byCode;
  if (!satisfied || method === undefined) throw proofMissing(mode, methods);
  const { principalId } = row;
  return openOwnSession(deps, { tenant, principalId, method, requestId, signOn: session.signOn });
}

function back(
  { issuer }: ConsentDeps,
  { redirectUri, state }: { redirectUri: string | null; state: string | null },
  answer: Record<string, string>,
) {
  if (redirectUri === null) return {};
  const all = { ...answer, ...(state !== null && { state }), iss: issuer };
  return { redirectUri, ...(state !== null && { state }), redirectTo: redirectTo(redirectUri, all) };
}
