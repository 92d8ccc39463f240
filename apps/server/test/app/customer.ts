import { startAccountsServer } from './accounts-server.ts';
import { newClient } from './oauth.ts';
import { personOn } from './person.ts';
import { addOidc, besideProvider, provision } from './signing-on.ts';
import { startApp } from './start-app.ts';

/** A live account whose people sign in at their own provider. */
export async function startCustomer(env: Record<string, string> = {}) {
  const provider = await startAccountsServer();
  const service = await startApp(besideProvider(env));
  const acme = await service.asDeveloper();
  const { id: connectionId } = await addOidc(acme, provider, { scimManaged: true });
  await provision(service, acme);
  await acme('PATCH', '/v1/me', { consentMode: 'sso' });
  const { clientId, clientSecret = '' } = await newClient(acme);
  const person = personOn(service);
  const visit = async (address: string) => {
    const { pathname, search } = new URL(address, 'https://auth.test');
    // The callback answers others than browsers at once, without the page that posts its parameters.
    const accept = pathname === '/sso/callback' ? '*/*' : 'text/html';
    const answer = await person.call('GET', pathname + search, { headers: { accept } });
    return String(answer.headers.location);
  };
  const signIn = async (login: string) => visit((await provider.visit(await visit(login))).href);
  const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
  /** Calls an endpoint as the client. */
  const send = (path: string, form: Record<string, string>) =>
    service.app.inject({
      method: 'POST',
      url: `/oauth/${path}`,
      headers: { authorization, 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams(form).toString(),
    });
  return { service, provider, acme, connectionId, clientId, clientSecret, person, visit, signIn, send };
}
