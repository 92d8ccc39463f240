import type { Context } from '../context.ts';
import { CliError, EXIT } from '../errors.ts';
import { emptyMeter } from '../system/meter.ts';

const MANIFEST = { connector: 'calendar', tools: { list_events: 'read', delete_event: 'delete' } };
const SCOPES = ['calendar:read', 'tool:calendar:read'];

/** Plays the story, and says each step. @throws CliError at the first step that is not as it has to be */
export async function play(context: Context, isKept: boolean): Promise<void> {
  const { url, apiKey } = await context.settings();
  const me = await (await context.client()).me();
  if (me.mode !== 'sandbox')
    throw new CliError('LIVE', 'The demo needs the key of a sandbox account, where nobody has to consent.', {
      exitCode: EXIT.refused,
      next: 'behest signup --name Demo --mode sandbox',
    });
  const { Behest } = await import('@behest/sdk/enforce');
  const behest = new Behest({
    ...{
      apiKey: apiKey ?? null,
      baseUrl: url,
      allowSandbox: true,
      manifests: [MANIFEST],
      meter: await emptyMeter(),
    },
    fetch: context.exchange.fetchWith(apiKey),
  });
  let step = 0;
  const say = (text: string) => {
    step += 1;
    context.line(`${String(step).padStart(2)}  ${text}`);
  };
  const must = (isSo: boolean, what: string) => {
    if (!isSo)
      throw new CliError('DEMO', `${what} is not as it has to be.`, {
        exitCode: EXIT.no,
        next: 'behest doctor',
      });
  };
  const made: string[] = [];
  try {
    const agent = await behest.agents.register({ name: 'Demo: travel agent', scopes: SCOPES });
    made.push(agent.id);
    say(`register     ${agent.id} may ask for ${SCOPES.join(', ')}`);
    const asked = await behest.authorize({ agentId: agent.id, userId: 'user_42', scopes: SCOPES });
    say(`authorize    ${asked.authRequestId} is ${asked.status}; in a sandbox nobody has to consent`);
    const { grantToken, grantId } = await behest.tokens.exchange({
      code: asked.code ?? '',
      agentId: agent.id,
    });
    say(`exchange     the code for a grant token of ${grantId}`);
    const verified = await behest.verify(grantToken);
    say(`verify       offline: ${verified.agentId} acts for ${verified.principalId}`);
    const helper = await behest.agents.register({ name: 'Demo: helper', scopes: SCOPES });
    made.push(helper.id);
    const delegated = await behest.grants.delegate({
      parentGrantToken: grantToken,
      subAgentId: helper.id,
      scopes: ['tool:calendar:read'],
    });
    say(`delegate     ${helper.id} gets less: tool:calendar:read`);
    const call = { grantToken: delegated.grantToken, connector: 'calendar', arguments: {} };
    const allowed = await behest.enforce({ ...call, tool: 'list_events' });
    must(allowed.allowed, 'The allowed call');
    say('enforce      list_events: allowed');
    const denied = await behest.enforce({ ...call, tool: 'delete_event' });
    must(!denied.allowed, 'The denied call');
    say(`enforce      delete_event: denied, ${denied.reason_code}: ${denied.reason}`);
    await behest.grants.revoke(grantId);
    say(`revoke       ${grantId}, and all that was delegated from it`);
    const after = await behest.tokens.verify(delegated.grantToken);
    must(!after.valid, 'The token of the helper');
    say(`verify       online: the token of the helper is no longer good (${after.reason})`);
    const chain = await behest.audit.verify();
    must(chain.valid, 'The audit chain');
    say(`audit        the chain of ${chain.checkedEntries} entries is whole`);
  } finally {
    if (!isKept) for (const id of made) await behest.agents.delete(id);
  }
  context.note(isKept ? 'The agents are kept.' : 'The agents are removed.');
}
