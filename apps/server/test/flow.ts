import type { Developer } from './start-app.ts';

/** What most requests of the tests ask for; a test that is about one of these says its own. */
const asked = { principalId: 'user_42', scopes: ['calendar:read', 'email:send'] };

export async function registerAgent(developer: Developer, name = 'Travel booker') {
  const agent = (await developer('POST', '/v1/agents', { name })).json();
  return { agentId: String(agent.agentId), did: String(agent.did) };
}

/** In the sandbox, where the answer has the code. */
export async function authorize(developer: Developer, agentId: string, request: object = {}) {
  const answer = await developer('POST', '/v1/authorize', { agentId, ...asked, ...request });
  if (answer.statusCode !== 201) throw new Error(`authorize: ${answer.body}`);
  return answer.json();
}

/** An agent with a grant, its token and its refresh token. */
export async function grantTo(developer: Developer, request: object = {}) {
  const { agentId, did } = await registerAgent(developer);
  const { code } = await authorize(developer, agentId, request);
  const answer = await developer('POST', '/v1/token', { code, agentId });
  if (answer.statusCode !== 201) throw new Error(`token: ${answer.body}`);
  const { grantToken, refreshToken, grantId, ...rest } = answer.json();
  return {
    agentId,
    did,
    grantToken: String(grantToken),
    refreshToken: String(refreshToken),
    grantId: String(grantId),
    ...rest,
  };
}

/** Every entry of the developer's chain, in its order. */
export async function actionsOf(developer: Developer): Promise<string[]> {
  const { entries } = (await developer('GET', '/v1/audit/entries?limit=500')).json();
  return entries.map(({ action }: { action: string }) => action);
}
