import type { RouteOptions } from 'fastify';
import { allSamples, type Possessions, type Samples } from './samples.ts';
import type { Developer, Method } from './start-app.ts';

export type { Possessions };

/** `GET /v1/agents/:id`: how the tests that walk all routes name a route. */
export const operationOf = ({ method, url }: RouteOptions): string => `${method} ${url}`;

/** What stays open when it succeeds, and can be asked for by HEAD, which does not. */
const LIVE = new Set(['GET /v1/events/stream']);

/** One record of each kind that a developer can have, with the secrets that were given out for them. */
export async function possessionsOf(developer: Developer): Promise<Possessions> {
  let its: Possessions = {};
  for (const { possess } of allSamples) its = { ...its, ...(await possess?.(developer, its)) };
  return its;
}

const merged = <Table extends object>(tableOf: (samples: Samples) => Table | undefined): Table =>
  Object.assign({}, ...allSamples.map(tableOf));

/** As many records that nobody has. */
export const nobodys = merged(({ nobodys: of }) => of);

/** Every way by which a developer can ask about a record, or do something with it. */
export const ways = merged(({ ways: of }) => of);

/** Good bodies of what names no record. */
const bodies = merged(({ bodies: of }) => of);

/** The routes that refuse a `runtime` key. */
export const needFullKey = allSamples.flatMap(({ needFullKey: of = [] }) => of).sort();

/** Where a developer sees their records. */
export const shownAt = (its: Possessions) => allSamples.flatMap(({ shownAt: of }) => of?.(its) ?? []);

/** The request by which `operation` is asked about one of `its` records. */
export function requestTo(operation: string, its: Possessions) {
  const [method, pattern] = operation.split(' ');
  const { id, body } = ways[operation] ?? {};
  const own = String((id ? its[id] : undefined) ?? nobodys.agentId);
  const url = String(pattern)
    .replace(':id', own)
    .replace(/:(\w+)/g, (_, name: string) => String(its[name]));
  const asked = LIVE.has(operation) ? 'HEAD' : method;
  return { method: asked as Method, url, body: body?.(its) ?? bodies[operation] };
}
