import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { newId } from '../../src/platform/ids.ts';
import { rsaKeys, startAccountsServer } from './accounts-server.ts';
import { startListening } from './listening.ts';
import { newClient, post } from './oauth.ts';
import { addOidc, besideProvider } from './signing-on.ts';
import type { Call, Developer, Service } from './start-app.ts';

export const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/** As after a proof by the DNS, which the tests of domains go through. */
export async function ownDomain({ db, clock }: Service, { developerId }: Developer, domain: string) {
  await db.deleteFrom('verifiedDomains').where('domain', '=', domain).execute(); // a test before may have left it
  const held = await db
    .selectFrom('customDomains')
    .select('id')
    .where('developerId', '=', developerId)
    .where('domain', '=', domain)
    .executeTakeFirst();
  const id = held?.id ?? newId('dom', clock());
  const row = { developerId, id, domain, token: 't', createdAt: clock() };
  if (!held) {
    await db
      .insertInto('customDomains')
      .values({ ...row, status: 'verified', verifiedAt: clock() })
      .execute();
  }
  await db.insertInto('verifiedDomains').values({ developerId, domain, domainId: id }).execute();
}

/** Changes of a good assertion. A claim that is undefined is left out. */
export interface Changes {
  readonly header?: object;
  readonly claims?: object;
  readonly signedBy?: 'stranger';
  readonly alg?: 'RS256' | 'ES256';
}

/** An identity provider of a test that signs assertions too, with keys that it publishes. */
export async function startAssertingProvider(service: Service) {
  const provider = await startAccountsServer();
  const [rsa, ec, stranger] = await Promise.all([rsaKeys(), generateKeyPair('ES256'), rsaKeys()]);
  const keys = [
    { ...(await exportJWK(rsa.publicKey)), kid: 'RS256', alg: 'RS256', use: 'sig' },
    { ...(await exportJWK(ec.publicKey)), kid: 'ES256', alg: 'ES256', use: 'sig' },
  ];
  const { issuer } = provider;
  // The rest of the provider is that of a login: only its keys and algorithms are those of the assertions too.
  const metadata = Object(await (await fetch(`${issuer}/.well-known/openid-configuration`)).json());
  provider.behaviour.instead = ({ url }, respond) => {
    if (url === '/jwks') respond(200, { keys });
    else if (url === '/.well-known/openid-configuration')
      respond(200, { ...metadata, id_token_signing_alg_values_supported: ['RS256', 'ES256'] });
    else return false;
    return true;
  };
  let made = 0;
  const seconds = () => Math.floor(service.clock().getTime() / 1000);

  /** An assertion that this client may act for Ada at the service. */
  function assert(audience: string, clientId: string, changes: Changes = {}): Promise<string> {
    made += 1;
    const { header, claims, signedBy, alg = 'RS256' } = changes;
    const payload = {
      iss: issuer,
      sub: 'ada',
      aud: audience,
      client_id: clientId,
      jti: `assertion-${made}-${Math.random()}`,
      iat: seconds(),
      exp: seconds() + 300,
      email: 'ada@upstream.test',
      ...claims,
    };
    const jwt = new SignJWT(payload);
    jwt.setProtectedHeader({ alg, kid: alg, typ: 'oauth-id-jag+jwt', ...header });
    const key = alg === 'ES256' ? ec.privateKey : rsa.privateKey;
    return jwt.sign(signedBy ? stranger.privateKey : key);
  }
  return { ...provider, keys, rsa, assert, seconds };
}

export type AssertingProvider = Awaited<ReturnType<typeof startAssertingProvider>>;

export async function startAsserting(env: Record<string, string> = {}) {
  const options = besideProvider(env);
  const startsAt = `${new Date().toISOString().slice(0, 19)}Z`; // tokens count in whole seconds
  const service = await startListening({ ...options, startsAt });
  return { service, provider: await startAssertingProvider(service) };
}

interface Members {
  readonly connection?: object;
  readonly trust?: object;
  readonly rule?: object;
  readonly client?: Parameters<typeof newClient>[1];
  readonly mode?: 'live' | 'sandbox';
}

/** Lets the provider decide for the people of `upstream.test`, and lists a client. @param base the service's address */
export async function trustAt(
  acme: Developer,
  service: Service,
  provider: AssertingProvider,
  { connection: members, trust, rule, client: settings, base }: Members & { readonly base: string },
) {
  const { domains: [domain = ''] = ['upstream.test'] }: { domains?: string[] } = members ?? {};
  const connection = await addOidc(
    acme,
    provider,
    { domains: ['upstream.test'], jitProvisioning: true, ...members },
    base,
  );
  await ownDomain(service, acme, domain);
  const path = `/v1/sso/connections/${connection.id}`;
  await good(acme, 'PUT', `${path}/id-jag`, { enabled: true, acknowledge: 'no personal consent', ...trust });
  const client = await newClient(acme, { authMethod: 'client_secret_post', ...settings });
  const body = {
    clientId: client.clientId,
    scopes: ['calendar:*'],
    defaultScopes: ['calendar:read'],
    ...rule,
  };
  const made = await good(acme, 'POST', `${path}/clients`, body);
  return { connection, client, rule: made, path, rulePath: `${path}/clients/${made.id}` };
}

/** A developer whose customer's provider decides for the people of `upstream.test`, and a client that may be named. */
export async function trustingDeveloper(
  service: Service & { readonly url: string },
  provider: AssertingProvider,
  { mode = 'sandbox', ...members }: Members = {},
) {
  const acme = await service.asDeveloper({ mode });
  const trusted = await trustAt(acme, service, provider, { ...members, base: service.url });
  const { client } = trusted;

  /** Shows an assertion at the token endpoint, as the client. */
  async function show(assertion: string, form: Record<string, string> = {}, headers = {}) {
    const secret = client.clientSecret === undefined ? {} : { client_secret: client.clientSecret };
    const own = { grant_type: JWT_BEARER, client_id: client.clientId, ...secret, assertion };
    return post(`${service.url}/oauth/token`, { ...own, ...form }, headers);
  }
  const assertion = (changes?: Changes) => provider.assert(service.url, client.clientId, changes);
  /** `200`, or the error with its word. */
  async function outcome(changes?: Changes, form?: Record<string, string>) {
    return told(await show(await assertion(changes), form));
  }
  /** The answer to a good assertion. */
  async function token(claims: object = {}, form?: Record<string, string>) {
    const answer = await show(await assertion({ claims }), form);
    const body = Object(await answer.json());
    if (answer.status !== 200) throw new Error(`assertion: ${JSON.stringify(body)}`);
    return body;
  }
  return { acme, ...trusted, show, assertion, outcome, token };
}

export async function told(answer: Response): Promise<string> {
  const { error, error_description: word } = Object(await answer.json());
  return answer.status === 200 ? '200' : `${error} ${word}`;
}

/** @returns the answer's body */
export async function good(call: Call, method: 'PUT' | 'POST' | 'PATCH', path: string, body: object) {
  const answer = await call(method, path, body);
  if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.body}`);
  return answer.json();
}
