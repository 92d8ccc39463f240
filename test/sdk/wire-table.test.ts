import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Behest, BehestAdmin, type Pkce } from '@behest/sdk';
import { createTestIssuer, mockBehest } from '@behest/sdk/testing';
import { createVerifier } from '@behest/sdk/verify';
import Schema from 'typebox/schema';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { readDescription } from '../../scripts/generate/description/resolve.ts';

afterEach(() => void vi.unstubAllEnvs());

const agent = { agentId: 'ag_1', scopes: ['calendar:read'] };
const pkce: Omit<Pkce, 'codeVerifier'> = { codeChallenge: 'c'.repeat(43), codeChallengeMethod: 'S256' };

/**
 * The calls of applications that were written for other clients of such services: their names and the order of their
 * arguments, which the compiler compares with those of this SDK, and the requests that they mean.
 */
const CALLS: Readonly<Record<string, (client: Behest) => Promise<unknown>>> = {
  'POST /v1/authorize': (client) =>
    client.authorize({ ...agent, userId: 'user_1', ...pkce, expiresIn: '24h' }),
  'GET /v1/authorize/areq_1': (client) => client.authorizations.get('areq_1'),
  'DELETE /v1/authorize/areq_1': (client) => client.authorizations.cancel('areq_1'),
  'POST /v1/keys/rotate': (client) => client.rotateKey(),
  'GET /v1/me': (client) => client.me(),
  'PATCH /v1/me': (client) => client.updateSettings({ name: 'Acme' }),
  'GET /v1/keys': (client) => client.keys.list(),
  'POST /v1/keys': (client) => client.keys.create({ name: 'worker', role: 'runtime' }),
  'DELETE /v1/keys/key_1': (client) => client.keys.revoke('key_1'),
  'POST /v1/agents': (client) =>
    client.agents.register({ name: 'bot', description: 'Reads.', scopes: ['a:read'] }),
  'GET /v1/agents/ag_1': (client) => client.agents.get('ag_1'),
  'GET /v1/agents': (client) => client.agents.list(),
  'PATCH /v1/agents/ag_1': (client) => client.agents.update('ag_1', { description: 'Reads and pays.' }),
  'DELETE /v1/agents/ag_1': (client) => client.agents.delete('ag_1'),
  'GET /v1/grants/grnt_1': (client) => client.grants.get('grnt_1'),
  'GET /v1/grants?status=active': (client) => client.grants.list({ status: 'active' }),
  'DELETE /v1/grants/grnt_1': (client) => client.grants.revoke('grnt_1'),
  'GET /v1/grants/grnt_1/tokens': (client) => client.grants.tokens('grnt_1'),
  'POST /v1/grants/delegate': (client) =>
    client.grants.delegate({
      parentGrantToken: 't',
      subAgentId: 'ag_2',
      scopes: ['a:read'],
      expiresIn: '1h',
    }),
  'POST /v1/token': (client) =>
    client.tokens.exchange({ code: 'c', agentId: 'ag_1', codeVerifier: 'v'.repeat(43) }),
  'POST /v1/token/refresh': (client) => client.tokens.refresh({ refreshToken: 'r', agentId: 'ag_1' }),
  'POST /v1/tokens/verify': (client) => client.tokens.verify('t'),
  'POST /v1/tokens/introspect': (client) => client.tokens.introspect('t'),
  'POST /v1/tokens/revoke': (client) => client.tokens.revoke('tok_1'),
  'POST /v1/audit/log': (client) =>
    client.audit.log({
      agentId: 'ag_1',
      agentDid: 'did:x',
      grantId: 'grnt_1',
      principalId: 'u',
      action: 'a.b',
    }),
  'GET /v1/audit/entries?agentId=ag_1': (client) => client.audit.list({ agentId: 'ag_1' }),
  'GET /v1/audit/alog_1': (client) => client.audit.get('alog_1'),
  'GET /v1/audit/head': (client) => client.audit.head(),
  'GET /v1/audit/verify': (client) => client.audit.verify(),
  'POST /v1/audit/erasures': (client) => client.audit.erase({ principalId: 'u' }),
  'GET /v1/audit/erasures/erasure_1': (client) => client.audit.erasure('erasure_1'),
  'POST /v1/policies': (client) =>
    client.policies.create({ name: 'no nights', effect: 'deny', scopes: ['a:b'] }),
  'GET /v1/policies': (client) => client.policies.list(),
  'GET /v1/policies/pol_1': (client) => client.policies.get('pol_1'),
  'PATCH /v1/policies/pol_1': (client) => client.policies.update('pol_1', { priority: 1 }),
  'DELETE /v1/policies/pol_1': (client) => client.policies.delete('pol_1'),
  'POST /v1/anomalies/detect': (client) => client.anomalies.detect(),
  'GET /v1/anomalies?unacknowledged=true': (client) => client.anomalies.list({ unacknowledged: true }),
  'PATCH /v1/anomalies/anm_1/acknowledge': (client) => client.anomalies.acknowledge('anm_1'),
  'GET /v1/grants/grnt_1/receipt': (client) => client.grants.receipt('grnt_1'),
  'GET /v1/compliance/summary': (client) => client.compliance.getSummary(),
  'GET /v1/compliance/export/grants': (client) => client.compliance.exportGrants(),
  'GET /v1/compliance/export/audit': (client) => client.compliance.exportAudit(),
  'GET /v1/compliance/evidence-pack': (client) => client.compliance.evidencePack(),
  'POST /v1/webhooks': (client) =>
    client.webhooks.create({ url: 'https://a.example', events: ['grant.revoked'] }),
  'GET /v1/webhooks': (client) => client.webhooks.list(),
  'GET /v1/webhooks/wh_1': (client) => client.webhooks.get('wh_1'),
  'DELETE /v1/webhooks/wh_1': (client) => client.webhooks.delete('wh_1'),
  'POST /v1/webhooks/wh_1/rotate-secret': (client) => client.webhooks.rotateSecret('wh_1'),
  'POST /v1/webhooks/wh_1/test': (client) => client.webhooks.test('wh_1'),
  'GET /v1/webhooks/wh_1/deliveries': (client) => client.webhooks.deliveries('wh_1'),
  'GET /v1/webhooks/wh_1/deliveries/del_1': (client) => client.webhooks.delivery('wh_1', 'del_1'),
  'POST /v1/webhooks/wh_1/recover': (client) =>
    client.webhooks.recover('wh_1', { since: '2026-01-01T00:00:00Z' }),
  'POST /v1/webhooks/wh_1/deliveries/del_1/redeliver': (client) => client.webhooks.redeliver('wh_1', 'del_1'),
  'POST /v1/vault/credentials': (client) =>
    client.vault.store({ principalId: 'u', service: 'github', accessToken: 'a' }),
  'GET /v1/vault/credentials': (client) => client.vault.list(),
  'GET /v1/vault/credentials/vault_1': (client) => client.vault.get('vault_1'),
  'DELETE /v1/vault/credentials/vault_1': (client) => client.vault.delete('vault_1'),
  'POST /v1/vault/credentials/exchange': (client) => client.vault.exchange('t', { service: 'github' }),
  'POST /v1/budget/allocate': (client) =>
    client.budgets.allocate({ grantId: 'grnt_1', initialBudget: 100, currency: 'USD' }),
  'POST /v1/budget/debit': (client) =>
    client.budgets.debit({ grantId: 'grnt_1', amount: 25, description: 'one' }),
  'GET /v1/budget/balance/grnt_1': (client) => client.budgets.balance('grnt_1'),
  'GET /v1/budget/transactions/grnt_1': (client) => client.budgets.transactions('grnt_1'),
  'GET /v1/usage': (client) => client.usage.current(),
  'GET /v1/usage/history?days=7': (client) => client.usage.history({ days: 7 }),
  'POST /v1/domains': (client) => client.domains.create({ domain: 'agents.example.com' }),
  'GET /v1/domains': (client) => client.domains.list(),
  'POST /v1/domains/dom_1/verify': (client) => client.domains.verify('dom_1'),
  'DELETE /v1/domains/dom_1': (client) => client.domains.delete('dom_1'),
  'GET /v1/billing/subscription': (client) => client.billing.getSubscription(),
  'POST /v1/billing/checkout': (client) =>
    client.billing.createCheckout({
      plan: 'pro',
      successUrl: 'https://a.example',
      cancelUrl: 'https://a.example',
    }),
  'POST /v1/billing/portal': (client) => client.billing.createPortal({ returnUrl: 'https://a.example' }),
  'POST /v1/scim/tokens': (client) => client.scim.createToken({ label: 'Okta' }),
  'GET /v1/scim/tokens': (client) => client.scim.listTokens(),
  'DELETE /v1/scim/tokens/scimtok_1': (client) => client.scim.revokeToken('scimtok_1'),
  'GET /scim/v2/Users': (client) => client.scim.listUsers({}, { scimToken: 's' }),
  'POST /scim/v2/Users': (client) => client.scim.users('s').create({ userName: 'ada' }),
  'POST /v1/sso/connections': (client) => client.sso.createConnection({ name: 'Okta', protocol: 'oidc' }),
  'GET /v1/sso/connections': (client) => client.sso.listConnections(),
  'GET /v1/sso/connections/sso_1': (client) => client.sso.getConnection('sso_1'),
  'PATCH /v1/sso/connections/sso_1': (client) => client.sso.updateConnection('sso_1', { name: 'Okta' }),
  'DELETE /v1/sso/connections/sso_1': (client) => client.sso.deleteConnection('sso_1'),
  'POST /v1/sso/connections/sso_1/test': (client) => client.sso.testConnection('sso_1'),
  'POST /v1/sso/metadata': (client) => client.sso.readMetadata({ metadataUrl: 'https://idp.test/metadata' }),
  'POST /v1/sso/enforce': (client) => client.sso.setEnforcement({ enforce: true }),
  'GET /v1/sso/sessions': (client) => client.sso.listSessions(),
  'DELETE /v1/sso/sessions/ssosess_1': (client) => client.sso.revokeSession('ssosess_1'),
  'GET /sso/login?org=dev_1&domain=acme.example': (client) => client.sso.getLoginUrl('dev_1', 'acme.example'),
  'POST /sso/callback/oidc': (client) => client.sso.handleOidcCallback({ code: 'c', state: 's' }),
  'POST /sso/callback/saml': (client) =>
    client.sso.handleSamlCallback({ SAMLResponse: 'x', RelayState: 's' }),
  'POST /sso/callback/ldap': (client) =>
    client.sso.handleLdapCallback({ username: 'ada', password: 'p', connectionId: 'sso_1', org: 'dev_1' }),
  'POST /v1/sso/config': (client) =>
    client.sso.createConfig({
      ...{
        issuerUrl: 'https://i.example',
        clientId: 'c',
        clientSecret: 's',
        redirectUri: 'https://a.example',
      },
    }),
  'GET /v1/sso/config': (client) => client.sso.getConfig(),
  'DELETE /v1/sso/config': (client) => client.sso.deleteConfig(),
  'GET /sso/callback?code=c&state=s': (client) => client.sso.handleCallback({ code: 'c', state: 's' }),
  'POST /v1/principal-sessions': (client) =>
    client.principalSessions.create({ principalId: 'u', expiresIn: '1h' }),
  'GET /v1/principal/grants': (client) => client.principal('s').grants(),
  'GET /v1/principal/audit': (client) => client.principal('s').audit(),
  'DELETE /v1/principal/grants/grnt_1': (client) => client.principal('s').revoke('grnt_1'),
  'DELETE /v1/principal/grants': (client) => client.principal('s').revokeAll(),
  'DELETE /v1/principal/session': (client) => client.principal('s').end(),
  'POST /v1/webauthn/register/options': (client) => client.webauthn.registerOptions({ principalId: 'u' }),
  'GET /v1/webauthn/credentials?principalId=u': (client) => client.webauthn.listCredentials('u'),
  'DELETE /v1/webauthn/credentials/cred_1': (client) => client.webauthn.deleteCredential('cred_1'),
  'GET /v1/credentials/vc_1': (client) => client.credentials.get('vc_1'),
  'GET /v1/credentials': (client) => client.credentials.list(),
  'POST /v1/credentials/verify': (client) => client.credentials.verify('jwt'),
  'POST /v1/credentials/present': (client) => client.credentials.present({ sdJwt: 'x~' }),
  'POST /v1/credentials': (client) => client.credentials.issue({ grantId: 'grnt_1', format: 'vc-jwt' }),
  'POST /v1/credentials/vc_1/revoke': (client) => client.credentials.revoke('vc_1'),
  'GET /v1/passport/p_1': (client) => client.passports.get('p_1'),
  'GET /v1/passports?agentId=ag_1': (client) => client.passports.list({ agentId: 'ag_1' }),
  'POST /v1/passport/p_1/revoke': (client) => client.passports.revoke('p_1'),
  'GET /v1/decisions': (client) => client.decisions.list(),
  'GET /v1/decisions/dec_1': (client) => client.decisions.get('dec_1'),
  'POST /v1/decisions/dec_1/cancel': (client) => client.decisions.cancel('dec_1'),
  'POST /v1/decisions/dec_1/grants': (client) => client.decisions.grants('dec_1', { grantToken: 't' }),
  'PUT /v1/decisions/cases/case-7': (client) => client.decisions.setCaseVersion('case-7', '2'),
};

