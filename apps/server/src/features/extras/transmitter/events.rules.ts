const CAEP = 'https://schemas.openid.net/secevent/caep/event-type';
const RISC = 'https://schemas.openid.net/secevent/risc/event-type';
const SSF = 'https://schemas.openid.net/secevent/ssf/event-type';

const SESSION_REVOKED = `${CAEP}/session-revoked`;
const CREDENTIAL_CHANGE = `${CAEP}/credential-change`;
const CLAIMS_CHANGE = `${CAEP}/token-claims-change`;
const ACCOUNT_DISABLED = `${RISC}/account-disabled`;
const ACCOUNT_ENABLED = `${RISC}/account-enabled`;
const ACCOUNT_PURGED = `${RISC}/account-purged`;
const VERIFICATION = `${SSF}/verification`;
const STREAM_UPDATED = `${SSF}/stream-updated`;

/** Types of deliveries that tell of the stream itself. No act has such a type. */
export const OF_STREAM: Readonly<Record<string, string>> = {
  'ssf.verification': VERIFICATION,
  'ssf.stream_updated': STREAM_UPDATED,
};

/** The signal that each type of event becomes. */
export const SIGNALS: Readonly<Record<string, string>> = {
  'grant.revoked': SESSION_REVOKED,
  'token.revoked': SESSION_REVOKED,
  'agent.revoked': SESSION_REVOKED,
  'agent.suspended': SESSION_REVOKED,
  'sso.session.revoked': SESSION_REVOKED,
  'principal.session_ended': SESSION_REVOKED,
  'principal.offboarded': SESSION_REVOKED,
  'scim.user.deactivated': ACCOUNT_DISABLED,
  'scim.user.reactivated': ACCOUNT_ENABLED,
  'scim.user.deleted': ACCOUNT_PURGED,
  'fido.registered': CREDENTIAL_CHANGE,
  'fido.removed': CREDENTIAL_CHANGE,
  'fido.clone_suspected': CREDENTIAL_CHANGE,
  'vc.issued': CREDENTIAL_CHANGE,
  'vc.revoked': CREDENTIAL_CHANGE,
  'budget.threshold': CLAIMS_CHANGE,
  'budget.exhausted': CLAIMS_CHANGE,
  'grant.reconsent_required': CLAIMS_CHANGE,
};

/** The signals that a receiver can ask for. */
export const SUPPORTED: readonly string[] = [...new Set(Object.values(SIGNALS))];

/** The types of events of which these signals are made. */
export const typesOf = (signals: readonly string[]): string[] =>
  Object.entries(SIGNALS).flatMap(([type, signal]) => (signals.includes(signal) ? [type] : []));

/** A receiver may ask for signals that the service does not know, and gets none of them. */
export const deliveredOf = (ceiling: readonly string[], requested: readonly string[] | null): string[] =>
  ceiling.filter((signal) => requested === null || requested.includes(signal));

/** The facts of an event, as its envelope has them. */
export interface Facts {
  readonly type: string;
  readonly createdAt: string;
  readonly sandbox?: true;
  readonly data: Readonly<Record<string, unknown>>;
}

const CHANGES: Readonly<Record<string, string>> = {
  'fido.registered': 'create',
  'fido.removed': 'delete',
  'fido.clone_suspected': 'revoke',
  'vc.issued': 'create',
  'vc.revoked': 'revoke',
};

/**
 * The members of a signal beside its subject.
 * @param actor the actor of the act, as the audit log names it
 * @param budget the entry of the grant's budget as it is now
 */
export function membersOf(
  { type, createdAt, data }: Facts,
  actor: string | null,
  budget: object | undefined,
): object {
  const signal = SIGNALS[type];
  if (type in OF_STREAM) return data;
  if (!signal?.startsWith(CAEP)) return {};
  const { reason } = data;
  const common = {
    event_timestamp: Math.floor(Date.parse(createdAt) / 1000),
    initiating_entity: initiatorOf(actor, reason),
    reason_admin: { en: typeof reason === 'string' ? reason : type },
  };
  if (signal === CREDENTIAL_CHANGE) return { ...common, ...credentialOf(type, data) };
  if (signal === CLAIMS_CHANGE) {
    const isBudget = type !== 'grant.reconsent_required';
    const claims = isBudget
      ? { authorization_details: budget ? [budget] : [] }
      : { 'urn:service:reconsent_required': true };
    return { ...common, claims };
  }
  return common;
}

/** @see OpenID CAEP 1.0 §3.3 */
function credentialOf(type: string, { transports, aaguid }: Facts['data']): object {
  const change = { change_type: CHANGES[type] };
  if (type.startsWith('vc.')) return { ...change, credential_type: 'verifiable-credential' };
  const isPlatform = Array.isArray(transports) && transports.includes('internal');
  return {
    ...change,
    credential_type: isPlatform ? 'fido2-platform' : 'fido2-roaming',
    ...(typeof aaguid === 'string' && { fido2_aaguid: aaguid }),
  };
}

/** @see OpenID CAEP 1.0 §2 */
function initiatorOf(actor: string | null, reason: unknown): 'admin' | 'user' | 'policy' | 'system' {
  // An anomaly or a policy acts in the call of somebody else.
  if (reason === 'anomaly' || reason === 'policy') return 'policy';
  const [kind] = (actor ?? 'system').split(':');
  if (kind === 'developer' || kind === 'member' || kind === 'admin' || kind === 'setup') return 'admin';
  if (kind === 'principal' || kind === 'approver') return 'user';
  return kind === 'policy' || kind === 'anomaly' ? 'policy' : 'system';
}

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
