import { consentLink, type Voucher } from '../../docs/guides/examples/consent-link.ts';

export interface LiveDeveloper {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** The private half of one of the developer's `consentKeys`. */
  readonly consentKey: Voucher['privateKey'];
}

/** A request that makes the page show everything that it can show. */
const asked = {
  principalId: 'user_42',
  scopes: ['calendar:read', 'calendar:write', 'email:send', 'tool:stripe:write:refunds:capped:50'],
  purpose: 'payments.payout',
  authorizationDetails: [
    {
      type: 'urn:service:tools:v1',
      connector: 'stripe',
      tools: ['refund', 'lookup_*'],
      caps: { refund: { per_day: 5 } },
    },
  ],
  expiresIn: '7d',
};

/** @returns the address to open in the person's browser, hint included. */
export async function openRequest({ baseUrl, apiKey, consentKey }: LiveDeveloper) {
  const call = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const said = Object(await answer.json());
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${said.message}`);
    return said;
  };

  const { developerId } = await call('GET', '/v1/me');
  const name = 'Travel agent';
  const description = 'Plans trips, keeps your calendar in order and sorts out refunds.';
  const { agentId } = await call('POST', '/v1/agents', { name, description });
  const request = await call('POST', '/v1/authorize', { agentId, ...asked });
  const voucher = { developerId: String(developerId), issuer: baseUrl, privateKey: consentKey };
  const url = await consentLink(
    {
      consentUrl: String(request.consentUrl),
      authRequestId: String(request.authRequestId),
      principalId: asked.principalId,
    },
    voucher,
  );
  return { url, authRequestId: String(request.authRequestId), expiresAt: String(request.expiresAt) };
}
