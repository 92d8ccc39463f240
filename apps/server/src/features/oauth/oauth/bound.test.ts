import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { refusalOf, registerAgent } from '../../../../test/app/flow.ts';
import { newClient } from '../../../../test/app/oauth.ts';
import { newProver } from '../../../../test/app/prover.ts';
import { besideClients, followLink, LISTENING, newServer } from '../../../../test/app/published.ts';
import { type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';
import { storeCredential } from '../../../../test/app/vault.ts';

const BASE = 'https://auth.test';
const EXCHANGE = '/v1/vault/credentials/exchange';
const DELEGATE = '/v1/grants/delegate';

let service: Service;
beforeAll(async () => {
  service = await startApp({ env: { ...besideClients, DPOP_NONCE: 'false' }, isShared: true });
});
afterAll(() => service.stop());

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** A client of a developer, its key, and a way to get a token, bound or not. */
async function clientOf(acme: Developer, on = service) {
  const { clientId } = await newClient(acme, { authMethod: 'none', redirectUris: [LISTENING] });
  const prover = await newProver(on, BASE);
  const sendToken = (form: Record<string, string>, headers: Record<string, string> = {}) =>
    on.app.inject({
      method: 'POST',
      url: '/oauth/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      payload: new URLSearchParams({ client_id: clientId, ...form }).toString(),
    });
  async function codeFor(parameters: Record<string, string> = {}) {
    const { back, verifier } = await followLink(on, clientId, parameters);
    const code = back?.searchParams.get('code') ?? '';
    return { grant_type: 'authorization_code', code, redirect_uri: LISTENING, code_verifier: verifier };
  }
  async function boundToken(parameters: Record<string, string> = {}): Promise<Tokens> {
    const answer = await sendToken(await codeFor(parameters), { dpop: await prover.proof() });
    expect(answer.statusCode, answer.body).toBe(200);
    return answer.json();
  }
  return { clientId, prover, sendToken, codeFor, boundToken };
}

describe('14 §8 a resource that takes bound tokens alone', () => {
  test('gets no other token: by a code, which stays good, by a refresh, or by a delegation', async () => {
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    const { resource, id } = await newServer(acme);
    const { prover, sendToken, codeFor, boundToken } = await clientOf(acme);
    const before = (await sendToken(await codeFor({ resource }))).json();
    await acme('PATCH', `/v1/resources/${id}`, { dpopRequired: true });
    const form = await codeFor({ resource });
    const refresh = { grant_type: 'refresh_token', refresh_token: before.refresh_token };

    expect((await sendToken(form)).json().error).toBe('invalid_dpop_proof');
    expect((await sendToken(refresh)).json().error).toBe('invalid_dpop_proof');
    const delegation = {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: before.access_token,
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    };
    const other = await clientOf(acme);
    expect((await other.sendToken(delegation)).json().error).toBe('invalid_dpop_proof');

    expect((await sendToken(form, { dpop: await prover.proof() })).json().token_type).toBe('DPoP');
    expect((await sendToken(refresh, { dpop: await prover.proof() })).json().token_type).toBe('DPoP');
    const proof = await other.prover.proof();
    expect((await other.sendToken(delegation, { dpop: proof })).json().token_type).toBe('DPoP');
    expect((await boundToken({ resource })).access_token).toMatch(/^ey/);
  });

  test('changes nothing for tokens of other resources, or of the service itself', async () => {
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    await newServer(acme, { dpopRequired: true });
    const { resource } = await newServer(acme);
    const { sendToken, codeFor } = await clientOf(acme);

    expect((await sendToken(await codeFor({ resource }))).json().token_type).toBe('Bearer');
    expect((await sendToken(await codeFor())).json().token_type).toBe('Bearer');
  });
});

describe('14 §6 a bound token at the vault', () => {
  async function world(on = service) {
    const acme = await on.asDeveloper({ mode: 'sandbox' });
    await storeCredential(acme, { principalId: 'sandbox-user' });
    const client = await clientOf(acme, on);
    const { access_token: token } = await client.boundToken({ scope: 'github:read' });
    const exchange = (headers: Record<string, string>) =>
      on.app.inject({ method: 'POST', url: EXCHANGE, headers, body: { service: 'github' } });
    return { ...client, acme, token, exchange };
  }

  test('O26 is taken with a proof of its key, once', async () => {
    const { token, exchange, prover } = await world();
    const authorization = `DPoP ${token}`;
    const dpop = await prover.proofAt(EXCHANGE, token);

    const first = await exchange({ authorization, dpop });
    const again = await exchange({ authorization, dpop });

    expect([first.statusCode, first.json().accessToken]).toEqual([200, 'upstream-access-1']);
    expect(refusalOf(again)).toBe('401 UNAUTHORIZED');
    expect(again.headers['www-authenticate']).toBe('DPoP error="invalid_token", algs="ES256 RS256 EdDSA"');
  });

  test('O26 is refused as a bearer, without a proof, and with a proof that does not fit', async () => {
    const { token, exchange, prover } = await world();
    const stranger = await newProver(service, BASE);
    const authorization = `DPoP ${token}`;
    const wrong: Record<string, Record<string, string>> = {
      'as a bearer': { authorization: `Bearer ${token}`, dpop: await prover.proofAt(EXCHANGE, token) },
      'no proof': { authorization },
      'another key': { authorization, dpop: await stranger.proofAt(EXCHANGE, token) },
      'another token': { authorization, dpop: await prover.proofAt(EXCHANGE, `${token}x`) },
      'another address': { authorization, dpop: await prover.proofAt(DELEGATE, token) },
      'another method': { authorization, dpop: await prover.proofAt(EXCHANGE, token, { htm: 'GET' }) },
      'no hash': { authorization, dpop: await prover.proofAt(EXCHANGE, token, { ath: undefined }) },
    };

    for (const [name, headers] of Object.entries(wrong)) {
      expect([name, refusalOf(await exchange(headers))]).toEqual([name, '401 UNAUTHORIZED']);
    }
    const good = { authorization, dpop: await prover.proofAt(EXCHANGE, token) };
    expect((await exchange(good)).statusCode).toBe(200);
  });

  test('O26 has the scheme of its own: an unbound token does not pass by it', async () => {
    const { exchange, prover, sendToken, codeFor } = await world();
    const { access_token: unbound } = (await sendToken(await codeFor({ scope: 'github:read' }))).json();
    const dpop = await prover.proofAt(EXCHANGE, unbound);

    expect(refusalOf(await exchange({ authorization: `DPoP ${unbound}`, dpop }))).toBe('401 UNAUTHORIZED');
    expect((await exchange({ authorization: `Bearer ${unbound}` })).statusCode).toBe(200);
  });

  test('is told the nonce that its proof needs', async () => {
    const strict = await startApp({ env: { ...besideClients, DPOP_NONCE: 'true' } });
    const acme = await strict.asDeveloper({ mode: 'sandbox' });
    await storeCredential(acme, { principalId: 'sandbox-user' });
    const { prover, sendToken, codeFor } = await clientOf(acme, strict);
    const form = await codeFor({ scope: 'github:read' });
    const nonce = String((await sendToken({ grant_type: 'none' })).headers['dpop-nonce']);
    const { access_token: token } = (await sendToken(form, { dpop: await prover.proof({ nonce }) })).json();
    const authorization = `DPoP ${token}`;
    const exchange = async (changes: object) => {
      const headers = { authorization, dpop: await prover.proofAt(EXCHANGE, token, { ...changes }) };
      return strict.app.inject({ method: 'POST', url: EXCHANGE, headers, body: { service: 'github' } });
    };

    const refused = await exchange({});

    expect(refusalOf(refused)).toBe('401 UNAUTHORIZED');
    expect(refused.headers['www-authenticate']).toMatch(/^DPoP error="use_dpop_nonce"/);
    const told = String(refused.headers['dpop-nonce']);
    expect((await exchange({ nonce: told })).statusCode).toBe(200);
  });
});

test('O26 a native delegation of a bound token needs a proof of its key', async () => {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const { boundToken, prover } = await clientOf(acme);
  const { access_token: parent } = await boundToken();
  const { agentId } = await registerAgent(acme);
  const input = { parentGrantToken: parent, subAgentId: agentId, scopes: ['calendar:read'], expiresIn: '1h' };
  const delegate = async (dpop?: string) =>
    service.app.inject({
      method: 'POST',
      url: DELEGATE,
      headers: { authorization: `Bearer ${acme.apiKey}`, ...(dpop !== undefined && { dpop }) },
      body: input,
    });
  const stranger = await newProver(service, BASE);

  expect(refusalOf(await delegate())).toMatch(/^400 INVALID_GRANT/);
  expect(refusalOf(await delegate(await stranger.proofAt(DELEGATE, parent)))).toMatch(/^400 INVALID_GRANT/);
  expect((await delegate(await prover.proofAt(DELEGATE, parent))).statusCode).toBe(201);
});
