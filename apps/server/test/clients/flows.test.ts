import { exportJWK } from 'jose';
import * as oauth from 'oauth4webapi';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { JWT_BEARER, startAsserting, trustingDeveloper } from '../app/asserting.ts';
import { entriesOf, partsOf } from '../app/flow.ts';
import { startListening } from '../app/listening.ts';
import { entered, follow, newClient, toPresent } from '../app/oauth.ts';
import { linkParts, personOn } from '../app/person.ts';
import { newServer } from '../app/published.ts';
import type { Developer } from '../app/start-app.ts';
import { LIBRARIES, type Library, type Program } from './libraries.ts';

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';

let service: Awaited<ReturnType<typeof startListening>>;
beforeAll(async () => {
  service = await startListening({ isShared: true, startsAt: new Date().toISOString() });
});
afterAll(() => service.stop());

interface Wanted {
  readonly acme?: Developer;
  /** How the client proves who it is. Default: a secret. */
  readonly by?: 'key' | 'nothing';
  readonly isBound?: boolean;
}

const newKeys = () => oauth.generateKeyPair('ES256', { extractable: true });

/** A client of a developer in the sandbox, as the library makes it. */
async function open(library: Library, { acme: developer, by, isBound = false }: Wanted = {}) {
  toPresent(service);
  const acme = developer ?? (await service.asDeveloper({ mode: 'sandbox' }));
  const own = await newKeys();
  const { kty, crv, x, y } = await exportJWK(own.publicKey);
  const settings = {
    secret: {},
    nothing: { authMethod: 'none' },
    key: { authMethod: 'private_key_jwt', publicKeyJwk: { kty, crv, x, y } },
  };
  const { clientId, clientSecret } = await newClient(acme, settings[by ?? 'secret']);
  const proof = by === 'key' ? own.privateKey : clientSecret;
  const bound = isBound ? await newKeys() : undefined;
  return { acme, clientId, program: await library.open(service.url, { clientId, proof, bound }) };
}

async function tokensOf({ begin }: Program, parameters: Record<string, string> = {}, isPushed = false) {
  const { link, finish } = await begin(parameters, isPushed);
  return { link, ...(await finish(await follow(link))) };
}

const refreshed = (
  { refresh }: Program,
  { refresh_token: token = '' }: { readonly refresh_token?: string },
) => refresh(token);

/** The developer approves the request that their client has made by backchannel. */
async function approveAsked(acme: Developer) {
  const entries = await entriesOf(acme, 'authorization.requested');
  const asked = entries.find(({ metadata }) => metadata.channel === 'ciba');
  const id = String(Object(asked?.metadata).authRequestId);
  expect((await acme('POST', `/v1/authorize/${id}/approve`, {})).statusCode).toBe(200);
}

