import { createHash, randomBytes } from 'node:crypto';
import { AgentProfile } from '@behest/protocol/shapes';
import type { LightMyRequestResponse } from 'fastify';
import { afterAll } from 'vitest';
import { type Call, type Developer, type Service, startApp, type TestOptions } from './start-app.ts';

const tools = { list: 'read', send: { permission: 'write', caps: { per_day: 7 } } };

/** An agent that may send seven mails a day, and a question of AuthZEN about one. */
export async function mailer(acme: Developer, grant: object = {}) {
  const manifest = { $schema: 'x', connector: 'acme_mail', version: '7', tools };
  await acme('PUT', '/v1/manifests/acme_mail', manifest);
  const granted = await grantTo(acme, { scopes: ['tool:acme_mail:write'], ...grant });
  const { jti } = partsOf(granted.grantToken).payload;
  const question = {
    subject: { type: 'token', id: String(jti) },
    action: { name: 'send' },
    resource: { type: 'connector', id: 'acme_mail' },
  };
  return { ...granted, jti: String(jti), question };
}

/** Asks, and reads the answer. */
export const askWith = (call: Call) => async (body: object) => {
  const answer = await call('POST', '/access/v1/evaluation', body);
  return { status: answer.statusCode, ...answer.json() };
};

export const askTogether = async (call: Call, body: object) => {
  const answer = await call('POST', '/access/v1/evaluations', body);
  return { status: answer.statusCode, ...answer.json() };
};

export const decisionsIn = ({ evaluations }: { evaluations: { decision: boolean }[] }) =>
  evaluations.map(({ decision }) => decision);

/** The units that a grant has used of the cap on mails. */
export const usedOf = async (acme: Developer, grantId: string) => {
  const query = `grantId=${grantId}&connector=acme_mail&tool=send`;
  const [counter] = (await acme('GET', `/v1/enforce/usage?${query}`)).json().counters;
  return counter?.used;
};

/** The request in most tests. A test about one of these members sets it. */
const asked = { principalId: 'user_42', scopes: ['calendar:read', 'email:send'] };

/** A service with one developer in the sandbox, where nobody has to consent. */
export async function startSandbox(options: TestOptions = {}) {
  const service = await startApp(options);
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  return { ...service, service, acme };
}

/**
 * Shares a service among the tests of a file that leave the clock alone, because its start takes longer than
 * most tests. Each test gets its own developer.
 */
export function sharedSandbox() {
  let started: Promise<Service> | undefined;
  afterAll(async () => (await started)?.stop());
  return async () => {
    started ??= startApp({ isShared: true });
    const service = await started;
    return { ...service, service, acme: await service.asDeveloper({ mode: 'sandbox' }) };
  };
}

export async function registerAgent(developer: Developer, name = 'Travel booker') {
  const agent = (await developer('POST', '/v1/agents', { name })).json();
  return { agentId: String(agent.agentId), did: String(agent.did) };
}

/** Authorizes in the sandbox, where the answer has the code. */
export async function authorize(developer: Call, agentId: string, request: object = {}) {
  const answer = await developer('POST', '/v1/authorize', { agentId, ...asked, ...request });
  if (answer.statusCode !== 201) throw new Error(`authorize: ${answer.body}`);
  return answer.json();
}

/** An agent with a grant, its token and its refresh token. */
export async function grantTo(developer: Developer, request: object = {}) {
  const { agentId, did } = await registerAgent(developer);
  const { code } = await authorize(developer, agentId, request);
  const answer = await developer('POST', '/v1/token', { code, agentId });
  if (answer.statusCode !== 201) throw new Error(`token: ${answer.body}`);
  const { grantToken, refreshToken, grantId, ...rest } = answer.json();
  return {
    agentId,
    did,
    grantToken: String(grantToken),
    refreshToken: String(refreshToken),
    grantId: String(grantId),
    ...rest,
  };
}

type Hold = 'suspend' | 'stop';

/** Keeps an agent from doing anything, by itself or with all others of the account. */
export const hold = (developer: Developer, way: Hold, agentId: string) =>
  way === 'stop'
    ? developer('POST', '/v1/me/stop', {})
    : developer('PATCH', `/v1/agents/${agentId}`, { status: 'suspended' });

