import { readFile } from 'node:fs/promises';

/** Gives a fresh JWT of the platform on which the agent runs. */
export type PlatformJwt = () => Promise<string>;

export interface Agent {
  /** The address of the service. */
  readonly service: string;
  readonly agentId: string;
  readonly platformJwt: PlatformJwt;
}

/** Kubernetes writes the JWT of a projected volume to a file, and renews it before it ends. */
export const fromFile =
  (path: string): PlatformJwt =>
  async () =>
    (await readFile(path, 'utf8')).trim();

/** GitHub gives each job with `permissions: id-token: write` an address that makes JWTs. */
export function fromGitHubActions(environment: NodeJS.ProcessEnv, audience: string): PlatformJwt {
  const { ACTIONS_ID_TOKEN_REQUEST_URL: url = '', ACTIONS_ID_TOKEN_REQUEST_TOKEN: token = '' } = environment;
  return async () => {
    const address = new URL(url);
    address.searchParams.set('audience', audience);
    const answer = await fetch(address, { headers: { authorization: `Bearer ${token}` } });
    if (!answer.ok) throw new Error(`The platform answered ${answer.status}.`);
    const { value }: { value: string } = Object(await answer.json());
    return value;
  };
}

/** Gets new tokens for a grant. The JWT of the platform takes the place of a client secret. */
export async function refresh({ service, agentId, platformJwt }: Agent, refreshToken: string) {
  const answer = await fetch(`${service}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'refresh_token',
      refresh_token: refreshToken,
      client_id: agentId,
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: await platformJwt(),
    }),
  });
  const { error, access_token: token, refresh_token: next } = Object(await answer.json());
  if (!answer.ok) throw new Error(`The service refused: ${error}.`);
  return { token: String(token), refreshToken: String(next) };
}
