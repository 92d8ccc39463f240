import { eventOf, product, VERSION } from './ocsf.rules.ts';

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
