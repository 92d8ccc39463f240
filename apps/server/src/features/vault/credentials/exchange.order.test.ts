import { describe, expect, test } from 'vitest';
import { entriesOf, grantTo, partsOf, refusalOf, signedBy, startSandbox } from '../../../../test/app/flow.ts';
import { onThisMachine, putProfile } from '../../../../test/app/proxy.ts';
import { exchange, storeCredential } from '../../../../test/app/vault.ts';

const NO_KEY = { VAULT_ENCRYPTION_KEY: '' };
type World = Awaited<ReturnType<typeof startSandbox>>;

interface Step {
  readonly refusal: string;
  /** The fault of the step. Whatever it leaves out is as it should be. */
  readonly fault: {
    readonly env?: Record<string, string>;
    readonly scopes?: readonly string[];
    readonly stores?: object | null;
    readonly audience?: string;
    readonly body?: object;
    readonly token?: (world: World, token: string) => string | Promise<string>;
    /** Comes before the exchange. */
    readonly before?: (world: World, token: string) => unknown;
  };
}

const REFUSED = '401 UNAUTHORIZED';
const unsigned = (token: string) => {
  const [head = '', body = '', signature = ''] = token.split('.');
  return [head, body, signature.split('').reverse().join('')].join('.');
};

/** In the order of the checks. */
const STEPS: Readonly<Record<string, Step>> = {
  '1 a header': { refusal: REFUSED, fault: { token: () => '' } },
  '2 a token that is signed': { refusal: REFUSED, fault: { token: (_, token) => unsigned(token) } },
  '3 a live token': {
    refusal: REFUSED,
    fault: { before: ({ acme }, token) => acme('POST', '/v1/tokens/revoke', { token }) },
  },
  '4 the service as its audience': { refusal: REFUSED, fault: { audience: 'https://tools.test' } },
  '5 a proof, when the token is bound': {
    refusal: REFUSED,
    fault: {
      token: ({ service }, token) =>
        signedBy(service, { ...partsOf(token).payload, cnf: { jkt: 'A'.repeat(43) } }),
    },
  },
  '6 room in the rate': {
    refusal: '429 RATE_LIMITED',
    fault: {
      env: { RATE_LIMIT_VAULT_EXCHANGE: '1' },
      before: ({ service }, token) => exchange(service, token),
    },
  },
  '7 a service': { refusal: '400 BAD_REQUEST', fault: { body: { service: ['github'] } } },
  '8 a scope': { refusal: '403 FORBIDDEN', fault: { scopes: ['github:write'] } },
  '9 a credential': { refusal: '404 NOT_FOUND', fault: { stores: null } },
  '10 the vault key': { refusal: '503 NOT_CONFIGURED', fault: { env: NO_KEY } },
};

/** Exchanges with all these faults. */
async function withFaults(faults: readonly Step['fault'][]) {
  const all: Step['fault'] = Object.assign({}, ...faults.toReversed());
  const env = Object.assign({}, ...faults.map((fault) => fault.env ?? {}));
  // Without its key the service stores nothing, so that a credential without one needs a start with the key before.
  const hasKey = env.VAULT_ENCRYPTION_KEY !== '';
  const first = await startSandbox(hasKey ? { env } : {});
  if (all.stores !== null) await storeCredential(first.acme, all.stores);
  const world = hasKey
    ? first
    : await startSandbox({ env, databaseUrl: first.service.databaseUrl }).then(({ service }) => ({
        ...first,
        service,
      }));
  const request = { scopes: all.scopes ?? ['github:read'], ...(all.audience && { audience: all.audience }) };
  const { grantToken } = await grantTo(first.acme, request);
  for (const { before } of faults) await before?.(world, grantToken);
  const token = all.token ? await all.token(world, grantToken) : grantToken;
  const answer = await exchange(world.service, token, all.body);
  return { answer, blocked: await entriesOf(first.acme, 'vault.exchange_blocked') };
}

describe('V3: an exchange needs', () => {
  test.each(Object.keys(STEPS))('%s, and says so before all that follows', async (name) => {
    const names = Object.keys(STEPS);
    const from = names.slice(names.indexOf(name));
    const step = STEPS[name];
    const faultsOf = (some: readonly string[]) => some.map((each) => STEPS[each]?.fault ?? {});

    const alone = await withFaults(faultsOf([name]));
    const withLater = await withFaults(faultsOf(from));

    expect(refusalOf(alone.answer)).toBe(step?.refusal);
    expect(refusalOf(withLater.answer)).toBe(step?.refusal);
    const isRecorded = name.startsWith('8') || name.startsWith('9');
    expect(alone.blocked).toHaveLength(isRecorded ? 1 : 0);
  });

  test('all of them, and then gives the credential', async () => {
    const { answer, blocked } = await withFaults([]);

    expect([answer.statusCode, blocked]).toEqual([200, []]);
  });

  test.each([
    ['the profile of the service', { exchange: 'proxy_only' }, {}],
    ['the credential', {}, { proxy: { only: true } }],
  ])('8 no limit to the proxy by %s', async (_, profile, credential) => {
    const world = await startSandbox({ env: onThisMachine });
    await putProfile(world.acme, 'http://127.0.0.1:1', profile);
    await storeCredential(world.acme, credential);
    const { grantToken } = await grantTo(world.acme, { scopes: ['github:read'] });

    expect(refusalOf(await exchange(world.service, grantToken))).toBe('403 FORBIDDEN proxy_only');
    expect(await entriesOf(world.acme, 'vault.exchange_blocked')).toMatchObject([
      { status: 'blocked', metadata: { service: 'github', reason: 'proxy_only' } },
    ]);
  });

  test.each([
    ['10 a credential that opens', {}, '500 INTERNAL_ERROR'],
    [
      '10 an upstream that refreshes an expired token',
      {
        tokenExpiresAt: '2026-01-01T00:00:00Z',
        refreshToken: 'upstream-refresh-1',
        refresh: { tokenEndpoint: 'http://127.0.0.1:1/token', clientId: 'behest' },
      },
      '502 UPSTREAM_ERROR refresh_failed',
    ],
  ])('%s', async (name, members, refusal) => {
    const world = await startSandbox({ env: onThisMachine });
    const { id } = await storeCredential(world.acme, members);
    if (name.includes('opens')) {
      await world.service.db
        .updateTable('vaultCredentials')
        .set({ metadata: '{}', accessToken: 'v1.AAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAAAA' })
        .where('id', '=', id)
        .execute();
    }
    const { grantToken } = await grantTo(world.acme, { scopes: ['github:read'] });

    expect(refusalOf(await exchange(world.service, grantToken))).toBe(refusal);
    const blocked = await entriesOf(world.acme, 'vault.exchange_blocked');
    expect(blocked.map(({ status, metadata }) => [status, metadata.reason])).toEqual(
      name.includes('opens') ? [['failure', 'decrypt']] : [],
    );
  });
});
