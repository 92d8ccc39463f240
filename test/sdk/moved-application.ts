import { Behest, constructEvent, generatePkce, verifyWebhookSignature } from '@behest/sdk';

/**
 * An application in the names and the order of arguments that clients of such services use. Only the import, the name of
 * the class and the variable of the environment were changed, so it has to compile and to run as it stands.
 */
export async function movedApplication(apiKey: string, baseUrl: string) {
  const client = new Behest({ apiKey, baseUrl, timeout: 10_000, maxRetries: 2 });

  const agent = await client.agents.register({
    name: 'invoice-bot',
    description: 'Reads invoices',
    scopes: ['invoices:read', 'invoices:write'],
  });
  const fetched = await client.agents.get(agent.agentId);
  const updated = await client.agents.update(agent.id, { description: 'Reads and pays invoices' });
  const { agents } = await client.agents.list();

  const pkce = generatePkce();
  const request = await client.authorize({
    agentId: agent.agentId,
    userId: 'user_abc123',
    scopes: ['invoices:read', 'invoices:write'],
    expiresIn: '24h',
    codeChallenge: pkce.codeChallenge,
    codeChallengeMethod: pkce.codeChallengeMethod,
  });
  const token = await client.tokens.exchange({
    code: request.code ?? '',
    agentId: agent.agentId,
    codeVerifier: pkce.codeVerifier,
  });
  const verified = await client.tokens.verify(token.grantToken);
  const grant = await client.grants.verify(token.grantToken);
  const refreshed = await client.tokens.refresh({
    refreshToken: token.refreshToken ?? '',
    agentId: agent.agentId,
  });
  const { grants } = await client.grants.list({ status: 'active' });

  const helper = await client.agents.register({ name: 'helper', scopes: ['invoices:read'] });
  const delegated = await client.grants.delegate({
    parentGrantToken: refreshed.grantToken,
    subAgentId: helper.agentId,
    scopes: ['invoices:read'],
    expiresIn: '1h',
  });

  const entry = await client.audit.log({
    agentId: agent.agentId,
    agentDid: agent.did,
    grantId: token.grantId,
    principalId: 'user_abc123',
    action: 'invoice.paid',
    metadata: { amount: 420 },
    status: 'success',
  });
  const { entries } = await client.audit.list({ agentId: agent.agentId });
  const same = await client.audit.get(entry.entryId);

  const webhook = await client.webhooks.create({
    url: 'https://hooks.example.com/in',
    events: ['grant.revoked'],
  });
  const { webhooks } = await client.webhooks.list();
  await client.webhooks.delete(webhook.id);

  const policy = await client.policies.create({
    name: 'no nights',
    effect: 'deny',
    scopes: ['invoices:write'],
  });
  const { policies } = await client.policies.list();
  await client.policies.delete(policy.id);

  await client.budgets.allocate({ grantId: token.grantId, initialBudget: 100, currency: 'USD' });
  await client.budgets.debit({ grantId: token.grantId, amount: 25, description: 'one invoice' });
  const balance = await client.budgets.balance(token.grantId);
  const { transactions } = await client.budgets.transactions(token.grantId);

  const usage = await client.usage.current();
  const history = await client.usage.history({ days: 7 });
  const domain = await client.domains.create({ domain: 'agents.example.com' });
  await client.domains.delete(domain.id);
  const summary = await client.compliance.getSummary();
  const exported = await client.compliance.exportGrants();
  const { anomalies } = await client.anomalies.list({ unacknowledged: true });
  const session = await client.principalSessions.create({ principalId: 'user_abc123', expiresIn: '1h' });
  const connection = await client.vault.list();
  const scim = await client.scim.createToken({ label: 'Okta' });
  await client.scim.revokeToken(scim.id);
  const { connections } = await client.sso.listConnections();
  const settings = await client.updateSettings({ name: 'Acme' });

  await client.tokens.revoke(grant.tokenId);
  await client.grants.revoke(token.grantId);
  await client.agents.delete(helper.agentId);
  return {
    ...{
      agent,
      fetched,
      updated,
      agents,
      verified,
      grant,
      grants,
      delegated,
      entry,
      same,
      entries,
      webhooks,
    },
    ...{ policies, balance, transactions, usage, history, summary, exported, anomalies, session, connection },
    ...{ connections, settings },
  };
}

/** The receiver of that application's webhooks. */
export function receive(payload: string, headers: Record<string, string>, secret: string) {
  const isGenuine = verifyWebhookSignature(payload, headers['x-service-signature'] ?? '', secret);
  return isGenuine ? constructEvent(payload, headers, secret).type : undefined;
}
