import { once } from 'node:events';
import { createServer } from 'node:net';
import { type Client, openClient } from './client.ts';
import { demand } from './load.ts';
import { asked, heldBy, signUp, type Tenant } from './tenants.ts';

/** The account of the neighbour, as large as the plan allows. */
export interface Attacker extends Tenant {
  /** The roots of deep trees. */
  readonly trees: readonly string[];
  /** The token at the bottom of a further tree, one level above the deepest. */
  readonly deepToken: string;
  /** The token of an identity provider. */
  readonly scimToken: string;
  /** Where a receiver polls for signals, which nobody acknowledges. */
  readonly signals: { readonly path: string; readonly token: string };
  readonly words: string;
  /** Attempts of webhooks that its server took and never answered. */
  readonly unanswered: () => number;
}

// All that the plan allows, and the entries of one hour.
const ENTRIES = 2000;
const AGENTS = 480;
const TREES = 5;
const WIDTH = 180; // grants on the deepest level of a tree
const OPEN_REQUESTS = 99;
const WEBHOOKS = 30;
const GRANTED = 20;
const PEOPLE = 4000;
const PEOPLE_TOGETHER = 250; // 2,750 of the 10,000 members that a body may have
const DEPTH = 9; // delegations; one more is allowed

/** 16 KiB as the database keeps it: many small values, or digits that the request did not have. */
const METADATA = [
  { values: Array.from({ length: 980 }, () => ({})), text: 'x'.repeat(13_000) },
  { values: Array.from({ length: 49 }, () => 5e-324) },
] as const;

/** @param port where a server without limits listens */
export async function prepare(port: number): Promise<Attacker> {
  const tenant = await signUp(port, GRANTED);
  const { apiKey } = tenant;
  const post = async (client: Client, path: string, body: object) =>
    JSON.parse((await demand(client, { method: 'POST', path, body, apiKey }, 201)).toString());
  const many = (count: number, path: string, bodyOf: (each: number) => object) =>
    inTurns(port, count, (client, each) => post(client, path, bodyOf(each)));

  const client = await openClient(port);
  const signals = await pollStream(client, apiKey);
  const { token: scimToken } = await post(client, '/v1/scim/tokens', { label: 'Directory' });
  for (let from = 0; from < PEOPLE; from += PEOPLE_TOGETHER) {
    const body = bulkOf(PEOPLE_TOGETHER, `from-${from}`);
    await demand(client, { method: 'POST', path: '/scim/v2/Bulk', body, apiKey: scimToken }, 200);
  }
  const dig = async (tree: number): Promise<string> => {
    let token = heldBy(tenant, tree).grantToken;
    for (let level = 1; level <= DEPTH; level += 1) {
      const answer = await post(client, '/v1/grants/delegate', delegation(token, tenant, tree + level));
      token = answer.grantToken;
    }
    return token;
  };
  for (let tree = 0; tree < TREES; tree += 1) {
    const token = await dig(tree);
    await many(WIDTH, '/v1/grants/delegate', () => delegation(token, tenant, tree + DEPTH + 1));
  }
  const deepToken = await dig(TREES);
  client.close();
  await many(AGENTS, '/v1/agents', (each) => ({ name: `Agent ${each}` }));
  await many(ENTRIES, '/v1/audit/log', (each) => entryOf(tenant, each));
  await many(OPEN_REQUESTS, '/v1/authorize', (each) => ({ agentId: heldBy(tenant, each).agentId, ...asked }));

  const silent = createServer((socket) => {
    attempts += 1;
    socket.resume().on('error', () => {});
  });
  let attempts = 0;
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  const address = silent.address();
  const host = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  await many(WEBHOOKS, '/v1/webhooks', (each) => ({ url: `${host}/${each}`, events: ['*'] }));
  const words = `${ENTRIES} entries of 16 KiB, ${TREES} trees of ${WIDTH + DEPTH} delegations, ${WEBHOOKS} webhooks, ${PEOPLE} people`;
  const trees = tenant.grants.slice(0, TREES).map(({ grantId }) => grantId);
  return { ...tenant, trees, deepToken, scimToken, signals, words, unanswered: () => attempts };
}

/** @param each the number of the agent that gets the grant; an agent above it would only narrow */
export function delegation(parentGrantToken: string, tenant: Tenant, each: number) {
  const { agentId } = heldBy(tenant, each);
  return { parentGrantToken, subAgentId: agentId, scopes: asked.scopes, expiresIn: '1d' };
}

export function entryOf(tenant: Tenant, each: number) {
  const { agentId, agentDid, grantId } = heldBy(tenant, each);
  const about = { agentId, agentDid, grantId, principalId: asked.principalId };
  return { ...about, action: 'email.sent', metadata: METADATA[each % METADATA.length] };
}

/** A request of SCIM that makes people, or is refused for those that are there already. */
export function bulkOf(count: number, name: string) {
  const Operations = Array.from({ length: count }, (_, each) => ({
    method: 'POST',
    path: '/Users',
    bulkId: `b${each}`,
    data: {
      userName: `${name}-${each}@acme.test`,
      name: { givenName: 'Ada', familyName: `King ${each}` },
      emails: [{ value: `${name}-${each}@acme.test`, type: 'work' }],
    },
  }));
  return { schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'], Operations };
}

/** Registers a receiver with a stream that it polls. */
async function pollStream(client: Client, apiKey: string): Promise<Attacker['signals']> {
  const made = {
    method: 'POST',
    path: '/v1/ssf/receivers',
    apiKey,
    body: { name: 'SIEM', staticToken: true },
  };
  const { accessToken: token } = JSON.parse((await demand(client, made, 201)).toString());
  const stream = { method: 'POST', path: '/ssf/streams', apiKey: token, body: {} };
  const { stream_id } = JSON.parse((await demand(client, stream, 201)).toString());
  return { path: `/ssf/poll/${stream_id}`, token };
}

/** Eight at a time. */
async function inTurns(
  port: number,
  count: number,
  work: (client: Client, each: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const loops = Array.from({ length: 8 }, async () => {
    const client = await openClient(port);
    while (next < count) {
      next += 1;
      await work(client, next);
    }
    client.close();
  });
  await Promise.all(loops);
}
