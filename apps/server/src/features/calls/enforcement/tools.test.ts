import { describe, expect, test } from 'vitest';
import { entriesOf, grantTo, refusalOf, registerAgent, sharedSandbox } from '../../../../test/app/flow.ts';
import type { Call, Developer } from '../../../../test/app/start-app.ts';

const sandbox = sharedSandbox();
const PIN = `sha256:${'A'.repeat(43)}`;
const type = 'urn:service:tools:v1';

const tools = {
  list: 'read',
  send: { permission: 'write', caps: { per_day: 2 } },
  never: { permission: 'write', caps: { per_hour: 0 } },
  purge: 'admin',
  pay: { permission: 'write', arguments: { '/amount': { max: '5' } }, mcp_pins: [PIN] },
  other: 'read',
};

async function offering(acme: Developer) {
  await acme('PUT', '/v1/manifests/acme_mail', { $schema: 'x', connector: 'acme_mail', tools });
  const { grantToken, grantId, agentId } = await grantTo(acme, {
    scopes: ['tool:acme_mail:write'],
    authorizationDetails: [
      { type, connector: 'acme_mail', tools: ['list', 'send', 'never', 'purge', 'pay', 'unknown'] },
    ],
  });
  const offer = (names: readonly (string | object)[], ask: Call = acme) =>
    ask('POST', '/v1/enforce/tools', {
      grantToken,
      connector: 'acme_mail',
      tools: names.map((name) => (typeof name === 'string' ? { name } : name)),
    });
  return { grantToken, grantId, agentId, offer };
}

const hiddenBy = (answer: {
  json(): { hidden: { tool: string; reasonCode: string; subReason: string }[] };
}) => answer.json().hidden.map(({ tool, reasonCode, subReason }) => `${tool} ${reasonCode} ${subReason}`);

describe('the tools that some call with a token could use', () => {
  test('are listed in the order of the offer, and each hidden one has its reason', async () => {
    const { acme } = await sandbox();
    const { offer } = await offering(acme);

    const answer = await offer([
      'send',
      'purge',
      'list',
      'never',
      'other',
      'unknown',
      { name: 'pay', pin: PIN },
    ]);

    expect(answer.statusCode).toBe(200);
    expect(answer.json().tools).toEqual(['send', 'list', 'pay']);
    expect(hiddenBy(answer)).toEqual([
      'purge permission_insufficient null',
      'never cap_exceeded limit_reached',
      'other tool_not_granted not_in_authorization_details',
      'unknown manifest_unknown_tool unknown_tool',
    ]);
  });

  test('are not those whose description has changed, or whose name comes twice', async () => {
    const { acme } = await sandbox();
    const { offer } = await offering(acme);

    const answer = await offer([{ name: 'pay', pin: PIN.replace('A', 'B') }, 'list', 'list', 'lіst']);

    expect(answer.json().tools).toEqual([]);
    expect(hiddenBy(answer)).toEqual([
      'pay manifest_unknown_tool tool_changed',
      'list manifest_unknown_tool tool_ambiguous',
      'list manifest_unknown_tool tool_ambiguous',
      'lіst manifest_unknown_tool unknown_tool',
    ]);
  });

  test('are none for a token that is not good, with its reason', async () => {
    const { acme, service } = await sandbox();
    const { grantId, offer } = await offering(acme);
    const stranger = await service.asDeveloper({ mode: 'sandbox' });

    const foreign = await offer(['list'], stranger);
    await acme('DELETE', `/v1/grants/${grantId}`);
    const revoked = await offer(['list', 'send']);

    expect(hiddenBy(foreign)).toEqual(['list token_invalid null']);
    expect(hiddenBy(revoked)).toEqual(['list grant_revoked revoked', 'send grant_revoked revoked']);
  });

  test('stay listed when a cap is used up, and asking is no call', async () => {
    const { acme } = await sandbox();
    const { grantToken, offer } = await offering(acme);
    const call = { grantToken, connector: 'acme_mail', tool: 'send', arguments: {} };
    for (let used = 0; used < 2; used += 1) await acme('POST', '/v1/enforce', call);

    const answer = await offer(['send']);

    expect(answer.json()).toEqual({ tools: ['send'], hidden: [] });
    expect(await entriesOf(acme, 'tool.enforce')).toHaveLength(2);
    const { events } = (await acme('GET', '/v1/events?types=enforcement.denied')).json();
    expect(events).toEqual([]);
  });

  test('are shown to a key that is bound to the agent, and to no other bound key', async () => {
    const { acme } = await sandbox();
    const { agentId, offer } = await offering(acme);
    const { agentId: otherId } = await registerAgent(acme);
    const [own, other] = [await acme.asRuntime(agentId), await acme.asRuntime(otherId)];

    expect((await offer(['list'], own)).json().tools).toEqual(['list']);
    expect((await offer(['list'], other)).json().tools).toEqual([]);
  });

  test.each([
    ['none', []],
    ['over a thousand', Array.from({ length: 1001 }, (_, at) => `tool_${at}`)],
    ['with a member that is not known', [{ name: 'list', extra: 1 }]],
  ])('are refused for an offer %s', async (_, names) => {
    const { acme } = await sandbox();
    const { offer } = await offering(acme);

    expect(refusalOf(await offer(names))).toBe('400 BAD_REQUEST');
  });
});