const FLOWS: Readonly<Record<string, (library: Library) => Promise<void>>> = {
  async 'a code with PKCE, and a refresh'(library) {
    const { program, clientId } = await open(library, { by: 'nothing' });
    const tokens = await tokensOf(program);
    expect([tokens.scope, partsOf(tokens.access_token).payload.client_id]).toEqual([
      'calendar:read',
      clientId,
    ]);
    expect((await refreshed(program, tokens)).scope).toBe('calendar:read');
  },

  async 'private_key_jwt, at each endpoint that takes it'(library) {
    const { program, acme, clientId } = await open(library, { by: 'key' });
    const tokens = await tokensOf(program, {}, true);
    const { access_token: token } = await refreshed(program, tokens);
    expect(await program.isActive(token)).toBe(true);
    const asked = await program.askPerson({ scope: 'calendar:read', login_hint: 'ada' });
    await approveAsked(acme);
    expect((await asked.finish()).scope).toBe('calendar:read');
    const { privateKey } = await newKeys();
    const stranger = await library.open(service.url, { clientId, proof: privateKey });
    await expect(refreshed(stranger, tokens)).rejects.toMatchObject({ status: 401 });
    await program.revoke(token);
    expect(await program.isActive(token)).toBe(false);
  },

  async 'a pushed request'(library) {
    const { program } = await open(library);
    const { link, scope } = await tokensOf(program, { scope: 'calendar:read mail:read' }, true);
    expect([...link.searchParams.keys()].sort()).toEqual(['client_id', 'request_uri']);
    expect(scope).toBe('calendar:read mail:read');
  },

  async 'details of what is asked for'(library) {
    const { program } = await open(library);
    const details = [{ type: 'urn:service:tools:v1', connector: 'crm', tools: ['lookup'] }];
    const asked = { authorization_details: JSON.stringify(details) };
    for (const isPushed of [false, true]) {
      const tokens = await tokensOf(program, asked, isPushed);
      expect(tokens.authorization_details).toEqual(details);
      expect((await refreshed(program, tokens)).authorization_details).toEqual(details);
    }
  },

  async 'tokens that are bound to a key'(library) {
    const { program } = await open(library, { by: 'nothing', isBound: true });
    const tokens = await tokensOf(program);
    const next = await refreshed(program, tokens);
    const { cnf } = partsOf(tokens.access_token).payload;
    expect([tokens.token_type, next.token_type]).toEqual(['dpop', 'dpop']);
    expect(partsOf(next.access_token).payload.cnf).toEqual(cnf);
  },

  async 'a pushed request, a key for the client and a key for the tokens at once'(library) {
    const { program } = await open(library, { by: 'key', isBound: true });
    const tokens = await tokensOf(program, {}, true);
    expect(tokens.token_type).toBe('dpop');
    expect((await refreshed(program, tokens)).token_type).toBe('dpop');
  },

  async 'introspection and revocation'(library) {
    const { program, acme } = await open(library);
    const { access_token: token } = await tokensOf(program);
    expect(await program.isActive(token)).toBe(true);
    const other = await open(library);
    expect(await other.program.isActive(token)).toBe(false);
    await other.program.revoke(token);
    expect((await acme('POST', '/v1/tokens/verify', { token })).json().valid).toBe(true);
    await program.revoke(token);
    expect(await program.isActive(token)).toBe(false);
  },

  async 'an exchange of a token'(library) {
    const { program, acme } = await open(library);
    const { access_token: whole } = await tokensOf(program, { scope: 'calendar:read mail:read' });
    const other = await open(library, { acme });
    const shown = { subject_token: whole, subject_token_type: ACCESS_TOKEN };
    const part = await other.program.grant(EXCHANGE, { ...shown, scope: 'mail:read' });
    expect([part.scope, part.issued_token_type]).toEqual(['mail:read', ACCESS_TOKEN]);
    const wider = other.program.grant(EXCHANGE, { ...shown, scope: 'mail:write' });
    await expect(wider).rejects.toMatchObject({ error: 'invalid_scope' });
  },

  async 'a device'(library) {
    const { program, acme } = await open(library, { by: 'nothing' });
    const { userCode, finish } = await program.askDevice({ scope: 'calendar:read' });
    const id = await entered(service, userCode);
    await acme('POST', `/v1/authorize/${id}/approve`, {});
    expect((await finish()).scope).toBe('calendar:read');
  },

  async 'a person who is asked by backchannel'(library) {
    const { program, acme } = await open(library);
    const { finish } = await program.askPerson({ scope: 'calendar:read', login_hint: 'ada' });
    await approveAsked(acme);
    expect(partsOf((await finish()).access_token).payload.sub).toBe('ada');
  },

  async 'a registration by the client itself'(library) {
    const clientId = await library.register(service.url);
    const program = await library.open(service.url, { clientId });
    const { resource } = await newServer(await service.asDeveloper({ mode: 'sandbox' }));
    const { link, finish } = await program.begin({ resource });
    const page = (await follow(link)).href; // a person decides about a client that nobody here knows
    const person = personOn(service);
    expect((await person.open(page)).statusCode).toBe(200);
    const { redirectTo } = (await person.approve(linkParts(page).id)).json();
    const tokens = await finish(new URL(redirectTo));
    expect(partsOf(tokens.access_token).payload.aud).toBe(resource);
    expect((await refreshed(program, tokens)).scope).toBe('calendar:read');
  },

  async 'a token of its own, for a receiver of signals'(library) {
    const acme = await service.asDeveloper();
    const body = { name: 'SIEM' };
    const { receiverId, clientSecret } = (await acme('POST', '/v1/ssf/receivers', body)).json();
    const program = await library.open(service.url, { clientId: receiverId, proof: clientSecret });
    expect((await program.ownToken('ssf.read')).scope).toBe('ssf.read');
  },

  async 'an identity assertion'(library) {
    const { service: trusting, provider } = await startAsserting();
    const client = { authMethod: 'client_secret_basic' };
    const own = await trustingDeveloper(trusting, provider, { client });
    const { clientId, clientSecret: proof } = own.client;
    const program = await library.open(trusting.url, { clientId, proof });
    const assertion = await own.assertion();
    const tokens = await program.grant(JWT_BEARER, { assertion });
    expect([tokens.scope, tokens.refresh_token]).toEqual(['calendar:read', undefined]);
    const again = program.grant(JWT_BEARER, { assertion });
    await expect(again).rejects.toMatchObject({ error: 'invalid_grant' });
  },
};

describe.each(LIBRARIES)('%s goes through each flow that it has:', (_name, library) => {
  test.each(Object.entries(FLOWS))('%s', (_flow, run) => run(library));
});
