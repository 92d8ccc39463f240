import { decodeJwt, decodeProtectedHeader } from 'jose';
import { describe, expect, test } from 'vitest';
import {
  actionsOf,
  grantTo,
  hold,
  letGo,
  refusalOf,
  sharedSandbox,
  signedBy,
} from '../../../../test/app/flow.ts';
import type { Developer, Service } from '../../../../test/app/start-app.ts';

const join = sharedSandbox();
const ACCOUNT = 'eip155:1:0xab16a96D359eC26a11e2C2b3d8f8B8942d5Bfcdb';
const WALLET = '/v1/wallet/authorizations';

/** The shared clock stands where the tests before left it. */
const later = ({ clock }: Service, seconds: number) =>
  new Date(clock().getTime() + seconds * 1000).toISOString();

async function payer(acme: Developer, request: object = {}) {
  const { agentId, grantId } = await grantTo(acme, { scopes: ['wallet:usdc:authorize'], ...request });
  const body = { grantId, account: ACCOUNT, maxAmount: { amount: '1.5', asset: 'usdc' } };
  const issue = (members: object = {}) => acme('POST', WALLET, { ...body, ...members });
  const issued = async (members: object = {}) => {
    const answer = await issue(members);
    expect(answer.statusCode, answer.body).toBe(201);
    return answer.json();
  };
  return { agentId, grantId, issue, issued };
}

const verify = async ({ app }: Service, authorization: string) =>
  (await app.inject({ method: 'POST', url: `${WALLET}/verify`, body: { authorization } })).json();

describe('a wallet authorization', () => {
  test('states one payment, signed, and is used once', async () => {
    const { acme, service } = await join();
    const { agentId, grantId, issued } = await payer(acme);

    const { id, authorization, expiresAt } = await issued({ payee: ACCOUNT, nonce: 'n-1' });

    expect(expiresAt).toBe(later(service, 600));
    expect(decodeProtectedHeader(authorization).typ).toBe('wallet-authorization+jwt');
    const iat = service.clock().getTime() / 1000;
    const maxAmount = { amount: '1.5', asset: 'usdc' };
    expect(decodeJwt(authorization)).toEqual({
      ...{
        iss: 'https://auth.test',
        sub: 'user_42',
        client_id: agentId,
        dev: acme.developerId,
        grnt: grantId,
      },
      ...{ jti: id, iat, exp: iat + 600, account: ACCOUNT, max: maxAmount, payee: ACCOUNT, nonce: 'n-1' },
    });
    const shown = { id, account: ACCOUNT, maxAmount, payee: ACCOUNT, nonce: 'n-1', expiresAt };
    expect(await verify(service, authorization)).toEqual({ valid: true, ...shown });
    const record = (await acme('GET', `${WALLET}/${id}`)).json();
    expect(record).toEqual({
      ...{ ...shown, grantId, agentId, principalId: 'user_42', authorization, status: 'active' },
      ...{ issuedAt: later(service, 0), consumedAt: null, revokedAt: null },
    });
    expect((await acme('GET', WALLET)).json()).toEqual({ authorizations: [record], nextCursor: null });

    service.advance(1);
    const used = await acme('POST', `${WALLET}/${id}/consume`);

    const consumedAt = later(service, 0);
    expect(used.json()).toEqual({ ...record, status: 'consumed', consumedAt });
    expect(refusalOf(await acme('POST', `${WALLET}/${id}/consume`))).toBe('409 ALREADY_CONSUMED');
    expect(await verify(service, authorization)).toMatchObject({ valid: false, code: 'consumed', id });
    expect((await acme('POST', `${WALLET}/${id}/revoke`)).json()).toEqual(used.json());
    const acts = (await actionsOf(acme)).filter((action) => action.startsWith('wallet.'));
    expect(acts).toEqual(['wallet.authorization.issued', 'wallet.authorization.consumed']);
  });

  test('ends when it is revoked, with its time and with its grant', async () => {
    const { acme, service } = await join();
    const { grantId, issued } = await payer(acme, { expiresIn: '1h' });
    const [revoked, short, long] = [
      await issued(),
      await issued({ expiresIn: '60s' }),
      await issued({ expiresIn: '24h' }),
    ];
    const codeOf = async ({ authorization }: { authorization: string }) =>
      (await verify(service, authorization)).code;
    const consume = async ({ id }: { id: string }) =>
      refusalOf(await acme('POST', `${WALLET}/${id}/consume`));

    const { status } = (await acme('POST', `${WALLET}/${revoked.id}/revoke`)).json();
    await acme('POST', `${WALLET}/${revoked.id}/revoke`);
    expect([status, await codeOf(revoked), await consume(revoked)]).toEqual([
      'revoked',
      'revoked',
      '410 GONE',
    ]);
    service.advance(59);
    expect(await codeOf(short)).toBeUndefined();
    service.advance(1);
    expect([await codeOf(short), await consume(short)]).toEqual(['expired', '410 GONE']);
    expect(long.expiresAt).toBe(later(service, 3600 - 60));
    await acme('DELETE', `/v1/grants/${grantId}`);
    expect([await codeOf(long), await consume(long)]).toEqual(['revoked', '410 GONE']);
    const acts = (await actionsOf(acme)).filter((action) => action === 'wallet.authorization.revoked');
    expect(acts).toHaveLength(1);
  });

  test('the list has those of one grant, newest first', async () => {
    const { acme, service } = await join();
    const [one, two] = [await payer(acme), await payer(acme)];
    const first = await one.issued();
    service.advance(1);
    const [second, other] = [await one.issued(), await two.issued()];
    const idsOf = async (query: string) =>
      (await acme('GET', `${WALLET}?${query}`)).json().authorizations.map(({ id }: { id: string }) => id);

    expect(await idsOf(`grantId=${one.grantId}`)).toEqual([second.id, first.id]);
    expect(await idsOf(`grantId=${one.grantId}&cursor=${second.id}`)).toEqual([first.id]);
    expect(await idsOf(`grantId=${two.grantId}`)).toEqual([other.id]);
  });
});

