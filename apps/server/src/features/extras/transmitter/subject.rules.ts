import type { Facts } from './events.rules.ts';

/** A subject identifier (RFC 9493). */
export type SubjectId = Readonly<Record<string, unknown>> & { readonly format: string };

/** The parties that a signal is about. */
export interface Subjects {
  readonly user: SubjectId | undefined;
  readonly session: SubjectId | undefined;
  readonly application: SubjectId | undefined;
  readonly tenant: SubjectId;
}

const opaque = (id: unknown): SubjectId => ({ format: 'opaque', id });

export const streamSubject = (streamId: string): SubjectId => opaque(streamId);
export const tenantSubject = (developerId: string): SubjectId => opaque(developerId);

/** The session that ended or changed: a grant, one of its tokens, or a session of a person. */
export function sessionOf({ type, data }: Facts, issuer: string): SubjectId | undefined {
  const { tokenId, sessionId, grantId } = data;
  if (type === 'token.revoked') return { format: 'jwt_id', iss: issuer, jti: tokenId };
  if (type === 'sso.session.revoked' || type === 'principal.session_ended') return opaque(sessionId);
  return type.startsWith('grant.') || type.startsWith('budget.') ? opaque(grantId) : undefined;
}

/** Whether the signal names the agent: those about a grant or the agent itself do. */
export const namesAgent = ({ type }: Facts): boolean => /^(grant|token|agent|budget)\./.test(type);

/** Whether the signal names the person. A signal about an agent concerns everybody's sessions with it. */
export const namesUser = ({ type }: Facts): boolean => !type.startsWith('agent.');

/**
 * A simple subject is never a bare user for one grant, because that means all their sessions (CAEP 1.0 §3.1).
 * @see OpenID Shared Signals Framework 1.0 §3.1
 */
export function subjectId(
  { user, session, application, tenant }: Subjects,
  shape: 'complex' | 'simple',
): SubjectId {
  if (shape === 'simple') return session ?? user ?? application ?? tenant;
  return {
    format: 'complex',
    ...(user && { user }),
    tenant,
    ...(session && { session }),
    ...(application && { application }),
  };
}
