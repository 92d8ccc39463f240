import { checkLimits } from '@behest/protocol/limits';
import { redactReceipt, verifyReceipt } from '@behest/sdk/receipts';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { askTogether, entriesOf, mailer, sharedSandbox } from '../../../../test/app/flow.ts';
import { entriesOfTree, fourDeep, raceThrough } from '../../../../test/app/spending.ts';
import type { Developer } from '../../../../test/app/start-app.ts';

const sandbox = sharedSandbox();

/** Whether a call is allowed. */
async function pay(acme: Developer, level: { readonly grantToken: string } | undefined, caseId: string) {
  const call = { connector: 'bank', tool: 'pay', arguments: {}, caseId, grantToken: level?.grantToken };
  return (await acme('POST', '/v1/enforce', call)).json().allowed;
}

describe('what the log says of the limits of a tree of grants', () => {
  test('R9 adds up to what was counted when calls, refunds and debits raced: no limit was exceeded', async () => {
    const { acme } = await sandbox();
    const levels = await fourDeep(acme, (depth) => 20 - 4 * depth);

    const allowed = await raceThrough(acme, levels, 200);

    const report = checkLimits(await entriesOfTree(acme, levels));
    expect(report).toMatchObject({ holds: true, first: null, calls: allowed, unread: 0 });
    expect(report.refunded).toBeGreaterThan(0);
    for (const { grantId } of levels) {
      const query = `grantId=${grantId}&connector=bank&tool=pay`;
      const { counters } = (await acme('GET', `/v1/enforce/usage?${query}`)).json();
      const used = (scope: string) =>
        counters
          .filter((counter: { scope: string }) => counter.scope === scope)
          .map((one: { used: number }) => one.used);
      const own = report.caps.filter((cap) => cap.grantId === grantId && cap.window !== 'per_case');
      expect(own.map(({ peak }) => peak).sort()).toEqual(used('grant').sort());
    }
    const balances = await Promise.all(
      report.budgets.map(
        async ({ grantId }) => (await acme('GET', `/v1/budget/balance/${grantId}`)).json().spent,
      ),
    );
    expect(report.budgets.map(({ spent }) => spent)).toEqual(balances);
    expect(balances.map(Number).every((spent) => spent > 0)).toBe(true);
  });

  test('changes with every entry that is taken away or edited', async () => {
    const { acme } = await sandbox();
    const levels = await fourDeep(acme, () => 5);
    await raceThrough(acme, levels, 40);
    const entries = await entriesOfTree(acme, levels);
    const whole = JSON.stringify(checkLimits(entries));
    const refunded = entries
      .filter(({ action }) => action === 'tool.refunded')
      .map(({ metadata }) => metadata.callId);
    // What a refunded call took counts nowhere: only its leaf in the log shows that it was edited.
    const matters = ({ action, status, metadata }: (typeof entries)[number]) =>
      status === 'success' &&
      ['grant.created', 'tool.refunded', 'budget.allocated', 'budget.debited'].includes(action) !==
        (action === 'tool.enforce' && !refunded.includes(metadata.callId));

    const unnoticed = entries.filter((entry, at) => {
      if (!matters(entry)) return false;
      const { charge, amount, authorizationDetails, initialBudget, callId } = entry.metadata;
      const edited = {
        ...entry.metadata,
        ...(charge !== undefined && { charge: { ...Object(charge), units: 4 } }),
        ...(charge === undefined && callId !== undefined && { callId: 'call-other' }),
        ...(amount !== undefined && { amount: '0.5000' }),
        ...(initialBudget !== undefined && { initialBudget: '99.0000' }),
        ...(authorizationDetails !== undefined && { authorizationDetails: [] }),
      };
      return [entries.toSpliced(at, 1), entries.with(at, { ...entry, metadata: edited })].some(
        (others) => JSON.stringify(checkLimits(others)) === whole,
      );
    });

    expect(unnoticed).toEqual([]);
  });

  test('names the first call that a meter let through after it had lost its counters', async () => {
    const { acme, service } = await sandbox();
    const levels = await fourDeep(acme, () => 2);
    for (let times = 0; times < 3; times += 1) await pay(acme, levels[4], `case-${times}`);
    const before = checkLimits(await entriesOfTree(acme, levels));
    await sql`delete from caps_counter where developer_id = ${acme.developerId}`.execute(service.db);
    await sql`delete from caps_slot where developer_id = ${acme.developerId}`.execute(service.db);

    const isAllowed = await pay(acme, levels[4], 'case-9');

    const entries = await entriesOfTree(acme, levels);
    expect([before.holds, before.calls, isAllowed]).toEqual([true, 2, true]);
    expect(checkLimits(entries)).toMatchObject({
      holds: false,
      first: { seq: entries.at(-1)?.seq, grantId: levels[0]?.grantId, problem: 'cap_exceeded' },
    });
  });

  test('counts caps by case anew once their case was closed', async () => {
    const { acme } = await sandbox();
    const levels = await fourDeep(acme, (depth) => (depth === 0 ? 9 : 1));
    for (let times = 0; times < 4; times += 1) await pay(acme, levels[0], 'case-1');

    await acme('DELETE', '/v1/decisions/cases/case-1');
    const again = await Promise.all(Array.from({ length: 4 }, () => pay(acme, levels[0], 'case-1')));

    expect(again.every(Boolean)).toBe(true);
    expect(await entriesOf(acme, 'case.caps_reset')).toMatchObject([
      { grantId: levels[0]?.grantId, metadata: { caseId: 'case-1' } },
    ]);
    const { holds, caps } = checkLimits(await entriesOfTree(acme, levels));
    expect([holds, caps.find(({ window }) => window === 'per_case')?.peak]).toEqual([true, 4]);
  });

  test('leaves out the calls of a batch whose units were given back', async () => {
    const { acme } = await sandbox();
    const caps = [{ type: 'urn:service:tools:v1', connector: 'acme_mail', caps: { send: { per_day: 1 } } }];
    const { question, grantId, grantToken } = await mailer(acme, { authorizationDetails: caps });
    const evaluations = [question, { ...question, action: { name: 'unknown' } }];

    await askTogether(acme, { evaluations, options: { evaluations_semantic: 'deny_on_first_deny' } });
    const next = await acme('POST', '/v1/enforce', {
      grantToken,
      connector: 'acme_mail',
      tool: 'send',
      arguments: {},
    });

    expect(next.json().allowed).toBe(true);
    const report = checkLimits(await entriesOfTree(acme, [{ grantId, grantToken }]));
    expect(report).toMatchObject({ holds: true, calls: 1, refunded: 1 });
  });

  test('stands signed in the receipt, and whoever checks the receipt counts again', async () => {
    const { acme, service } = await sandbox();
    const levels = await fourDeep(acme, () => 2);
    await raceThrough(acme, levels, 20);
    const receiptOf = async (query = '') =>
      (await acme('GET', `/v1/grants/${levels[2]?.grantId}/receipt${query}`)).json();
    const detailsOf = async (file: object) => {
      const { ok, failed, checks, warnings } = await verifyReceipt(file);
      return [ok, failed, checks.find(({ id }) => id === 'limits')?.detail, warnings.join()];
    };

    const receipt = await receiptOf();
    const { limits, ...without } = receipt;
    const [first, ...others] = limits.caps;
    const withOther = (change: object) => ({ ...without, limits: { ...limits, ...change } });

    expect(limits).toEqual(checkLimits(await entriesOfTree(acme, levels)));
    expect(await detailsOf(receipt)).toEqual([true, null, 'ok', '']);
    for (const change of [{ caps: [{ ...first, peak: 0 }, ...others] }, { holds: false }, { more: 1 }])
      expect(await detailsOf(withOther(change))).toEqual([
        false,
        'limits',
        'not_as_stated',
        expect.anything(),
      ]);
    expect(await detailsOf(without)).toEqual([true, null, 'withheld', 'withheld']);
    const hidden = redactReceipt(receipt, { hide: ['metadata.tool'] });
    expect(hidden.limits).toBeUndefined();
    expect(await detailsOf(hidden)).toEqual([true, null, 'withheld', 'withheld']);
    expect(redactReceipt(receipt, { hide: ['metadata.actor'] }).limits).toEqual(limits);
    const part = await receiptOf('?since=2026-01-01T00:00:00.000Z');
    expect([part.limits, ...(await detailsOf(part))]).toEqual([undefined, true, null, 'absent', 'narrowed']);

    for (let times = 0; times < 3; times += 1) await pay(acme, levels[4], `case-${times}`);
    for (const table of ['caps_counter', 'caps_slot'])
      await sql`delete from ${sql.table(table)} where developer_id = ${acme.developerId}`.execute(service.db);
    await pay(acme, levels[4], 'case-9');
    expect(await detailsOf(await receiptOf())).toEqual([true, null, 'ok', 'limits_exceeded']);
  });
});
