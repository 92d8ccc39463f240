import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { askTogether, decisionsIn, mailer, usedOf } from '../../../../test/app/evaluating.ts';
import { failingStatements } from '../../../../test/app/failing-statements.ts';
import { entriesOf, sharedSandbox, startSandbox } from '../../../../test/app/flow.ts';
import { send } from '../../../../test/app/repeating.ts';
import { newDatabase } from '../../../../test/app/start-app.ts';

const sandbox = sharedSandbox();

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
