import { Behest } from '@behest/sdk';

/**
 * Registers an agent and gets a person's grant for it.
 * @param send brings the person to an address
 */
export async function firstGrant(send: (url: string) => void) {
  const behest = new Behest({ allowSandbox: true }); // reads BEHEST_API_KEY and BEHEST_URL
  const agent = await behest.agents.register({ name: 'Travel agent', scopes: ['calendar:read'] });
  const wanted = { agentId: agent.id, userId: 'user_42', scopes: ['calendar:read'] };
  const request = await behest.authorize({ ...wanted, autoApprove: false });
  send(request.consentUrl);
  const code = await behest.authorizations.wait(request.authRequestId);
  const { grantToken } = await behest.tokens.exchange({ code, agentId: agent.id });
  const grant = await behest.verify(grantToken);
  return { grantToken, grant };
}
