import type { Developer } from './start-app.ts';

interface Granted {
  readonly agentId: string;
  readonly did: string;
  readonly grantId: string;
}

/** Appends entries of the agent, as its host does. */
export async function act(
  developer: Developer,
  { agentId, did, grantId }: Granted,
  times: number,
  more: object = {},
): Promise<void> {
  const entry = { agentId, agentDid: did, grantId, principalId: 'user_42', action: 'mail.sent', ...more };
  for (let n = 0; n < times; n += 1) {
    const answer = await developer('POST', '/v1/audit/log', entry);
    if (answer.statusCode !== 201) throw new Error(answer.body);
  }
}

interface Detected {
  readonly detectedAt: string;
  readonly total: number;
  readonly autoRevokedGrants: number;
  readonly anomalies: readonly { readonly id: string; readonly type: string; readonly agentId: string }[];
}

export async function detect(developer: Developer): Promise<Detected> {
  const answer = await developer('POST', '/v1/anomalies/detect', {});
  if (answer.statusCode !== 200) throw new Error(answer.body);
  return answer.json();
}
