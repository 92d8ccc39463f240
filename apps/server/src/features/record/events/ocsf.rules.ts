import type { AuditEntry } from '@behest/protocol/audit-chain';

/** An entry as it is exported. */
export interface ExportedEntry extends AuditEntry {
  readonly source: 'service' | 'developer';
  readonly requestId: string | null;
}

/** Facts of which the schema has a place: those of an entry, or of an event. */
type Facts = Pick<
  ExportedEntry,
  | 'id'
  | 'developerId'
  | 'agentId'
  | 'agentDid'
  | 'grantId'
  | 'principalId'
  | 'action'
  | 'status'
  | 'metadata'
  | 'timestamp'
  | 'source'
>;

/** An event of the Open Cybersecurity Schema Framework. @see https://schema.ocsf.io/1.6.0 */
export interface OcsfEvent {
  readonly class_uid: number;
  readonly activity_id: number;
  readonly [attribute: string]: unknown;
}

const VERSION = '1.6.0';
const product = { name: 'Behest', vendor_name: 'Behest' };

/** The classes that entries become, with the name of their category. */
const classes = {
  finding: [2004, 'Detection Finding', 'Findings'],
  authentication: [3002, 'Authentication', 'Identity & Access Management'],
  entity: [3004, 'Entity Management', 'Identity & Access Management'],
  access: [3005, 'User Access Management', 'Identity & Access Management'],
  call: [6003, 'API Activity', 'Application Activity'],
} as const;

type Class = keyof typeof classes;

const severities = { info: 1, low: 2, medium: 3, high: 4, critical: 5 } as const;
const severityNames = ['Unknown', 'Informational', 'Low', 'Medium', 'High', 'Critical'];

/** An audit entry as an event. Everything of the entry that the schema has no place for is in `unmapped`. */
export function toOcsf(entry: ExportedEntry): OcsfEvent {
  const { seq, requestId, hash, prevHash, salt, grantId, purpose, source, metadata } = entry;
  return eventOf(entry, {
    actor: actorOf(entry),
    log: { log_name: 'audit', sequence: seq, ...(requestId && { correlation_uid: requestId }) },
    unmapped: { grantId, purpose, source, metadata, hash, prevHash, salt },
  });
}

/** The members of an event beside the facts. */
interface Beside {
  readonly actor: object;
  readonly log: object;
  readonly unmapped: object;
}

function eventOf(facts: Facts, { actor, log, unmapped }: Beside): OcsfEvent {
  const [kind, activityId, activity] = classOf(facts);
  const [classUid, className, category] = classes[kind];
  const severity = severityOf(facts);
  const { id, developerId, action, timestamp, status } = facts;
  return {
    activity_id: activityId,
    activity_name: activity,
    category_uid: Math.floor(classUid / 1000),
    category_name: category,
    class_uid: classUid,
    class_name: className,
    type_uid: classUid * 100 + activityId,
    type_name: `${className}: ${activity}`,
    time: Date.parse(timestamp),
    severity_id: severity,
    severity: severityNames[severity],
    status_detail: status,
    message: `${action}: ${status}`,
    metadata: {
      version: VERSION,
      product,
      uid: id,
      event_code: action,
      tenant_uid: developerId,
      original_time: timestamp,
      ...log,
    },
    ...(kind === 'finding' ? {} : { ...statusOf(facts), actor, src_endpoint: endpointOf(facts) }),
    ...members[kind](facts),
    unmapped,
  };
}

const findings: Readonly<Record<string, [id: number, name: string]>> = {
  'anomaly.detected': [1, 'Create'],
  'anomaly.acknowledged': [2, 'Update'],
  'anomaly.resolved': [3, 'Close'],
};
const accesses: Readonly<Record<string, [id: number, name: string]>> = {
  'grant.created': [1, 'Assign Privileges'],
  'token.issued': [1, 'Assign Privileges'],
  'grant.revoked': [2, 'Revoke Privileges'],
  'token.revoked': [2, 'Revoke Privileges'],
};
const logons = new Set(['sso.login', 'sso.login_failed', 'principal.session_created']);

const CREATED = /\.(created|stored|connected|allocated)$/;
const DELETED = /\.(deleted|revoked|closed|disconnected|lapsed|cancelled|expired)$/;
const UPDATED =
  /\.(updated|rotated|verified|suspended|resumed|stopped|linked|\w*changed|\w*activated|offboarded)$/;

/** Hosts of agents name actions as they like, so only entries of the service have another class than a call. */
function classOf({ action, source }: Facts): readonly [kind: Class, id: number, name: string] {
  const isOwn = source === 'service';
  const finding = isOwn ? findings[action] : undefined;
  const access = isOwn ? accesses[action] : undefined;
  if (finding) return ['finding', ...finding];
  if (access) return ['access', ...access];
  if (isOwn && logons.has(action)) return ['authentication', 1, 'Logon'];
  if (isOwn && CREATED.test(action)) return ['entity', 1, 'Create'];
  if (isOwn && UPDATED.test(action)) return ['entity', 3, 'Update'];
  if (isOwn && DELETED.test(action)) return ['entity', 4, 'Delete'];
  return ['call', 99, action];
}

