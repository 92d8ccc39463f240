import type { Holder } from './upstream-call.ts';

/** A call of an upstream whose credential the vault adds. */
export interface ProxiedCall {
  /** The name under which the credential is stored: `github`. */
  readonly service: string;
  /** The path at the upstream, with its query: `/repos/acme/site?page=2`. */
  readonly path: string;
  readonly init?: RequestInit;
}

/**
 * Calls an upstream in the name of the person who gave the grant, without ever holding the credential.
 * @returns the answer of the upstream, whatever its status
 * @throws Error with the code of the refusal when the service does not pass the call on
 */
export async function callThroughVault(
  { baseUrl, grantToken }: Holder,
  { service, path, init = {} }: ProxiedCall,
): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set('authorization', `Bearer ${grantToken}`);
  const url = `${baseUrl}/v1/vault/proxy/${service}${path}`;
  const answer = await fetch(url, { ...init, headers, redirect: 'manual' });
  if (answer.headers.get('behest-proxy') === 'upstream') return answer;
  const { code, details } = Object(await answer.json());
  throw new Error(`Not passed on: ${[code, details?.reason].filter(Boolean).join(' ')}`);
}
