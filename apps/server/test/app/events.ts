import { sql } from 'kysely';
import { newId } from '../../src/platform/ids.ts';
import type { Call, Developer, Service } from './start-app.ts';

/**
 * Emits many events at once, through the same function as the product. No hint goes out, so waiting readers
 * find them by themselves.
 */
export async function emit(
  { db, clock }: Pick<Service, 'db' | 'clock'>,
  { developerId }: Developer,
  types: readonly string[],
  more: Readonly<Record<string, unknown>> = {},
) {
  const at = clock();
  const events = types.map((type, n) => {
    const id = newId('evt', at);
    const createdAt = at.toISOString();
    const told = {
      id,
      type,
      createdAt,
      timestamp: createdAt,
      developerId,
      specVersion: '0.6',
      data: { n, ...more },
    };
    return { eventId: id, type, envelope: JSON.stringify(told) };
  });
  await sql`select * from audit_append(${developerId}, ${at}, ${JSON.stringify(events)}::jsonb)`.execute(db);
  return events.map(({ eventId }) => eventId);
}

export interface Event {
  readonly id: string;
  readonly type: string;
  readonly createdAt: string;
  readonly developerId: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The whole list, page by page. @param query for example `types=grant.*&limit=2` */
export async function listedTo(developer: Call, query = ''): Promise<Event[]> {
  const events: Event[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const asked = new URLSearchParams(query);
    if (cursor) asked.set('cursor', cursor);
    const page: { events: Event[]; nextCursor: string | null } = (
      await developer('GET', `/v1/events?${asked}`)
    ).json();
    events.push(...page.events);
    cursor = page.nextCursor;
  }
  return events;
}
