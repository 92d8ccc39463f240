import type { RouteOptions } from 'fastify';
import { allSamples, type Possessions, type Samples } from './samples.ts';
import type { Developer, Method } from './start-app.ts';

export type { Possessions };

/** The name of a route in the tests that walk all routes: `GET /v1/agents/:id`. */
export const operationOf = ({ method, url }: RouteOptions): string => `${method} ${url}`;

/** These routes keep a successful answer open. Their HEAD does not, so tests use that. */
const LIVE = new Set(['GET /v1/events/stream', 'GET /v1/approver/events']);

/** One record of each kind that a developer can have, with its secrets. */
export async function possessionsOf(developer: Developer): Promise<Possessions> {
  let its: Possessions = {};
  for (const { possess } of allSamples) its = { ...its, ...(await possess?.(developer, its)) };
  return its;
}

/** Keeps getters, which make another value at each use. */
function merged<Table extends object>(tableOf: (samples: Samples) => Table | undefined): Table {
  const tables = allSamples.map((samples) => Object.getOwnPropertyDescriptors(tableOf(samples) ?? {}));
  const all: Table = Object.create(null, Object.assign({}, ...tables));
  return all;
}

/** The same members, for records that do not exist. */
export const nobodys = merged(({ nobodys: of }) => of);

/** Every way in which a developer can read a record or act on it. */
export const ways = merged(({ ways: of }) => of);

/** Good bodies that name no record. */
const bodies = merged(({ bodies: of }) => of);

/** The routes that refuse a `runtime` key. */
export const needFullKey = allSamples.flatMap(({ needFullKey: of = [] }) => of).sort();

/** The routes that ask a party outside. */
export const askOutside = allSamples.flatMap(({ askOutside: of = [] }) => of);

/** The routes that show a developer's records. */
export const shownAt = (its: Possessions) => allSamples.flatMap(({ shownAt: of }) => of?.(its) ?? []);

/** The request of `operation` about one of `its` records. */
export function requestTo(operation: string, its: Possessions) {
  const [method, pattern] = operation.split(' ');
  const { id, body } = ways[operation] ?? {};
  const own = String((id ? its[id] : undefined) ?? nobodys.agentId);
  const url = String(pattern).replace(/:(\w+)/g, (_, name: string) =>
    name === 'id' ? own : String(its[name]),
  );
  const asked = LIVE.has(operation) ? 'HEAD' : method;
  return { method: asked as Method, url, body: body?.(its) ?? bodies[operation] };
}
