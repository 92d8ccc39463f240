import fc from 'fast-check';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { failingStatements } from '../../../../test/app/failing-statements.ts';
import {
  askTogether,
  decisionsIn,
  entriesOf,
  grantTo,
  mailer,
  partsOf,
  sharedSandbox,
  startSandbox,
  usedOf,
} from '../../../../test/app/flow.ts';
import { newResource } from '../../../../test/app/oauth.ts';
import { send } from '../../../../test/app/repeating.ts';
import { type Developer, newDatabase, type Service } from '../../../../test/app/start-app.ts';

const sandbox = sharedSandbox();

const INEXACT = '9.000000000000001';
const UNREADABLE = { sub_reason: 'argument_unreadable', details: { cause: 'number' } };
const tools = { pay: { permission: 'write', arguments: { '/amount': { max: '500' } } } };

/** An agent that may pay up to 500, and the members of a question about it, as texts. */
async function payer() {
  const { acme, service } = await sandbox();
  await acme('PUT', '/v1/manifests/shop', { $schema: 'x', connector: 'shop', version: '1', tools });
  const { grantToken } = await grantTo(acme, { scopes: ['tool:shop:write'] });
  const question = [
    `"subject":{"type":"token","id":"${partsOf(grantToken).payload.jti}"}`,
    '"action":{"name":"pay"}',
    '"resource":{"type":"connector","id":"shop"}',
  ];
  const ask = async (text: string) => (await postText(service, acme, '/access/v1/evaluation', text)).json();
  const askTogether = async (text: string) =>
    (await postText(service, acme, '/access/v1/evaluations', text)).json();
  const askNatively = async (members: string) => {
    const text = `{"grantToken":"${grantToken}","connector":"shop","tool":"pay"${members}}`;
    return (await postText(service, acme, '/v1/enforce', text)).json();
  };
  return { question, ask, askTogether, askNatively };
}

/** Sends a body as it is written: no parser touches its digits. */
function postText({ app }: Service, { apiKey }: Developer, url: string, payload: string) {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  return app.inject({ method: 'POST', url, headers, payload });
}

const paying = (amount: string) => `"context":{"arguments":{"amount":${amount}}}`;

test('an inexact number denies the question of a batch that has it, and no other', async () => {
  const { question, askTogether } = await payer();
  const batch = (...evaluations: string[]) =>
    askTogether(`{${[...question, paying('5')]},"evaluations":[${evaluations}]}`);

  const answer = await batch('{}', `{${paying(INEXACT)}}`, `{${paying('6.5')}}`);

  expect(decisionsIn(answer)).toEqual([true, false, true]);
  expect(answer.evaluations[1].context).toMatchObject(UNREADABLE);
  const escaped = String.raw`{"conte\u0078t":{"\u0061rguments":{"amount":${INEXACT}}}}`;
  const large = `{ "context" : {"arguments": {"amount" : 9007199254740993} } }`;
  expect(decisionsIn(await batch(escaped, '{}', large, '{}'))).toEqual([false, true, false, true]);
});

test('an inexact number of a default denies the questions that inherit it', async () => {
  const { question, askTogether } = await payer();

  const answer = await askTogether(
    `{${[...question, paying(INEXACT)]},"evaluations":[{},{${paying('5')}},{"context":{}}]}`,
  );

  expect(answer.evaluations).toMatchObject([
    { decision: false, context: UNREADABLE },
    { decision: true },
    { decision: false, context: { sub_reason: 'argument_missing' } },
  ]);
});

test('an inexact number in both places of the arguments denies, also when it rounds to the other', async () => {
  const { question, ask } = await payer();
  const [subject, , resource] = question;
  const twice = (one: string, other: string) =>
    ask(
      `{${subject},"action":{"name":"pay","properties":{"arguments":{"amount":${one}}}},${resource},${paying(other)}}`,
    );

  expect((await twice('500', '500')).decision).toBe(true);
  expect(await twice('500', '500.0000000000000000001')).toMatchObject({
    decision: false,
    context: UNREADABLE,
  });
  expect(await twice('500.0000000000000000001', '500')).toMatchObject({
    decision: false,
    context: UNREADABLE,
  });
});

test.each(['"amount"', '"case_id"', '"cost_components"'])(
  'an inexact number in %s of the context denies',
  async (name) => {
    const { question, ask } = await payer();
    const of = (value: string) => ask(`{${question},"context":{"arguments":{"amount":5},${name}:${value}}}`);

    expect((await of(name === '"amount"' ? '5' : 'null')).context?.sub_reason).not.toBe(
      'argument_unreadable',
    );
    expect(await of(`{"a":[${INEXACT}]}`)).toMatchObject({ decision: false, context: UNREADABLE });
  },
);

