import { describe, expect, test } from 'vitest';
import {
  authorize,
  grantTo,
  partsOf,
  refusalOf,
  registerAgent,
  sharedSandbox,
} from '../../../../test/app/flow.ts';
import { personOn } from '../../../../test/app/person.ts';
import type { Developer } from '../../../../test/app/start-app.ts';
import { shownKey } from '../authorization/index.ts';

const sandbox = sharedSandbox();
const scopes = ['tool:acme_pay:write', 'tool:acme_mail:read', 'calendar:read'];

async function putManifest(developer: Developer, connector: string, tools: object = { send: 'write' }) {
  const manifest = { $schema: 'x', connector, version: '3', tools };
  return String((await developer('PUT', `/v1/manifests/${connector}`, manifest)).json().sha256);
}

const pinned = (sha256: string) => Buffer.from(sha256, 'hex').toString('base64url');
const grantClaim = (token: string) => partsOf(token).payload['urn:service:grant'];

describe('the manifests under which a person agrees', () => {
  test('are in the grant and its tokens, and stay those when the manifest changes', async () => {
    const { acme } = await sandbox();
    const sha256 = await putManifest(acme, 'acme_pay');

    const { grantId, grantToken, refreshToken, agentId } = await grantTo(acme, { scopes });
    await putManifest(acme, 'acme_pay', { send: 'write', purge: 'admin' });
    const refreshed = (await acme('POST', '/v1/token/refresh', { refreshToken, agentId })).json();

    for (const token of [grantToken, refreshed.grantToken]) {
      expect(grantClaim(token)).toMatchObject({
        manifests: { acme_pay: pinned(sha256) },
        manifest_mode: 'warn',
      });
    }
    const grant = (await acme('GET', `/v1/grants/${grantId}`)).json();
    expect(grant.manifests).toEqual([{ connector: 'acme_pay', version: '3', sha256 }]);
    expect((await acme('POST', '/v1/tokens/verify', { token: refreshed.grantToken })).json().valid).toBe(
      true,
    );
  });

  test('are inherited by a grant that is delegated', async () => {
    const { acme } = await sandbox();
    const sha256 = await putManifest(acme, 'acme_pay');
    const { grantToken } = await grantTo(acme, { scopes });
    const { agentId: subAgentId } = await registerAgent(acme, 'Helper');
    await putManifest(acme, 'acme_pay', { send: 'read' });

    const body = { parentGrantToken: grantToken, subAgentId, scopes: ['tool:acme_pay:read'] };
    const child = (await acme('POST', '/v1/grants/delegate', body)).json();

    expect(grantClaim(child.grantToken).manifests).toEqual({ acme_pay: pinned(sha256) });
    expect((await acme('GET', `/v1/grants/${child.grantId}`)).json().manifests).toEqual([
      { connector: 'acme_pay', version: '3', sha256 },
    ]);
  });

  test.each([
    ['the developer has turned pinning off', { manifestPinning: 'off' }, scopes],
    ['no scope names a connector', {}, ['calendar:read', 'tool:*:read']],
  ])('are in no token where %s', async (_, settings, asked) => {
    const { acme } = await sandbox();
    await putManifest(acme, 'acme_pay');
    if (Object.keys(settings).length > 0) await acme('PATCH', '/v1/me', settings);

    const { grantToken } = await grantTo(acme, { scopes: asked });

    expect(grantClaim(grantToken)).not.toHaveProperty('manifests');
    expect(grantClaim(grantToken)).not.toHaveProperty('manifest_mode');
  });

  test('are shown to the person, and those of the approved scopes are kept', async () => {
    const { acme, service } = await sandbox();
    const sha256 = await putManifest(acme, 'acme_pay');
    const mail = await putManifest(acme, 'acme_mail');
    const { agentId } = await registerAgent(acme);
    const { id, consentUrl } = await authorize(acme, agentId, {
      scopes: [...scopes, 'tool:unknown:read'],
      autoApprove: false,
    });
    const person = personOn(service);

    const { manifests } = (await person.open(consentUrl)).json().request;
    const approved = await person.approve(id, {
      scopes: ['tool:acme_mail:read'],
      manifests: manifests.map(({ connector, sha256 }: { connector: string; sha256: string }) => ({
        connector,
        sha256,
      })),
    });
    const token = (await acme('POST', '/v1/token', { code: approved.json().code, agentId })).json();

    expect(manifests).toEqual([
      { connector: 'acme_pay', version: '3', sha256, pinned: true },
      { connector: 'acme_mail', version: '3', sha256: mail, pinned: true },
      { connector: 'unknown', version: null, sha256: null, pinned: false },
    ]);
    expect(grantClaim(token.grantToken).manifests).toEqual({ acme_mail: pinned(mail) });
  });

  test.each([
    ['has another version', (acme: Developer) => putManifest(acme, 'acme_pay', { send: 'read' })],
    ['is gone', (acme: Developer) => acme('DELETE', '/v1/manifests/acme_pay')],
  ])('are looked at again when one of them %s meanwhile', async (_, change) => {
    const { acme, service } = await sandbox();
    const sha256 = await putManifest(acme, 'acme_pay');
    const { agentId } = await registerAgent(acme);
    const { id, consentUrl } = await authorize(acme, agentId, { scopes, autoApprove: false });
    const person = personOn(service);
    await person.open(consentUrl);
    await change(acme);

    const refused = await person.approve(id, { manifests: [{ connector: 'acme_pay', sha256 }] });
    const { manifests } = (await person.see(id)).json();
    const [{ connector, sha256: current }] = manifests;
    const approved = await person.approve(id, { manifests: [{ connector, sha256: current }] });

    expect([refusalOf(refused), refused.json().details]).toEqual(['409 CONFLICT', { field: 'manifests' }]);
    expect(approved.statusCode).toBe(200);
  });

  test('are those that the service showed, for a page that says none', async () => {
    const { acme, service } = await sandbox();
    const sha256 = await putManifest(acme, 'acme_pay');
    const { agentId } = await registerAgent(acme);
    const { id, consentUrl } = await authorize(acme, agentId, { scopes, autoApprove: false });
    const person = personOn(service);
    await person.open(consentUrl);
    await putManifest(acme, 'acme_pay', { send: 'write', purge: 'admin' });

    const refused = [await person.approve(id), await person.approve(id, { manifests: [] })];
    await putManifest(acme, 'acme_mail');
    const shown = await person.see(id);
    const approved = await person.approve(id);
    const token = (await acme('POST', '/v1/token', { code: approved.json().code, agentId })).json();

    expect(refused.map(refusalOf)).toEqual(['409 CONFLICT', '409 CONFLICT']);
    const [pay, mail] = shown.json().manifests;
    expect(pay.sha256).not.toBe(sha256);
    expect(grantClaim(token.grantToken).manifests).toEqual({
      acme_pay: pinned(pay.sha256),
      acme_mail: pinned(mail.sha256),
    });
  });

  test('have to be looked at again where the store has lost what was shown', async () => {
    const { acme, service } = await sandbox();
    await putManifest(acme, 'acme_pay');
    const { agentId } = await registerAgent(acme);
    const { id, consentUrl } = await authorize(acme, agentId, { scopes, autoApprove: false });
    const person = personOn(service);
    await person.open(consentUrl);
    await service.store.remove(shownKey(id));

    const refused = await person.approve(id);
    await person.see(id);

    expect(refusalOf(refused)).toBe('409 CONFLICT');
    expect((await person.approve(id)).statusCode).toBe(200);
  });

  test('have room in every token of a request that the service takes', async () => {
    const { acme } = await sandbox();
    const connectors = Array.from({ length: 20 }, (_, n) => `connector_${n}_${'x'.repeat(60)}`);
    for (const connector of connectors) await putManifest(acme, connector);
    const asked = connectors.map((connector) => `tool:${connector}:read`);

    const { grantToken } = await grantTo(acme, { scopes: asked });

    expect(Object.keys(grantClaim(grantToken).manifests)).toEqual(connectors);
  });
});