/** The bodies of calls whose arguments come one by one, or under another name. */
const BODIES: Readonly<Record<string, object>> = {
  'POST /v1/authorize': { ...agent, principalId: 'user_1', ...pkce, expiresIn: '24h' },
  'POST /v1/keys/rotate': { graceSeconds: 300 },
  'POST /v1/tokens/verify': { token: 't' },
  'POST /v1/tokens/introspect': { token: 't' },
  'POST /v1/tokens/revoke': { jti: 'tok_1' },
  'POST /v1/credentials/verify': { credential: 'jwt' },
  'POST /v1/vault/credentials/exchange': { service: 'github' },
  'PUT /v1/decisions/cases/case-7': { caseVersion: '2' },
};

describe('a call of an application that moved here', () => {
  test.each(Object.entries(CALLS))('sends %s', async (wanted, call) => {
    const sent: { line: string; body: unknown }[] = [];
    const fetch = async (url: string, init: RequestInit) => {
      const body = init.body === undefined ? undefined : JSON.parse(String(init.body));
      sent.push({ line: `${init.method} ${url.replace('https://auth.example.com', '')}`, body });
      return Response.json({ apiKey: 'bh_live_2' });
    };
    vi.stubEnv('BEHEST_API_KEY', 'bh_live_1');
    vi.stubEnv('BEHEST_URL', 'https://auth.example.com/');

    await call(new Behest({ fetch }));

    expect(sent.map(({ line }) => line)).toEqual([wanted]);
    if (BODIES[wanted]) expect(sent[0]?.body).toEqual(BODIES[wanted]);
  });

  test('and an operator counts the accounts, and sets a plan', async () => {
    const sent: string[] = [];
    const fetch = async (url: string, init: RequestInit) => {
      sent.push(`${init.method} ${new URL(url).pathname}`);
      return Response.json({});
    };
    const admin = new BehestAdmin({ adminKey: 'operator', baseUrl: 'https://auth.example.com', fetch });

    await admin.stats();
    await admin.developers.setPlan('dev_1', { plan: 'pro' });

    expect(sent).toEqual(['GET /v1/admin/stats', 'PATCH /v1/admin/developers/dev_1/plan']);
  });
});

