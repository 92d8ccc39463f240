import * as openid from 'openid-client';
import { discover, newClient, post } from './oauth.ts';
import type { Developer, Service } from './start-app.ts';

type Listening = Service & { readonly url: string };

/** A public client of a new developer in the sandbox, as a television is. */
export async function newDevice({ url, asDeveloper }: Listening, developer?: Developer) {
  const acme = developer ?? (await asDeveloper({ mode: 'sandbox' }));
  const { clientId } = await newClient(acme, { authMethod: 'none' });
  return { acme, clientId, config: await discover(url, clientId) };
}

type Device = Awaited<ReturnType<typeof newDevice>>;

/** The answer to a device that asks, as an independent client reads it. */
export const askDevice = ({ config }: Device, parameters: Record<string, string> = {}) =>
  openid.initiateDeviceAuthorization(config, { scope: 'calendar:read', ...parameters });

/** Enters a code as the page does. @param headers such as a cookie @param more of the body */
export const enter = (
  { url }: Listening,
  userCode: string,
  headers: Record<string, string> = {},
  more: object = {},
) =>
  fetch(`${url}/v1/device`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url, 'sec-fetch-site': 'same-origin', ...headers },
    body: JSON.stringify({ userCode, ...more }),
  });

/** The person enters the code. @returns the id of the request that was made */
export async function entered(service: Listening, userCode: string): Promise<string> {
  const answer = await enter(service, userCode);
  if (answer.status !== 200) throw new Error(`entry: ${answer.status} ${await answer.text()}`);
  const { redirectTo } = Object(await answer.json());
  return new URL(redirectTo).searchParams.get('req') ?? '';
}

export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
export const CIBA_GRANT = 'urn:openid:params:grant-type:ciba';

/** The answer to one poll, without the pauses of a library. */
export const polled = ({ url }: Listening, { clientId }: Pick<Device, 'clientId'>, deviceCode: string) =>
  post(`${url}/oauth/token`, {
    grant_type: DEVICE_GRANT,
    client_id: clientId,
    device_code: deviceCode,
  });
