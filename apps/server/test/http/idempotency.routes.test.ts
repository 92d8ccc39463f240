import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { openDatabase } from '../../src/platform/db/open-database.ts';
import { isRepeatable } from '../../src/platform/http/routes/declarations.ts';
import { enrolApprover } from '../app/approving.ts';
import { askOutside, operationOf, possessionsOf, requestTo, ways } from '../app/every-route.ts';
import { send } from '../app/repeating.ts';
import { newDatabase, type Service, startApp } from '../app/start-app.ts';
import { execute } from '../servers/postgres.ts';

let service: Service;
beforeAll(async () => {
  service = await startApp({ isShared: true, databaseUrl: await newDatabase() });
  await execute(
    service.databaseUrl,
    `create table full_disk (is_full boolean);
     create function refuse_to_keep() returns trigger language plpgsql as $$
       begin
         if exists (select from full_disk) then raise exception 'full'; end if;
         return new;
       end $$;
     create trigger refuse_to_keep before insert on idempotent_answers for each row execute function refuse_to_keep();`,
  );
  return service.stop;
});

/** Whether no answer can be kept, as when the disk is full. */
const cannotKeep = (isSo: boolean) =>
  execute(service.databaseUrl, isSo ? 'insert into full_disk values (true)' : 'delete from full_disk');

/**
 * How many rows each table has, and the sum of their hashes, without the time at which an API key was last used and
 * without bits that `flips` counts. Texts of all rows would be compared for each route, and grow with every route.
 */