const members: Readonly<Record<Class, (facts: Facts) => object>> = {
  finding({ action, id: entryId, agentId, metadata }) {
    const life = { 'anomaly.detected': [1, 'New'], 'anomaly.acknowledged': [2, 'In Progress'] } as const;
    const [stage, name] = action in life ? life[action as keyof typeof life] : ([4, 'Resolved'] as const);
    const rule = textIn(metadata, 'ruleId') ?? 'anomaly';
    return {
      status_id: stage,
      status: name,
      is_alert: stage === 1,
      finding_info: {
        uid: textIn(metadata, 'alertId') ?? entryId,
        title: rule,
        analytic: { name: rule, type_id: 1, type: 'Rule' },
      },
      resources: agentId === null ? [] : [{ uid: agentId, type: 'agent' }],
    };
  },
  authentication: ({ principalId, metadata }) => ({
    user: { uid: principalId ?? textIn(metadata, 'userId') ?? 'unknown', type_id: 1, type: 'User' },
    service: { name: 'Behest' },
  }),
  entity({ action, agentId, metadata }) {
    const type = action.slice(0, action.lastIndexOf('.'));
    const own = Object.entries(metadata).find(
      ([name, value]) => name.endsWith('Id') && typeof value === 'string',
    );
    const uid = type === 'agent' ? agentId : own?.[1];
    return { entity: { type, ...(typeof uid === 'string' && { uid }) } };
  },
  access: ({ agentId, agentDid, principalId, grantId, metadata }) => ({
    user: { uid: agentId ?? 'unknown', ...(agentDid && { name: agentDid }), type_id: 99, type: 'Agent' },
    privileges: [valueIn(metadata, 'scopes') ?? []].flat().map(String),
    resources:
      grantId === null
        ? []
        : [{ uid: grantId, type: 'grant', ...(principalId !== null && { owner: { uid: principalId } }) }],
  }),
  call: ({ action, agentId }) => ({
    api: { operation: action, service: { name: 'Behest' } },
    resources: agentId === null ? [] : [{ uid: agentId, type: 'agent' }],
  }),
};

const statusOf = ({ status }: Facts) =>
  status === 'success' ? { status_id: 1, status: 'Success' } : { status_id: 2, status: 'Failure' };

function severityOf({ action, status, source, metadata }: Facts): number {
  const stated =
    source === 'service' && action === 'anomaly.detected' ? textIn(metadata, 'severity') : undefined;
  if (stated !== undefined && Object.hasOwn(severities, stated))
    return severities[stated as keyof typeof severities];
  if (status === 'success') return severities.info;
  return status === 'blocked' ? severities.medium : severities.low;
}

function actorOf({ agentId, agentDid, principalId, developerId, source, metadata }: Facts): object {
  const actor = source === 'service' ? textIn(metadata, 'actor') : undefined;
  if (actor === undefined) {
    const uid = agentId ?? developerId;
    return { user: { uid, ...(agentDid && { name: agentDid }), type_id: 99, type: 'Agent' } };
  }
  const [kind = '', id] = actor.split(':');
  if (kind === 'principal') return { user: { uid: principalId ?? 'unknown', type_id: 1, type: 'User' } };
  if (kind === 'system') return { user: { uid: kind, type_id: 3, type: 'System' } };
  if (kind === 'developer') {
    return { user: { uid: developerId, ...(id && { credential_uid: id }), type_id: 2, type: 'Admin' } };
  }
  return { user: { uid: id ?? kind, type_id: 99, type: kind } };
}

const endpointOf = ({ agentId, developerId, metadata }: Facts): object => {
  const ip = textIn(metadata, 'ip');
  return ip === undefined ? { uid: agentId ?? developerId } : { ip };
};

const valueIn = (metadata: Facts['metadata'], name: string): unknown =>
  new Map(Object.entries(metadata)).get(name);

const textIn = (metadata: Facts['metadata'], name: string): string | undefined => {
  const value = valueIn(metadata, name);
  return typeof value === 'string' ? value : undefined;
};

/**
 * The text of an event of the service in this form, made of its envelope. Its id is that of the event. An envelope names
 * nobody as the actor, so the actor is unknown.
 */
export function envelopeToOcsf(envelope: string): string {
  const { id, type, createdAt, developerId, sandbox, data } = JSON.parse(envelope);
  const { agentId = null, principalId = null, grantId = null, ...others } = data;
  const told = {
    id,
    developerId,
    action: type,
    status: type === 'enforcement.denied' ? 'blocked' : 'success',
    agentId,
    agentDid: null,
    grantId,
    principalId,
    metadata: others,
    timestamp: createdAt,
    source: 'service',
  } as const;
  return JSON.stringify(
    eventOf(told, {
      actor: { user: { uid: 'unknown', type_id: 0, type: 'Unknown' } },
      log: { log_name: 'events' },
      unmapped: { grantId, principalId, metadata: others, ...(sandbox && { sandbox }) },
    }),
  );
}

/** A hole in a stream as a base event. `GET /v1/events` has the missing events after the cursor. */
export const gapToOcsf = (cursor: string, at: Date): string =>
  JSON.stringify({
    activity_id: 99,
    activity_name: 'gap',
    category_uid: 0,
    category_name: 'Uncategorized',
    class_uid: 0,
    class_name: 'Base Event',
    type_uid: 99,
    type_name: 'Base Event: gap',
    time: at.getTime(),
    severity_id: 3,
    severity: 'Medium',
    message: 'Events are missing here.',
    metadata: { version: VERSION, product, log_name: 'events', event_code: 'gap' },
    unmapped: { cursor },
  });