/** Places whose members AuthZEN has ignored: each holds a number. */
const noise = fc.record(
  Object.fromEntries(
    ['body', 'options', 'evaluation', 'subject', 'resource', 'action', 'context'].map((place) => [
      place,
      fc.option(fc.constantFrom(INEXACT, '1e-400', '7'), { nil: undefined }),
    ]),
  ),
);
const digits = fc.constantFrom('5', '500', '501', '5.0', '5e2', INEXACT, '500.0000000000000000001', '5e-400');
const ownDigits = fc.option(digits, { nil: undefined });
const spaces = fc.constantFrom('', ' ', '\n\t');

test('each question of a batch is decided as the native door decides it alone, whatever stands beside it', async () => {
  const { question, askTogether, askNatively } = await payer();
  const [subject = '', action = '', resource = ''] = question;
  const alone = new Map<string | undefined, Promise<{ allowed: boolean; subReason: string | null }>>();
  const nativelyAlone = (amount: string | undefined) => {
    const asked = alone.get(amount) ?? askNatively(amount ? `,"arguments":{"amount":${amount}}` : '');
    alone.set(amount, asked);
    return asked;
  };
  const noted = (member: string, number: string | undefined) =>
    number === undefined ? member : member.replace(/\}$/, `,"note":{"n":[${number}]}}`);

  await fc.assert(
    fc.asyncProperty(
      ownDigits,
      fc.array(ownDigits, { minLength: 1, maxLength: 5 }),
      noise,
      spaces,
      async (shared, own, noisy, space) => {
        const contextOf = (amount: string | undefined) =>
          amount === undefined ? [] : [noted(paying(amount), noisy.context)];
        const evaluations = own.map((amount) => {
          const members = contextOf(amount);
          if (noisy.evaluation !== undefined) members.push(`"note":${noisy.evaluation}`);
          return `{${members.join(`${space},`)}}`;
        });
        const members = [
          noted(subject, noisy.subject),
          noted(action, noisy.action),
          noted(resource, noisy.resource),
          ...contextOf(shared),
          ...(noisy.body === undefined ? [] : [`"note"${space}:${noisy.body}`]),
          ...(noisy.options === undefined ? [] : [`"options":{"note":${noisy.options}}`]),
        ];

        const answer = await askTogether(
          `{${members.join(`,${space}`)},"evaluations"${space}:${space}[${evaluations.join()}]}`,
        );

        const expected = await Promise.all(own.map((amount) => nativelyAlone(amount ?? shared)));
        expect(
          answer.evaluations.map(({ decision, context }: { decision: boolean; context: object }) => [
            decision,
            Object(context).sub_reason ?? null,
          ]),
        ).toEqual(expected.map(({ allowed, subReason }) => [allowed, subReason]));
      },
    ),
    { numRuns: 60 },
  );
  expect((await nativelyAlone('5')).allowed).toBe(true);
  expect((await nativelyAlone(INEXACT)).subReason).toBe('argument_unreadable');
});

test('a number that two readers read differently is denied, as at the native door', async () => {
  const { acme, service } = await sandbox();
  const tools = { pay: { permission: 'write', arguments: { '/amount': { max: '500' } } } };
  await acme('PUT', '/v1/manifests/shop', { $schema: 'x', connector: 'shop', version: '1', tools });
  const { grantToken } = await grantTo(acme, { scopes: ['tool:shop:write'] });
  const ask = async (amount: string) => {
    const question = {
      subject: { type: 'token', id: partsOf(grantToken).payload.jti },
      ...{ action: { name: 'pay' }, resource: { type: 'connector', id: 'shop' } },
      context: { arguments: { amount: 0 } },
    };
    const answer = await service.app.inject({
      ...{ method: 'POST', url: '/access/v1/evaluation' },
      headers: { authorization: `Bearer ${acme.apiKey}`, 'content-type': 'application/json' },
      payload: JSON.stringify(question).replace('"amount":0', `"amount":${amount}`),
    });
    return answer.json();
  };

  expect(await ask('500')).toMatchObject({ decision: true });
  for (const inexact of ['500.0000000000000000001', '9.000000000000001']) {
    expect(await ask(inexact)).toMatchObject({
      decision: false,
      context: { sub_reason: 'argument_unreadable', details: { cause: 'number' } },
    });
  }
});

test('a resource of two connectors names the one that it means', async () => {
  const { acme, calling } = await sandbox();
  const audience = 'http://localhost/two-connectors';
  const { id, credential } = await newResource(acme, audience);
  await acme('PATCH', `/v1/resources/${id}`, { connectors: ['desk', 'shelf'] });
  const manifest = { $schema: 'x', connector: 'desk', version: '1', tools: { list: 'read' } };
  await acme('PUT', '/v1/manifests/desk', manifest);
  const { grantToken } = await grantTo(acme, { scopes: ['tool:desk:read'], audience });
  const ask = async (more: object = {}) => {
    const answer = await calling(credential)('POST', '/access/v1/evaluation', {
      subject: { type: 'token', id: partsOf(grantToken).payload.jti },
      ...{ action: { name: 'tools/call' }, resource: { type: 'tool', id: 'list', ...more } },
    });
    return answer.json().decision;
  };

  expect(await ask()).not.toBe(true);
  expect(await ask({ properties: { connector: 'desk' } })).toBe(true);
});

