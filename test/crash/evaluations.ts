import { type Account, ask } from './ask.ts';

export const CONNECTOR = 'mail';
export const TOOL = 'send';
const PER_DAY = 1_000_000_000; // no run uses it up

/** A grant with a cap, which all clients use. */
export interface Metered {
  readonly grantId: string;
  readonly tokenId: string;
}

/** Makes a grant with a cap, which all clients ask about. */
export async function meterMails(account: Account): Promise<Metered> {
  const tools = { [TOOL]: { permission: 'write', caps: { per_day: PER_DAY } } };
  const manifest = { $schema: 'x', connector: CONNECTOR, version: '1', tools };
  await ask(account, 'PUT', `/v1/manifests/${CONNECTOR}`, manifest);
  const agent = await ask(account, 'POST', '/v1/agents', { name: 'Mailer' });
  const agentId = agent?.body.agentId;
  const asked = { agentId, principalId: 'user_42', scopes: [`tool:${CONNECTOR}:write`] };
  const request = await ask(account, 'POST', '/v1/authorize', asked);
  const issued = await ask(account, 'POST', '/v1/token', { agentId, code: request?.body.code });
  if (issued?.status !== 201) throw new Error(`The grant with a cap was answered ${issued?.status}.`);
  const { grantId, grantToken } = issued.body;
  const claims = JSON.parse(Buffer.from(String(grantToken).split('.')[1] ?? '', 'base64url').toString());
  return { grantId, tokenId: claims.jti };
}

/** Three questions of AuthZEN, each of which takes a unit. */
export const batchAbout = ({ tokenId }: Metered) => ({
  subject: { type: 'token', id: tokenId },
  action: { name: TOOL },
  resource: { type: 'connector', id: CONNECTOR },
  evaluations: [{}, {}, {}],
});
