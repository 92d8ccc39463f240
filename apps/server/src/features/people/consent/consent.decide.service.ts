import type { Caller } from '../../../platform/caller.ts';
import { AppError } from '../../../platform/errors.ts';
import { approveRequest, denyRequest, redirectTo } from '../../access/authorization/index.ts';
import { mustAllowScopes, ssoRequired } from '../sso/index.ts';
import type { Approve, Approved, Denied, Deny } from './consent.schema.ts';
import { type ConsentDeps, type ConsentSession, requestOfSession } from './consent.session.service.ts';
import { manifestsAsShown } from './consent.shown.service.ts';

/**
 * The person approves the request, or less of it. The service accepts nothing wider, and requires the proof
 * first.
 * @throws PRINCIPAL_VERIFICATION_REQUIRED or FIDO_REQUIRED, SSO_REQUIRED, SSO_SCOPE_DENIED, GONE, INVALID_SCOPE, BAD_REQUEST, CONFLICT
 */
export async function approve(
  deps: ConsentDeps,
  caller: Caller,
  session: ConsentSession,
  narrowing: Approve,
): Promise<Approved> {
  const { row, verification, standing } = await requestOfSession(deps, session);
  const { satisfied, mode, methods } = verification;
  const isOnlySignOn = methods.every((method) => method === 'sso');
  if (!satisfied && isOnlySignOn && standing?.signInAt)
    throw ssoRequired(deps.publicBaseUrl, standing.signInAt);
  if (!satisfied) {
    const code = mode === 'passkey' ? 'FIDO_REQUIRED' : 'PRINCIPAL_VERIFICATION_REQUIRED';
    throw new AppError(
      code,
      'First prove who you are: open the link again from the application that sent you.',
      { methods },
    );
  }
  if (standing) mustAllowScopes(standing, narrowing.scopes ?? row.scopes);
  const evidence = { ...caller.browser };
  const manifests = await manifestsAsShown(deps, row, narrowing.manifests);
  const approval = { method: mode, narrowing: { ...narrowing, manifests }, evidence };
  const { request, code } = await approveRequest(deps, caller, session.requestId, approval);
  return { status: 'approved', code, ...back(deps, request, { code }) };
}

/** The person denies the request. No proof is needed. @throws GONE */
export async function deny(
  deps: ConsentDeps,
  caller: Caller,
  requestId: string,
  { reason }: Deny,
): Promise<Denied> {
  const said = { ...(reason && { reason }), evidence: { ...caller.browser } };
  const request = await denyRequest(deps, caller, requestId, said);
  return { status: 'denied', ...back(deps, request, { error: 'access_denied' }) };
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