export const letGo = (developer: Developer, way: Hold, agentId: string) =>
  way === 'stop'
    ? developer('POST', '/v1/me/resume', {})
    : developer('PATCH', `/v1/agents/${agentId}`, { status: 'active' });

/** Opens a session for a principal whom the developer has signed in. */
export const openSession = (developer: Developer, principalId = 'user_42', expiresIn?: string) =>
  developer('POST', '/v1/principal-sessions', { principalId, ...(expiresIn && { expiresIn }) });

/** The actions of the developer's chain, in order. */
export async function actionsOf(developer: Developer): Promise<string[]> {
  const { entries } = (await developer('GET', '/v1/audit/entries?limit=500')).json();
  return entries.map(({ action }: { action: string }) => action);
}

/** The entries of the developer's chain with this action, in order. */
export async function entriesOf(developer: Developer, action: string): Promise<Entry[]> {
  return (await developer('GET', `/v1/audit/entries?limit=500&action=${action}`)).json().entries;
}

/** The records of what a person was shown and decided, as the account exports them, each checked with its parts' hash. */
export async function consentsOf(developer: Developer, principalId: string) {
  const { body } = await developer('GET', `/v1/compliance/export/principal?principalId=${principalId}`);
  const records = body.split('\n').filter((line) => line.includes('"type":"consent_record"'));
  return records.map((line) => {
    const parts: string[] = JSON.parse(line).parts;
    const digests = parts.map((part) => createHash('sha256').update(part).digest());
    const members = parts.map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()));
    return {
      hash: createHash('sha256')
        .update(Buffer.from([2]))
        .update(Buffer.concat(digests))
        .digest('hex'),
      salts: members.map(([salt]) => String(salt)),
      ...Object.fromEntries(members.map(([, name, value]) => [name, value])),
    };
  });
}

interface Entry {
  readonly id: string;
  readonly seq: number;
  readonly hash: string;
  readonly timestamp: string;
  readonly grantId: string | null;
  readonly status: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Status, code and reason of a refusal, for tests of refusals. */
export function refusalOf(answer: LightMyRequestResponse): string {
  const { code, details } = answer.json();
  return [answer.statusCode, code, details?.reason].filter(Boolean).join(' ');
}

/** @see RFC 7636 §4.1 and §4.2 */
export function pkce() {
  const codeVerifier = randomBytes(32).toString('base64url');
  const codeChallenge = createHash('sha256').update(codeVerifier).digest('base64url');
  return { codeVerifier, asked: { codeChallenge, codeChallengeMethod: 'S256' } };
}

/** Header and payload of a token, which anybody can read. */
export function partsOf(token: string) {
  const [header, payload] = token.split('.').map((part) => Buffer.from(part, 'base64url').toString());
  return { header: JSON.parse(header ?? ''), payload: JSON.parse(payload ?? '') };
}

/** Any payload, signed with the service's own key. */
export async function signedBy({ keyRing }: Service, payload: object, header: object = {}): Promise<string> {
  const { alg, kid, sign } = keyRing.signer();
  const parts = [{ alg, kid, typ: 'at+jwt', ...header }, payload];
  const signed = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${signed}.${(await sign(Buffer.from(signed))).toString('base64url')}`;
}

export interface Listed {
  readonly id: string;
  readonly name: string;
}

/** The whole list, page by page. @param path with a query; @param member the array's name in an answer. */
export async function pagesOf(developer: Call, path: string, member: string): Promise<Listed[][]> {
  const pages: Listed[][] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const body: Record<string, Listed[]> & { nextCursor: string | null } = (
      await developer('GET', `${path}${cursor && `&cursor=${cursor}`}`)
    ).json();
    pages.push(body[member] ?? []);
    cursor = body.nextCursor;
  }
  return pages;
}

/** An agent in an answer to its developer, as people are to see it. */
export const profileOf = (agent: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.keys(AgentProfile.properties).map((member) => [
      member,
      agent[member.charAt(5).toLowerCase() + member.slice(6)], // without `agent`
    ]),
  );

/** Lets everything that a developer has in a table expire at this instant, without a step of the clock. */
export async function endNow(
  { db, clock }: Service,
  table: 'authRequests' | 'grants',
  { developerId }: Developer,
): Promise<void> {
  await db.updateTable(table).set({ expiresAt: clock() }).where('developerId', '=', developerId).execute();
}
