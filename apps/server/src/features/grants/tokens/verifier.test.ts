import { describe, expect, test } from 'vitest';
import {
  entriesOf,
  grantTo,
  partsOf,
  refusalOf,
  registerAgent,
  sharedSandbox,
} from '../../../../test/app/flow.ts';
import type { KeyRing } from '../../service/keys/index.ts';
import { ownVerifier } from './look-up.ts';
import { limitsOf } from './tokens.rules.ts';

const joinSandbox = sharedSandbox();

/** A verifier of a process whose keys a test may take away, and a token that it verifies from `start` to `end`. */
async function withToken() {
  const { acme, service } = await joinSandbox();
  const { grantToken: token } = await grantTo(acme);
  const { iss, iat, exp } = partsOf(token).payload;
  let keys = service.keyRing.verificationKeys();
  const keyRing: KeyRing = { ...service.keyRing, verificationKeys: () => keys };
  const verify = ownVerifier({ keyRing, issuer: iss, maxGrantLifetimeSeconds: exp - iat });
  const loseKeys = () => {
    keys = { byId: new Map(), legacy: undefined };
  };
  const at = (seconds: number) => new Date(seconds * 1000);
  return { token, verify, loseKeys, start: at(iat), end: at(exp), before: at(exp - 1) };
}

test('a good token is verified once', async () => {
  const { token, verify, start, before } = await withToken();

  const first = verify(token, start);

  expect(first.ok).toBe(true);
  expect(verify(token, before)).toBe(first);
});

test('a remembered token ends when its time does', async () => {
  const { token, verify, start, end } = await withToken();
  verify(token, start);

  expect(verify(token, end)).toEqual({ ok: false, reason: 'expired' });
});

test('a remembered token says nothing about an earlier time', async () => {
  const { token, verify, start, before } = await withToken();
  verify(token, before);

  const earlier = new Date(start.getTime() - 120_000);

  expect(verify(token, earlier)).toEqual({ ok: false, reason: 'not_yet_valid' });
});

test('a token is not remembered beyond the key that verified it', async () => {
  const { token, verify, loseKeys, start } = await withToken();
  verify(token, start);

  loseKeys();

  expect(verify(token, start)).toEqual({ ok: false, reason: 'key_not_found' });
});

test('a changed token is not the remembered one', async () => {
  const { token, verify, start } = await withToken();
  verify(token, start);
  const [header, payload, signature = ''] = token.split('.');
  const changed = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;

  expect(verify([header, payload, changed].join('.'), start)).toEqual({ ok: false, reason: 'bad_signature' });
});

test('a token that every route has verified is refused by all of them as soon as it is revoked', async () => {
  const { acme } = await joinSandbox();
  const { grantToken: token } = await grantTo(acme);
  const call = { grantToken: token, connector: 'mail', tool: 'send' };
  const answers = async () => ({
    verify: (await acme('POST', '/v1/tokens/verify', { token })).json().valid,
    enforce: (await acme('POST', '/v1/enforce', call)).json().subReason,
    exchange: (await acme.withToken(token)('POST', '/v1/vault/credentials/exchange', { service: 'mail' }))
      .statusCode,
  });
  const before = await answers();

  await acme('POST', '/v1/tokens/revoke', { token });

  expect(before).toEqual({ verify: true, enforce: expect.not.stringMatching('revoked'), exchange: 403 });
  expect(await answers()).toEqual({ verify: false, enforce: 'revoked', exchange: 401 });
});

const entry = (connector: string, per_day: number) => ({ connector, caps: { send: { per_day } } });

test('the limits of a token are its own, and those of its grant for connectors that it has no entry for', () => {
  const [mail, crm] = [entry('mail', 5), entry('crm', 9)];
  const narrower = entry('mail', 1);

  expect(limitsOf([narrower], [mail, crm])).toEqual([narrower, crm]);
  expect(limitsOf(null, [mail])).toEqual([mail]);
  expect(limitsOf([narrower], null)).toEqual([narrower]);
  expect(limitsOf(null, null)).toBeNull();
});

