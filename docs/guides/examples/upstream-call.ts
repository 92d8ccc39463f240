export interface Holder {
  /** The address of the service. */
  readonly baseUrl: string;
  /** The grant token of the agent, which is its only secret. */
  readonly grantToken: string;
}

/** A call of an upstream, as `fetch` takes it. */
export interface UpstreamCall {
  /** The name under which the credential is stored: `github`. */
  readonly service: string;
  readonly url: string;
  readonly init?: RequestInit;
}

/**
 * Calls an upstream in the name of the person who gave the grant. Each call asks for the credential again and keeps it
 * nowhere, so a revoked grant ends the next call.
 * @throws Error with the code of the refusal when the service gives no credential
 */
export async function callUpstream(
  holder: Holder,
  { service, url, init = {} }: UpstreamCall,
): Promise<Response> {
  const exchanged = await fetch(`${holder.baseUrl}/v1/vault/credentials/exchange`, {
    method: 'POST',
    headers: { authorization: `Bearer ${holder.grantToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ service }),
  });
  const { accessToken, code } = Object(await exchanged.json());
  if (!exchanged.ok) throw new Error(`No credential for ${service}: ${code}`);
  const headers = new Headers(init.headers);
  headers.set('authorization', `Bearer ${accessToken}`);
  return fetch(url, { ...init, headers, redirect: 'error' }); // a redirect would take the token to another host
}