const url = '/access/v1/evaluations';
const WAYS = ['without an `Idempotency-Key`', 'with an `Idempotency-Key`'];

test.each(WAYS)('a batch %s that fails gives back what it took, whichever statement fails', async (way) => {
  const { dbAs, failEach } = failingStatements();
  const { acme, service } = await startSandbox({ dbAs });
  const { question, grantId } = await mailer(acme);
  const body = { ...question, evaluations: [{}, {}, {}] };
  const { apiKey } = acme;
  const ask = () => (way === WAYS[0] ? acme('POST', url, body) : send(service, { url, apiKey, body }));

  const left: number[] = [];
  const { answer, failures } = await failEach(ask, async ({ statusCode }) => {
    expect(statusCode).toBeGreaterThanOrEqual(500);
    left.push(await usedOf(acme, grantId));
  });

  // The last statement with a key keeps the answer: the batch has not failed then, and is found again by its key.
  if (way === WAYS[1]) expect(left.pop()).toBe(3);
  expect(left).toEqual(left.map(() => 0));
  expect(failures).toBeGreaterThan(5);
  expect(decisionsIn(answer.json())).toEqual([true, true, true]);
  expect(await usedOf(acme, grantId)).toBe(3);
});

test.each(WAYS)('a batch %s gives back what it took when the database takes no more', async (way) => {
  const { acme, service } = await startSandbox({ databaseUrl: await newDatabase() });
  const { question, grantId } = await mailer(acme);
  await sql`create function fail_third() returns trigger language plpgsql as
    $$ begin if (select count(*) from enforced_calls) >= 2 then raise exception 'the disk is full' using errcode = '53100';
      end if; return new; end $$`.execute(service.db);
  await sql`create trigger fail_third before insert on enforced_calls
    for each row execute function fail_third()`.execute(service.db);
  const body = { ...question, evaluations: [{}, {}, {}] };
  const { apiKey } = acme;

  const answer = way === WAYS[0] ? await acme('POST', url, body) : await send(service, { url, apiKey, body });

  expect(answer.statusCode).toBe(503);
  expect(await usedOf(acme, grantId)).toBe(0);
});

test('a batch that is sent again is charged once, and each question of it by itself', async () => {
  const { acme, service } = await sandbox();
  const { question, grantId } = await mailer(acme);
  const body = { ...question, evaluations: [{}, {}, {}] };
  const ask = () => send(service, { url, apiKey: acme.apiKey, body });

  const [first, second] = [await ask(), await ask()];

  expect(decisionsIn(first.json())).toEqual([true, true, true]);
  expect(second.json()).toEqual(first.json());
  expect(await usedOf(acme, grantId)).toBe(3);
});

test('a batch that was charged, and whose answer was lost with its entries, is charged no more when it comes again', async () => {
  const { acme, service } = await startSandbox({ databaseUrl: await newDatabase() });
  const { question, grantId } = await mailer(acme);
  await sql`create sequence failures`.execute(service.db);
  await sql`create function fail_once() returns trigger language plpgsql as
    $$ begin if nextval('failures') = 1 then raise exception 'no' using errcode = '53100'; end if; return new; end $$`.execute(
    service.db,
  );
  await sql`create trigger fail_once before insert or update on idempotent_answers
    for each row when (new.body is not null) execute function fail_once()`.execute(service.db);
  const body = { ...question, evaluations: [{}, {}, {}] };
  const ask = () => send(service, { url, apiKey: acme.apiKey, body });
  const state = async () => [await usedOf(acme, grantId), (await entriesOf(acme, 'tool.enforce')).length];

  const lost = await ask();
  const between = await state();
  const again = await ask();

  expect([lost.statusCode, between]).toEqual([503, [3, 0]]);
  expect(decisionsIn(again.json())).toEqual([true, true, true]);
  expect(await state()).toEqual([3, 3]);
});

test('each permit of a batch has an entry of its own, which has its call', async () => {
  const { acme } = await sandbox();
  const { question } = await mailer(acme);

  const { evaluations } = await askTogether(acme, { ...question, evaluations: [{}, {}] });

  const entries = await entriesOf(acme, 'tool.enforce');
  const idsOf = (answers: { context: { call_id: string } }[]) =>
    answers.map(({ context }) => context.call_id);
  expect(entries.map(({ metadata }) => metadata.callId)).toEqual(idsOf(evaluations));
});
