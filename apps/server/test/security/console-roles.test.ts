import type { RouteOptions } from 'fastify';
import { exportJWK, generateKeyPair } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import type { MemberRole } from '../../src/platform/capabilities.ts';
import type { EphemeralStore } from '../../src/platform/redis/ephemeral-store.ts';
import { memberOf } from '../app/console.ts';
import { nobodys, operationOf } from '../app/every-route.ts';
import { registerAgent } from '../app/flow.ts';
import { type Method, type Service, startApp } from '../app/start-app.ts';

let service: Service;
beforeAll(async () => {
  service = await startApp({ isShared: true });
  return service.stop;
});

/** What each role may do, by the capabilities that routes declare. */
const MAY: Readonly<Record<MemberRole, readonly string[]>> = {
  owner: ['read', 'export', 'operate', 'configure', 'people', 'govern', 'own'],
  admin: ['read', 'export', 'operate', 'configure', 'people'],
  operator: ['read', 'operate'],
  auditor: ['read', 'export'],
};

const routesOfKeys = () => service.routes.filter(({ config }) => config?.access === 'developer');

/** A request that the service looks at only after it has decided who may send it: its ids and its body are nobody's. */
function requestTo({ method, url, config }: RouteOptions) {
  const path = url.replace(/:(\w+)/g, (_, name: string) =>
    name === 'id' ? String(nobodys.agentId) : String(nobodys[name] ?? 'nobodys'),
  );
  const takesBody = ['POST', 'PUT', 'PATCH'].includes(String(method));
  // The answer to a HEAD of a live route ends.
  const asked = (config?.isLive ? 'HEAD' : method) as Method;
  return { method: asked, path, ...(takesBody && { body: { nobodysMember: true } }) };
}

/** Whether the refusal is one for the session, and none for the request. */
const isRefused = ({ statusCode, body }: { statusCode: number; body: string }) =>
  statusCode === 403 && /capability|No session of the console/.test(body);

/** A route whose HEAD has no body says who may not call it by its status alone. */
async function refusedOf(browser: Awaited<ReturnType<typeof memberOf>>, routes: readonly RouteOptions[]) {
  const refused: string[] = [];
  for (const route of routes) {
    const { method, path, body } = requestTo(route);
    const answer = await browser.call(method, path, body && { body });
    if (method === 'HEAD' ? answer.statusCode === 403 : isRefused(answer)) refused.push(operationOf(route));
  }
  return refused.sort();
}

describe.each(['owner', 'admin', 'operator', 'auditor'] as const)('a session of the role %s', (role) => {
  test('calls every route of its capabilities, and no other', async () => {
    const browser = await memberOf(service, await service.asDeveloper(), role);
    const routes = routesOfKeys();
    const closed = routes.filter(({ config }) => !MAY[role].includes(String(config?.capability)));

    // `DELETE /v1/sso/config` and others without an id act, so each test has an account of its own.
    expect(await refusedOf(browser, routes)).toEqual(closed.map(operationOf).sort());
    expect(routes.length).toBeGreaterThan(220);
    expect(closed.length).toBeGreaterThan(20);
  });

  test('of a sandbox makes the tour, if it may operate', async () => {
    const browser = await memberOf(service, await service.asDeveloper({ mode: 'sandbox' }), role);
    const never = routesOfKeys().filter(({ config }) => config?.capability === 'never');
    const tour = never.filter(({ config }) => config?.sandboxCapability !== undefined);
    const open = MAY[role].includes('operate') ? tour : [];

    const refused = await refusedOf(browser, never);

    expect(tour.map(operationOf).sort()).toEqual([
      'POST /v1/authorize',
      'POST /v1/authorize/:id/approve',
      'POST /v1/authorize/:id/code',
      'POST /v1/authorize/:id/deny',
      'POST /v1/authorize/:id/link',
      'POST /v1/enforce',
      'POST /v1/enforce/tools',
      'POST /v1/token',
    ]);
    expect(refused).toEqual(
      never
        .filter((route) => !open.includes(route))
        .map(operationOf)
        .sort(),
    );
  });
});

describe('what a body asks for', () => {
  test.each([
    { role: 'admin', body: { name: 'Acme' }, status: 200 },
    { role: 'admin', body: { consentMode: 'passkey' }, status: 403 },
    { role: 'admin', body: { name: 'Acme', capsMode: 'warn' }, status: 403 },
    { role: 'owner', body: { capsMode: 'warn' }, status: 200 },
    { role: 'operator', body: { name: 'Acme' }, status: 403 },
  ] as const)('decides who may change the account: $role $body', async ({ role, body, status }) => {
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    const browser = await memberOf(service, acme, role);
    const before = (await acme('GET', '/v1/me')).json();

    const answer = await browser.call('PATCH', '/v1/me', { body });

    expect(answer.statusCode).toBe(status);
    const { updatedAt: _, ...after } = (await acme('GET', '/v1/me')).json();
    if (status === 403) expect(before).toMatchObject(after);
    else expect(after).toMatchObject(body);
  });

  test('decides who may make and revoke a key', async () => {
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    const [admin, owner] = [
      await memberOf(service, acme, 'admin'),
      await memberOf(service, await service.asDeveloper({ mode: 'sandbox' })),
    ];
    const make = (browser: typeof admin, body: object) => browser.call('POST', '/v1/keys', { body });
    const full = (await acme('POST', '/v1/keys', { name: 'other' })).json().keyId;

    const answers = [
      await make(admin, { name: 'worker', role: 'runtime' }),
      await make(admin, { name: 'worker', role: 'full' }),
      await make(admin, { name: 'worker' }),
      await make(owner, { name: 'worker' }),
      await admin.call('DELETE', `/v1/keys/${full}`),
    ];
    const { keyId } = answers[0]?.json() ?? {};
    const revoked = await admin.call('DELETE', `/v1/keys/${keyId}`);

    expect(answers.map(({ statusCode }) => statusCode)).toEqual([201, 403, 403, 201, 403]);
    expect(revoked.statusCode).toBe(204);
  });
});

test('an operator suspends an agent, and gives it neither a key of their own nor more scopes', async () => {
  const acme = await service.asDeveloper();
  const { agentId } = await registerAgent(acme);
  const { publicKey } = await generateKeyPair('ES256');

  const operator = await memberOf(service, acme, 'operator');
  const send = async (body: object) =>
    (await operator.call('PATCH', `/v1/agents/${agentId}`, { body })).statusCode;

  expect(await send({ publicKeyJwk: await exportJWK(publicKey) })).toBe(403);
  expect(await send({ scopes: ['calendar:read', 'email:send'] })).toBe(403);
  expect(await send({ status: 'suspended' })).toBe(200);
});

test('what a member is charged for lies in one slot of a Redis Cluster a bill', async () => {
  const bills: string[][] = [];
  const storeAs = (store: EphemeralStore): EphemeralStore => ({
    ...store,
    charge: (asked) => {
      bills.push(...asked.map(({ charges }) => charges.map(({ key }) => key)));
      return store.charge(asked);
    },
  });
  const watched = await startApp({ storeAs });
  const ada = await memberOf(watched, await watched.asDeveloper({ mode: 'sandbox' }));
  bills.length = 0;

  const { statusCode } = await ada.call('GET', '/v1/compliance/export/grants');

  const tags = bills.map((keys) => new Set(keys.map((key) => /\{(.*?)\}/.exec(key)?.[1])).size);
  expect(statusCode).toBe(200);
  for (const of of ['{session:', '{developer:'])
    expect(bills.flat().some((key) => key.includes(of))).toBe(true);
  expect(tags.every((count) => count <= 1)).toBe(true);
});
