import { expect, test } from 'vitest';
import { enrolApprover, payer } from '../../../../test/app/approving.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';

/** The numbers of the metrics about decisions, by their names and labels. */
async function counted({ app }: Service): Promise<Record<string, number>> {
  const { body } = await app.inject({ url: '/metrics' });
  const lines = body.matchAll(/^(?:acts_total\{type="decision\.(\w+)"\}|(decisions_waiting)) (\d+)$/gm);
  return Object.fromEntries([...lines].map(([, type, name, count]) => [type ?? name, Number(count)]));
}

test('the metrics tell what was asked, approved, denied, expired and used, and what waits', async () => {
  const service = await startApp();
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const agent = await payer(acme);
  const ada = await enrolApprover(service, acme, 'ada@example.org');
  const ask = async (to: string) =>
    (await agent.ask({ arguments: { to }, expiresIn: '1h' })).json().decisionId;
  const [used, denied] = [await ask('A'), await ask('B')];
  await ask('C');
  await ada.approve(used);
  await ada.deny(denied);
  await agent.enforce({ arguments: { to: 'A' }, decisionGrants: await agent.grantsOf(used) });

  const seen = { requested: 3, granted: 1, denied: 1, consumed: 1 };
  expect(await counted(service)).toMatchObject({ ...seen, decisions_waiting: 1 });

  service.advance(3600);
  expect(await counted(service)).toMatchObject({ ...seen, decisions_waiting: 0 });
  await service.runJob('care of decisions');
  expect(await counted(service)).toMatchObject({ ...seen, expired: 1, decisions_waiting: 0 });
});