const type = 'urn:service:tools:v1';
const rules = { '/amount': { max: '500' }, '/to/iban': { prefix: ['DE', 'FR'] } };
const toolsEntry = { type, connector: 'pay', tools: ['transfer', 'get_*'], arguments: { transfer: rules } };
const request = { scopes: ['tool:pay:write', 'calendar:read'], authorizationDetails: [toolsEntry] };

const detailsOf = (token: string) => partsOf(token).payload.authorization_details;

async function granted() {
  const { acme } = await joinSandbox();
  const grant = await grantTo(acme, request);
  const { agentId } = await registerAgent(acme);
  const delegate = (change: object) =>
    acme('POST', '/v1/grants/delegate', {
      parentGrantToken: grant.grantToken,
      subAgentId: agentId,
      scopes: ['tool:pay:write'],
      ...change,
    });
  return { acme, grant, delegate };
}

describe('rules of arguments', () => {
  test('are in the token of an exchange, and in that of a refresh', async () => {
    const { acme, grant } = await granted();
    const { agentId, refreshToken } = grant;

    const refreshed = await acme('POST', '/v1/token/refresh', { refreshToken, agentId });

    expect(detailsOf(grant.grantToken)).toEqual([toolsEntry]);
    expect(detailsOf(refreshed.json().grantToken)).toEqual([toolsEntry]);
    expect((await acme('GET', `/v1/grants/${grant.grantId}`)).json().authorizationDetails).toEqual([
      toolsEntry,
    ]);
  });

  test('are in the entry and the event of the grant as one text', async () => {
    const { acme, grant } = await granted();

    const [created] = await entriesOf(acme, 'grant.created');
    const { events } = (await acme('GET', '/v1/events?types=grant.created')).json();

    const text = '{"transfer":{"/amount":{"max":"500"},"/to/iban":{"prefix":["DE","FR"]}}}';
    const { arguments: _, ...others } = toolsEntry;
    const authorizationDetails = [{ ...others, arguments: text }];
    expect(created).toMatchObject({ grantId: grant.grantId, metadata: { authorizationDetails } });
    expect(events.at(-1).data).toMatchObject({ grantId: grant.grantId, authorizationDetails });
  });

  test('go down to a delegated grant as they are, or narrower', async () => {
    const { delegate } = await granted();
    const narrower = { transfer: { ...rules, '/amount': { max: '20' } } };
    const authorizationDetails = [{ type, connector: 'pay', arguments: narrower }];

    const [same, less] = [await delegate({}), await delegate({ authorizationDetails })];

    expect(detailsOf(same.json().grantToken)).toEqual([toolsEntry]);
    expect(detailsOf(less.json().grantToken)).toEqual([{ ...toolsEntry, arguments: narrower }]);
  });

  test.each([
    ['a higher bound', { ...rules, '/amount': { max: '501' } }],
    ['one more argument', { ...rules, '/bcc': {} }],
    ['open arguments', { '': { open: true }, ...rules }],
  ])('R7 never widen: %s makes no delegated grant', async (_, wider) => {
    const { delegate } = await granted();

    const answer = await delegate({
      authorizationDetails: [{ type, connector: 'pay', arguments: { transfer: wider } }],
    });

    expect(refusalOf(answer)).toBe('400 BAD_REQUEST');
    expect(answer.json().details.fields).toEqual([
      { path: 'authorizationDetails.0.arguments.transfer', problem: 'not_allowed' },
    ]);
  });

  test('leave no scope of their connector satisfied by itself', async () => {
    const { acme, grant } = await granted();
    const verdictOf = async (requiredScopes: string[]) =>
      (await acme('POST', '/v1/tokens/verify', { token: grant.grantToken, requiredScopes })).json();

    expect(await verdictOf(['tool:pay:read'])).toEqual({ valid: false, reason: 'scope' });
    expect(await verdictOf(['calendar:read'])).toMatchObject({ valid: true });
  });
});