describe('O16: an authorization of an agent', () => {
  const holds: [string, 'suspend' | 'stop'][] = [
    ['that is suspended', 'suspend'],
    ['whose account is stopped', 'stop'],
  ];
  test.each(holds)('%s is neither issued nor good nor used, until it goes on', async (_, way) => {
    const { acme, service } = await join();
    const { agentId, issue, issued } = await payer(acme);
    const [open, ended] = [await issued(), await issued()];
    await acme('POST', `${WALLET}/${ended.id}/revoke`);
    const consume = async ({ id }: { id: string }) => acme('POST', `${WALLET}/${id}/consume`);

    await hold(acme, way, agentId);

    const { id, authorization } = open;
    expect(await verify(service, authorization)).toMatchObject({ valid: false, code: 'suspended', id });
    expect(await verify(service, ended.authorization)).toMatchObject({ valid: false, code: 'revoked' });
    expect(refusalOf(await issue())).toBe('409 AGENT_INACTIVE');
    expect(refusalOf(await consume(open))).toBe('409 AGENT_INACTIVE');
    expect(refusalOf(await consume(ended))).toBe('410 GONE');
    expect((await acme('GET', `${WALLET}/${id}`)).json().status).toBe('active');
    await letGo(acme, way, agentId);
    expect(await verify(service, authorization)).toMatchObject({ valid: true });
    expect((await consume(open)).json().status).toBe('consumed');
    expect((await issue()).statusCode).toBe(201);
    const acts = (await actionsOf(acme)).filter((action) => action === 'wallet.authorization.issued');
    expect(acts).toHaveLength(3);
  });
});

describe('P4: an authorization is refused', () => {
  const over = (amount: unknown, asset = 'usdc') => ({ maxAmount: { amount, asset } });
  const wishes: [string, object, string][] = [
    ['of an asset without its scope', over('1', 'eth'), '400 SCOPE_INSUFFICIENT'],
    ['over nothing', over('0'), '400 BAD_REQUEST'],
    ['over a number that readers read differently', over(0.1 + 0.2), '400 BAD_REQUEST'],
    ['over nineteen decimals', over('0.0000000000000000001'), '400 BAD_REQUEST'],
    ['from no account', { account: 'me' }, '400 BAD_REQUEST'],
    ['for more than a day', { expiresIn: '86401s' }, '400 BAD_REQUEST'],
    ['for an unknown grant', { grantId: 'grnt_other' }, '404 NOT_FOUND'],
  ];
  test.each(wishes)('%s', async (_, members, refusal) => {
    const { acme } = await join();
    const { issue } = await payer(acme);
    expect(refusalOf(await issue(members))).toBe(refusal);
    expect((await issue()).statusCode).toBe(201);
  });

  test('about a grant that ended', async () => {
    const { acme } = await join();
    const { grantId, issue } = await payer(acme, { scopes: ['wallet:authorize'] });
    expect((await issue(over('1', 'eth'))).statusCode).toBe(201);
    await acme('DELETE', `/v1/grants/${grantId}`);
    expect(refusalOf(await issue())).toBe('409 GRANT_INACTIVE revoked');
  });

  test('as a token of another kind, of another issuer, that the service never stored, and as no token', async () => {
    const { acme, service } = await join();
    const { authorization } = await (await payer(acme)).issued();
    const claims = decodeJwt(authorization);
    const typ = 'wallet-authorization+jwt';
    const codeOf = async (text: string) => (await verify(service, text)).code;
    const forged = (members: object, header: object = { typ }) =>
      signedBy(service, { ...claims, ...members }, header);

    expect(await codeOf(await forged({}))).toBeUndefined();
    expect(await codeOf(await forged({}, { typ: 'at+jwt' }))).toBe('typ_not_allowed');
    expect(await codeOf(await forged({ iss: 'https://evil.test' }))).toBe('issuer_unknown');
    expect(await codeOf(await forged({ jti: 'wal_other' }))).toBe('status_unavailable');
    expect(await codeOf(await forged({ dev: 'dev_other' }))).toBe('status_unavailable');
    expect(await codeOf(`${authorization.slice(0, -9)}AAAAAAAAA`)).toBe('bad_signature');
    expect(await codeOf('x')).toBe('malformed');
  });
});
