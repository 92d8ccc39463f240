import type { LightMyRequestResponse } from 'fastify';
import { type RawBuilder, sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import {
  entriesOf,
  grantTo,
  partsOf,
  refusalOf,
  registerAgent,
  sharedSandbox,
  startSandbox,
} from '../../../../test/app/flow.ts';
import { sentIn } from '../../../../test/app/round-trips.ts';
import { newDatabase, type Service } from '../../../../test/app/start-app.ts';
import { exchange } from '../../../../test/app/vault.ts';
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

describe('tokens that are used in one turn', () => {
  const verify = (caller: ReturnType<Service['calling']>, token: string) =>
    caller('POST', '/v1/tokens/verify', { token });

  interface Found {
    readonly status: string;
    readonly isEnded: boolean;
    readonly agentStatus: string;
    readonly renewalCauses: readonly string[];
  }

  /** Each in the same turn, after the first ones have taught the process that developers may share a statement. */
  async function together(calls: readonly (() => PromiseLike<LightMyRequestResponse>)[]) {
    for (let each = 0; each < 5; each += 1) await Promise.all(calls.slice(0, 2).map((call) => call()));
    let answers: LightMyRequestResponse[] = [];
    const sent = await sentIn(async () => {
      answers = await Promise.all(calls.map((call) => call()));
    });
    return { bodies: answers.map((answer) => answer.json()), sent };
  }

  test('are read by one statement, and each gets its own answer, whosever it is and whatever it is shown for', async () => {
    const { acme, service } = await joinSandbox();
    const other = await service.asDeveloper({ mode: 'sandbox' });
    const mine = await grantTo(acme);
    const ended = await grantTo(acme);
    const theirs = await grantTo(other);
    await acme('DELETE', `/v1/grants/${ended.grantId}`);
    const bound = await acme.asRuntime(ended.agentId);
    const all = [mine, ended, theirs];
    for (const { grantToken } of all) for (const who of [acme, other, bound]) await verify(who, grantToken); // known keys

    const { bodies, sent } = await together([
      () => verify(acme, mine.grantToken),
      () => verify(other, theirs.grantToken),
      () => verify(acme, ended.grantToken),
      () => verify(other, mine.grantToken),
      () => verify(bound, mine.grantToken),
      () => acme('POST', '/v1/tokens/introspect', { token: mine.grantToken }),
      () => exchange(service, theirs.grantToken),
      () => exchange(service, ended.grantToken),
    ]);

    expect(bodies).toMatchObject([
      { valid: true, grantId: mine.grantId, developerId: acme.developerId },
      { valid: true, grantId: theirs.grantId, developerId: other.developerId },
      { valid: false, reason: 'revoked' },
      { valid: false },
      { valid: false },
      { active: true, jti: partsOf(mine.grantToken).payload.jti },
      { code: 'FORBIDDEN' },
      { code: 'UNAUTHORIZED' },
    ]);
    expect(sent.map(({ name }) => name)).toContain('use_tokens');
    const uses = sent.filter(({ name }) => name?.startsWith('use_'));
    expect(uses.length).toBeLessThan(bodies.length - 2); // a request that Redis has to count comes a turn later
  });

  test('are 64 in a statement at most', async () => {
    const { acme } = await joinSandbox();
    const { grantToken } = await grantTo(acme);
    await verify(acme, grantToken);

    const { bodies, sent } = await together(
      Array.from({ length: 150 }, () => () => verify(acme, grantToken)),
    );

    const sizes = sent.filter(({ name }) => name === 'use_tokens').map(({ values }) => values?.[0].length);
    expect(bodies.every(({ valid }) => valid)).toBe(true);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(64);
    expect(Math.max(...sizes)).toBeGreaterThan(8);
  });

  test('are read one by one when Postgres refuses their statement', async () => {
    const { acme, db } = await startSandbox({ databaseUrl: await newDatabase() });
    const { grantToken } = await grantTo(acme);
    await verify(acme, grantToken);
    await sql`create or replace function use_tokens(p_developer_ids text[], p_token_ids text[], p_times timestamptz[])
      returns table (place bigint, held grants, token tokens, agent_did text, agent_status agent_status,
        renewal_causes renewal_cause[], mode developer_mode, plan plan) language plpgsql as
      'begin raise exception ''planted''; end'`.execute(db);

    const { bodies, sent } = await together(Array.from({ length: 5 }, () => () => verify(acme, grantToken)));

    expect(bodies.map(({ valid }) => valid)).toEqual([true, true, true, true, true]);
    expect(sent.map(({ name }) => name)).toEqual(expect.arrayContaining(['use_tokens', 'use_token']));
  });

  test('are found as a token alone is', async () => {
    const { acme, db, clock } = await startSandbox();
    const granted = await Promise.all(Array.from({ length: 7 }, () => grantTo(acme)));
    const [live, revoked, suspended, byResource, endedForResource, gone, renewed] = granted;
    await acme('DELETE', `/v1/grants/${revoked?.grantId}`);
    await acme('PATCH', `/v1/agents/${suspended?.agentId}`, { status: 'suspended' });
    const tokenOf = (each: (typeof granted)[number] | undefined) =>
      partsOf(String(each?.grantToken)).payload.jti;
    await sql`update tokens set subject_token_id = ${tokenOf(live)} where id = ${tokenOf(byResource)}`.execute(
      db,
    );
    await sql`update tokens set subject_token_id = ${tokenOf(revoked)} where id = ${tokenOf(endedForResource)}`.execute(
      db,
    );
    await sql`update tokens set revoked_at = ${clock()} where id = ${tokenOf(revoked)}`.execute(db);
    await sql`update grants set principal_id = 'gone' where id = ${gone?.grantId}`.execute(db);
    await sql`update grants set issued_at = issued_at - interval '9 days' where id = ${renewed?.grantId}`.execute(
      db,
    );
    await acme('PATCH', '/v1/me', { reconsentAfterDays: 5 });
    await db.transaction().execute(async (tx) => {
      await sql`set local session_replication_role = replica`.execute(tx);
      await sql`insert into scim_principals values (${acme.developerId}, 'gone', 'gone', false, 'usr_1', true, false)`.execute(
        tx,
      );
    });
    const ids = [...granted.map(tokenOf), 'tok_unknown'];
    const rows = async (from: RawBuilder<unknown>) => {
      const found = sql<Found>`select token, held, (held).status, (token).revoked_at is not null as is_ended,
        agent_did, agent_status, renewal_causes::text[] from ${from} f`;
      return (await found.execute(db)).rows;
    };
    const now = clock();

    const alone: Found[] = [];
    for (const id of ids) alone.push(...(await rows(sql`use_token(${acme.developerId}, ${id}, ${now})`)));
    await sql`update grants set last_used_at = null where developer_id = ${acme.developerId}`.execute(db);
    const developers = ids.map(() => acme.developerId);
    const inOne = await rows(sql`use_tokens(${developers}, ${ids}, ${ids.map(() => now)})`);

    expect(
      alone.map(({ status, isEnded, agentStatus, renewalCauses }) => [
        status,
        isEnded,
        agentStatus,
        ...renewalCauses,
      ]),
    ).toEqual([
      ['active', false, 'active'],
      ['revoked', true, 'active'],
      ['active', false, 'suspended'],
      ['active', false, 'active'],
      ['active', true, 'active'],
      ['revoked', false, 'active'],
      ['active', false, 'active', 'age'],
    ]);
    expect(inOne).toEqual(alone);
    const used = await db
      .selectFrom('grants')
      .select('id')
      .where('developerId', '=', acme.developerId)
      .where('lastUsedAt', 'is not', null)
      .execute();
    const usable = [live, byResource, renewed].map((each) => each?.grantId);
    expect(used.map(({ id }) => id).sort()).toEqual(usable.sort());
  });
});
