import { Behest } from '@behest/sdk';
import { protectTool } from '@behest/sdk/mastra';
import { expect, onTestFinished, test } from 'vitest';
import { enrolApprover } from '../../apps/server/test/app/approving.ts';
import { grantTo } from '../../apps/server/test/app/flow.ts';
import { startListening } from '../../apps/server/test/app/listening.ts';

const MANIFEST = { connector: 'bank', tools: { pay: { permission: 'write', requires_decision: true } } };
const PAYMENT = { to: 'ACME Ltd', invoice: 'invoice-0001' };

async function started() {
  const env = { FIDO_RP_ID: 'auth.test', FIDO_ORIGIN: 'https://auth.test' };
  const service = await startListening({ startsAt: new Date().toISOString(), env });
  onTestFinished(() => service.stop());
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  await acme('PUT', '/v1/manifests/bank', { $schema: 'x', ...MANIFEST });
  const { grantToken } = await grantTo(acme, { scopes: ['tool:bank:write'] });
  const ada = await enrolApprover(service, acme, 'ada@example.org');
  const paid: object[] = [];
  /** The tool in a process of its own. The service takes the steps of a process that loses, whose answers never come. */
  function newProcess(more: object = {}) {
    const line = { loses: false };
    const ask: typeof fetch = async (url, init) => {
      const answer = await fetch(url, init);
      const isUse = String(url).endsWith('/v1/decisions/consume') && String(init?.body).includes('"send"');
      if (line.loses && isUse) throw new TypeError('fetch failed');
      return answer;
    };
    const settings = { apiKey: acme.apiKey, baseUrl: service.url, allowSandbox: true, fetch: ask };
    const behest = new Behest({ ...settings, manifests: [MANIFEST] });
    onTestFinished(() => behest.close());
    const execute = async (payment: object) => void paid.push(payment);
    const calls = { connector: 'bank', grantToken, ...more };
    const tool = protectTool(behest, { id: 'pay', execute }, calls);
    const pay = () =>
      tool.execute(PAYMENT).then(
        () => 'paid',
        ({ subReason, details }) => subReason ?? details.status,
      );
    return { line, pay };
  }
  const asked = async (): Promise<{ decisionId: string; status: string }[]> =>
    (await acme('GET', '/v1/decisions')).json().decisions;
  return { acme, ada, paid, newProcess, asked };
}

test('R10: a tool whose use of a decision was not answered runs at the next attempt, once, and asks nobody again', async () => {
  const { ada, paid, newProcess, asked } = await started();
  const { line, pay } = newProcess();
  expect(await pay()).toBe('pending');
  await ada.approve(String((await asked())[0]?.decisionId));

  line.loses = true;
  expect([await pay(), await pay(), paid]).toEqual(['consume_unavailable', 'consume_unavailable', []]);
  expect((await asked()).map(({ status }) => status)).toEqual(['consumed']);
  line.loses = false;
  expect([await pay(), paid.length, (await asked()).length]).toEqual(['paid', 1, 1]);

  expect([await pay(), paid.length, (await asked()).length]).toEqual(['pending', 1, 2]); // another payment
});

test('R10: after a restart, a call with an id of its own finds its decision, and one without asks people', async () => {
  const { ada, paid, newProcess, asked } = await started();
  const named = { callId: (args: object) => String(Object(args).invoice) };
  const before = newProcess(named);
  expect(await before.pay()).toBe('pending');
  await ada.approve(String((await asked())[0]?.decisionId));
  before.line.loses = true;
  expect(await before.pay()).toBe('consume_unavailable');

  expect([await newProcess(named).pay(), paid.length, (await asked()).length]).toEqual(['paid', 1, 1]);
  expect([await newProcess().pay(), paid.length, (await asked()).length]).toEqual(['pending', 1, 2]);
});

test('R10: a tool whose call a person refused is denied, and people are not asked again', async () => {
  const { ada, paid, newProcess, asked } = await started();
  const { pay } = newProcess();
  expect(await pay()).toBe('pending');
  await ada.deny(String((await asked())[0]?.decisionId));

  expect([await pay(), await newProcess().pay(), paid]).toEqual(['denied', 'denied', []]);
  expect((await asked()).length).toBe(1);
});
