import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newClient, pkceLink } from '../../../../test/app/oauth.ts';
import { besideClients, LISTENING, sendForm } from '../../../../test/app/published.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';

/** Two processes of the service, which share the database and the store. */
let here: Service;
let there: Service;
beforeAll(async () => {
  const env = { ...besideClients, RATE_LIMIT_OAUTH_TOKEN: '1000', RATE_LIMIT_OAUTH_AUTHORIZE: '1000' };
  here = await startApp({ env, isShared: true });
  there = await startApp({ env, isShared: true, startsAt: here.clock().toISOString() });
});
afterAll(async () => {
  await there.stop();
  await here.stop();
});

const advance = (seconds: number) => [here, there].map((each) => each.advance(seconds));

async function startClient(settings: Parameters<typeof newClient>[1] = {}) {
  const acme = await here.asDeveloper({ mode: 'sandbox' });
  const { clientId } = await newClient(acme, { authMethod: 'none', redirectUris: [LISTENING], ...settings });
  /** Follows a link at one of the processes. */
  const visit = async (at: Service, query: string) => {
    const headers = { accept: 'text/html' };
    const { location } = (await at.app.inject({ url: `/oauth/authorize?${query}`, headers })).headers;
    return location === undefined ? undefined : new URL(location).searchParams;
  };
  const { link, verifier } = await pkceLink(clientId, { redirect_uri: LISTENING });
  const asked = new URL(link).searchParams;
  const formOf = (code: string) => ({
    ...{ grant_type: 'authorization_code', client_id: clientId, code },
    ...{ redirect_uri: LISTENING, code_verifier: verifier },
  });
  const newCode = async () => formOf((await visit(here, String(asked)))?.get('code') ?? '');
  return { acme, clientId, asked, visit, newCode };
}

const errorOf = async (answer: ReturnType<typeof sendForm>) => (await answer).json().error ?? 'none';

describe('RFC 9700 at two processes', () => {
  test('O2 §4.5: a code that both exchange at once makes one grant, and its later use at the other ends it', async () => {
    const { acme, newCode } = await startClient();
    const form = await newCode();

    const both = [here, there, here, there].map((each) => sendForm(each, 'token', form));
    const statuses = (await Promise.all(both)).map(({ statusCode }) => statusCode).sort();
    const { grants } = (await acme('GET', '/v1/grants')).json();
    advance(31);
    const late = await errorOf(sendForm(there, 'token', form));

    expect([statuses, grants.length, late]).toEqual([[200, 400, 400, 400], 1, 'invalid_grant']);
    expect((await acme('GET', `/v1/grants/${grants[0].grantId}`)).json().status).toBe('revoked');
  });

  test('O4 §4.5: wrong verifiers at either process void the code together', async () => {
    const { newCode } = await startClient();
    const [form, good] = [await newCode(), await newCode()];
    const wrong = { ...form, code_verifier: 'x'.repeat(43) };
    for (const at of [here, there, here, there, here]) await sendForm(at, 'token', wrong);

    expect(await errorOf(sendForm(there, 'token', form))).toBe('invalid_grant');
    expect((await sendForm(there, 'token', good)).statusCode).toBe(200);
  });

  test('§4.14: a refresh token that was spent at one is a reuse at the other, and ends the grant', async () => {
    const { clientId, newCode } = await startClient();
    const first = (await sendForm(here, 'token', await newCode())).json();
    const spend = (at: Service, token: string) =>
      sendForm(at, 'token', { grant_type: 'refresh_token', client_id: clientId, refresh_token: token });
    const second = (await spend(here, first.refresh_token)).json();
    advance(31);

    expect(await errorOf(spend(there, first.refresh_token))).toBe('invalid_grant');
    expect(await errorOf(spend(here, second.refresh_token))).toBe('invalid_grant');
    const other = (await sendForm(there, 'token', await newCode())).json();
    expect((await spend(there, other.refresh_token)).statusCode).toBe(200);
  });

  test('a pushed request is followed once, at whichever process', async () => {
    const { clientId, asked, visit } = await startClient();
    const push = async () => (await sendForm(here, 'par', Object.fromEntries(asked))).json().request_uri;
    const requestUri = await push();
    const query = String(new URLSearchParams({ client_id: clientId, request_uri: requestUri }));

    const answers = await Promise.all([here, there].map((each) => visit(each, query)));

    expect(answers.filter((back) => back?.has('code'))).toHaveLength(1);
    expect(await visit(there, query)).toBeUndefined();
    const next = new URLSearchParams({ client_id: clientId, request_uri: await push() });
    expect((await visit(there, String(next)))?.has('code')).toBe(true);
  });

  test('an assertion of a client proves it once, at whichever process', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256');
    const publicKeyJwk = await exportJWK(publicKey);
    const { clientId } = await startClient({ authMethod: 'private_key_jwt', publicKeyJwk });
    const assert = () => {
      const now = Math.floor(here.clock().getTime() / 1000);
      const claims = { iss: clientId, sub: clientId, aud: 'https://auth.test', jti: crypto.randomUUID() };
      return new SignJWT({ ...claims, iat: now, exp: now + 60 })
        .setProtectedHeader({ alg: 'ES256' })
        .sign(privateKey);
    };
    const ask = async (at: Service, client_assertion: string) =>
      (
        await sendForm(at, 'introspect', {
          ...{ token: 'x.y.z', client_assertion },
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        })
      ).statusCode;
    const assertion = await assert();

    expect(await ask(here, assertion)).toBe(200);
    expect(await ask(there, assertion)).toBe(401);
    expect(await ask(there, await assert())).toBe(200);
  });

  test('a token that is ended at one is inactive at the other with its next question', async () => {
    const { clientId, newCode } = await startClient();
    const { access_token: token } = (await sendForm(here, 'token', await newCode())).json();
    const ask = async (at: Service) =>
      (await sendForm(at, 'introspect', { client_id: clientId, token })).json();
    expect((await ask(there)).active).toBe(true);

    await sendForm(here, 'revoke', { client_id: clientId, token });

    expect(await ask(there)).toEqual({ active: false });
  });
});