async function everything(): Promise<Record<string, string>> {
  const { rows: tables } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE'
        -- what a process has noted of requests is written when it is read, and so with another request
        and table_name not in ('failed_requests', 'failed_request_counts', 'activity_counts')`.execute(
    service.db,
  );
  const contents = tables.map(async ({ name }) => {
    const { rows } = await sql<{ sum: string }>`
      select concat(count(*), ' rows, ', sum(hashtextextended((to_jsonb(kept) - 'last_used_at' - 'bits')::text, 0))) as sum
        from ${sql.table(name)} kept`.execute(service.db);
    return [name, rows[0]?.sum ?? ''] as const;
  });
  return Object.fromEntries(await Promise.all(contents));
}

/**
 * Without the meter's tables and that of decisions: reservations, and the steps of a decision, are transactions of their
 * own, found again by the call's id.
 */
const unmetered = (contents: Record<string, string>) =>
  Object.fromEntries(Object.entries(contents).filter(([name]) => !/^(?:caps_|decisions$)/.test(name)));

/** Ends its own API key, so a repeated request finds no account. */
const CLOSING = 'POST /v1/me/close';

/** A request to the route that will be granted, about a developer of its own. */
async function goodRequest(operation: string) {
  const owner = await service.asDeveloper({ mode: 'sandbox' });
  const its = await possessionsOf(owner);
  if (operation === 'POST /v1/authorize/:id/code') {
    await owner('POST', `/v1/authorize/${its.authRequestId}/approve`);
  }
  if (operation === 'POST /v1/compliance/holds/:id/release') {
    const { id } = (await owner('POST', '/v1/compliance/holds', { name: 'Case 8' })).json();
    Object.assign(its, { holdId: id }); // the hold of the samples has been released
  }
  if (operation === 'POST /v1/sso/enforce') {
    await owner('PATCH', `/v1/sso/connections/${its.ssoConnectionId}`, { enforce: true });
  }
  if (operation === 'POST /v1/me/resume') await owner('POST', '/v1/me/stop', {});
  if (/decisions\/(?:consume|:id\/grants)$/.test(operation)) {
    const approver = await enrolApprover(service, owner, 'ada@example.org');
    // A request that was made before an approver came goes to others.
    await owner('POST', `/v1/decisions/${its.decisionId}/cancel`);
    const asking = requestTo('POST /v1/decisions', its);
    const call = { ...asking.body, arguments: { folder: 'spam' } };
    Object.assign(its, { decisionId: (await owner('POST', asking.url, call)).json().decisionId });
    const approved = await approver.approve(String(its.decisionId));
    if (approved.statusCode !== 200) throw new Error(`approve: ${approved.body}`);
  }
  const request = requestTo(operation, its);
  const body = operation === CLOSING ? { confirm: owner.developerId } : request.body;
  if (operation === 'POST /v1/decisions/consume') {
    const granted = await owner('POST', `/v1/decisions/${its.decisionId}/grants`, {
      grantToken: its.grantToken,
    });
    Object.assign(Object(body), { decisionGrants: granted.json().decisionGrants, phase: 'hold' });
  }
  return { ...request, body: body ?? '', apiKey: owner.apiKey };
}

/** Routes that only read. A read may still record its use. */
const READING = [
  '/v1/tokens/verify',
  '/v1/tokens/introspect',
  '/v1/grants/verify',
  '/v1/authorize/:id/code',
  '/v1/authorize/:id/link',
  '/v1/decisions/:id/grants',
  '/v1/enforce/tools',
  '/v1/policies/evaluate',
  '/v1/sso/connections/:id/test',
  '/v1/sso/metadata',
  '/v1/policies/replay',
  '/v1/manifests/:connector/replay',
  '/v1/me/branding/preview',
  '/v1/console/session/links', // Redis keeps it
  '/v1/webhooks/:id/recover', // no delivery of the sample has failed
];

/** Without the routes that ask a party outside; the tests of their features repeat those. */
const repeatableInside = () =>
  service.routes
    .filter(isRepeatable)
    .map(operationOf)
    .filter((operation) => !askOutside.includes(operation));

describe('I13: every POST and PATCH that takes an API key', () => {
  test('is listed below', () => {
    const repeatable = service.routes.filter(isRepeatable).map(operationOf);

    expect(repeatable.length).toBeGreaterThan(15);
    for (const [operation] of Object.entries(ways).filter(([each]) => /^(POST|PATCH)/.test(each))) {
      expect(repeatable).toContain(operation);
    }
  });

  test('has no effect without its answer, and gets the same answer when it comes again', {
    timeout: 300_000,
  }, async () => {
    for (const operation of repeatableInside()) {
      const request = await goodRequest(operation);
      const before = await everything();
      await cannotKeep(true);
      const failed = await send(service, request);
      await cannotKeep(false);
      const afterFailure = await everything();
      const done = await send(service, request);
      const afterFirst = await everything();
      const again = await send(service, request);

      expect([operation, failed.statusCode], failed.body).toEqual([operation, 500]);
      const isMetered = /^POST \/v1\/(?:enforce|decisions\/consume)/.test(operation);
      expect(isMetered ? unmetered(afterFailure) : afterFailure, operation).toEqual(
        isMetered ? unmetered(before) : before,
      );
      expect([operation, Math.floor(done.statusCode / 100)], done.body).toEqual([operation, 2]);
      expect(done.headers['idempotency-replayed']).toBeUndefined();
      if (operation === CLOSING) expect(again.statusCode).toBe(401);
      else {
        expect(again.headers['idempotency-replayed'], operation).toBe('true');
        expect([again.statusCode, again.body]).toEqual([done.statusCode, done.body]);
      }
      expect(await everything(), operation).toEqual(afterFirst);
      const changed = Object.keys(before).filter((name) => before[name] !== afterFirst[name]);
      const isReading = READING.some((path) => operation.endsWith(path));
      expect(changed.length > 1, `${operation} changed ${changed}`).toBe(!isReading);
    }
  });

  test('needs no second connection, so many at once never wait for each other', {
    timeout: 300_000,
  }, async () => {
    const { databaseUrl } = service;
    const one = () => openDatabase({ connectionString: databaseUrl }, 1, undefined, { connect: 2000 });
    const narrow = await startApp({ databaseUrl, dbAs: one });
    for (const operation of repeatableInside()) {
      const done = await send(narrow, await goodRequest(operation));

      expect([operation, Math.floor(done.statusCode / 100)], done.body).toEqual([operation, 2]);
    }
  });
});