const { paths } = readDescription(readFileSync(join(import.meta.dirname, '../../openapi.json'), 'utf8'));

test('each kind of token of a test issuer is taken, or refused with the reason for which it was made', async () => {
  const issuer = await createTestIssuer();
  const verifier = createVerifier(issuer.options);
  const reasonOf = async (token: string) => {
    const result = await verifier.detailed(token);
    return result.ok ? 'taken' : result.reason;
  };

  expect({
    usual: await reasonOf(await issuer.signGrantToken()),
    legacy: await reasonOf(await issuer.legacy()),
    expired: await reasonOf(await issuer.expired()),
    tampered: await reasonOf(await issuer.tampered()),
    otherDeveloper: await reasonOf(await issuer.otherDeveloper()),
    sandbox: await reasonOf(await issuer.sandbox()),
    ofAnother: await reasonOf(await (await createTestIssuer()).signGrantToken()),
  }).toEqual({
    ...{ usual: 'taken', legacy: 'taken', expired: 'expired', tampered: 'bad_signature' },
    ...{ otherDeveloper: 'developer_mismatch', sandbox: 'sandbox_not_allowed', ofAnother: 'bad_signature' },
  });
  const allowing = createVerifier({ ...issuer.options, allowSandbox: true });
  expect((await allowing.verify(await issuer.sandbox({ scp: ['a:b'] }))).scopes).toEqual(['a:b']);
});

