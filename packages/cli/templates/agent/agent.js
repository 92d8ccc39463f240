import { Behest } from '@behest/sdk';

const behest = new Behest({ allowSandbox: true }); // BEHEST_API_KEY, BEHEST_URL
await behest.loadManifestsFromDir(new URL('manifests', import.meta.url).pathname);

/** Gets a grant of a person. In a sandbox nobody has to consent, so the code is there at once. */
export async function grantOf(userId, scopes) {
  const agent = await behest.agents.register({ name: 'Example agent', scopes });
  const asked = await behest.authorize({ agentId: agent.id, userId, scopes });
  const code = asked.code ?? (await behest.authorizations.wait(asked.authRequestId));
  return behest.tokens.exchange({ code, agentId: agent.id });
}

/** Makes a tool ask before each of its calls. */
export const guarded = (tool, name, grantToken) =>
  behest.wrapTool(tool, { grantToken, connector: 'calendar', tool: name });

if (import.meta.main ?? process.argv[1] === new URL(import.meta.url).pathname) {
  const { grantToken } = await grantOf('user_42', ['tool:calendar:read']);
  const list = guarded(() => ['stand-up at 9'], 'list_events', grantToken);
  const remove = guarded(() => 'gone', 'delete_event', grantToken);
  process.stdout.write(`allowed: ${await list({})}\n`);
  await remove({ id: '7' }).catch((error) => process.stdout.write(`denied:  ${error.message}\n`));
}