test('the service in memory gives a grant, and takes it away', async () => {
  const { behest, calls, issuer } = await mockBehest();
  const agent = await behest.agents.register({ name: 'Reader', scopes: ['calendar:read'] });
  const { code = '' } = await behest.authorize({
    agentId: agent.id,
    userId: 'ada',
    scopes: ['calendar:read'],
  });
  const { grantToken, grantId } = await behest.tokens.exchange({ code, agentId: agent.id });

  expect(await behest.verify(grantToken)).toMatchObject({ principalId: 'ada', grantId, agentId: agent.id });
  expect(await behest.grants.verify(grantToken)).toEqual(await behest.verify(grantToken));
  await behest.grants.revoke(grantId);

  expect(await behest.tokens.verify(grantToken)).toEqual({ valid: false, reason: 'revoked' });
  await expect(behest.grants.verify(grantToken)).rejects.toMatchObject({ reason: 'revoked' });
  await expect(behest.tokens.exchange({ code, agentId: agent.id })).rejects.toMatchObject({
    statusCode: 404,
  });
  await expect(behest.domains.list()).rejects.toMatchObject({ statusCode: 501, code: 'NOT_SUPPORTED' });
  expect(calls.slice(0, 3).map(({ route }) => route)).toEqual([
    ...['POST /v1/agents', 'POST /v1/authorize', 'POST /v1/token'],
  ]);
  expect(issuer.developerId).toBe(agent.developerId);
});

test('its answers are those of the description', async () => {
  const { behest: _, fetch, issuer } = await mockBehest();
  const faults: string[] = [];
  const answered = new Set<string>();
  const behest = new Behest({
    ...{ apiKey: 'bh_test_mock', baseUrl: issuer.issuer, developerId: issuer.developerId, maxRetries: 0 },
    async fetch(url, init) {
      const answer = await fetch(url, init);
      const path = new URL(url).pathname.replace(/(?<=\/)(?:ag|grnt)_[^/]+/, '{id}');
      const verb = String(init.method).toLowerCase();
      const schema = paths[path]?.[verb]?.responses?.[answer.status]?.content?.['application/json']?.schema;
      const value: unknown = answer.status === 204 ? undefined : await answer.clone().json();
      const route = `${verb} ${path} ${answer.status}`;
      answered.add(route);
      if (!paths[path]?.[verb]?.responses?.[answer.status]) faults.push(`${route} is not described`);
      else if (schema && !Schema.Check(schema, value)) faults.push(`${route}: ${JSON.stringify(value)}`);
      return answer;
    },
  });
  const agent = await behest.agents.register({ name: 'Reader', scopes: ['calendar:read'] });
  await behest.agents.list();
  await behest.agents.suspend(agent.id);
  const { code = '' } = await behest.authorize({
    agentId: agent.id,
    userId: 'ada',
    scopes: ['calendar:read'],
  });
  const { grantToken, grantId } = await behest.tokens.exchange({ code, agentId: agent.id });
  await behest.tokens.verify(grantToken);
  await behest.grants.verify(grantToken);
  await behest.grants.get(grantId);
  await behest.grants.list();
  await behest.grants.revoke(grantId);
  await behest.grants.get(grantId);
  await behest.tokens.verify(grantToken);
  await behest.agents.delete(agent.id);
  await behest.agents.get('ag_none').catch(() => undefined);

  expect(faults).toEqual([]);
  expect(answered.size).toBeGreaterThan(11);
});
