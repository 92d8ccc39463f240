import { type Authenticator, authenticator, type Fault, registerPasskey } from './authenticator.ts';
import { newClient, pkceLink } from './oauth.ts';
import { personOn } from './person.ts';
import { sendForm } from './published.ts';
import type { Developer, Service } from './start-app.ts';

type Person = ReturnType<typeof personOn>;

/** The question for a passkey, as the page gets it. */
export interface Asked {
  readonly challengeId: string;
  readonly publicKey: { readonly challenge: string };
}

/** Registers a passkey that is found without the name of its principal. @returns the handle that comes with its answers */
export async function enrolDiscoverable(
  developer: Developer,
  device: Authenticator,
  principalId = 'user_42',
): Promise<string> {
  await registerPasskey(developer, device, { principalId });
  const { publicKey } = (await developer('POST', '/v1/webauthn/register/options', { principalId })).json();
  return String(publicKey.user.id);
}

/** A live account whose people show passkeys, one of them with their browser, and a client of the account. */
export async function startShowing(service: Service) {
  const acme = await service.asDeveloper();
  await acme('PATCH', '/v1/me', { consentMode: 'passkey' });
  const device = authenticator();
  const userHandle = await enrolDiscoverable(acme, device);
  const { clientId, clientSecret = '' } = await newClient(acme, { authMethod: 'client_secret_post' });
  const person = personOn(service);
  const send = (path: string, form: Record<string, string>) =>
    sendForm(service, path, { client_id: clientId, client_secret: clientSecret, ...form });

  async function visit(address: string): Promise<URL> {
    const { pathname, search } = new URL(address);
    const answer = await person.call('GET', pathname + search, { headers: { accept: 'text/html' } });
    return new URL(String(answer.headers.location));
  }

  /** Follows a link of the client. @returns the request as the page reads it from its address */
  async function arrive(parameters: Record<string, string> = {}) {
    const { link, verifier } = await pkceLink(clientId, parameters);
    const page = await visit(link);
    const requestUri = page.searchParams.get('request_uri') ?? '';
    return { page, verifier, waiting: { clientId: page.searchParams.get('client_id') ?? '', requestUri } };
  }
  type Waiting = Awaited<ReturnType<typeof arrive>>['waiting'];

  const options = (waiting: Waiting, by: Person = person) =>
    by.call('POST', '/v1/oauth/sign-ins/options', { body: waiting });
  const begin = async (waiting: Waiting, by?: Person): Promise<Asked> => (await options(waiting, by)).json();

  /** The answer of the device to a question. */
  const given = ({ challengeId, publicKey }: Asked, fault: Fault = {}, by = device) => ({
    challengeId,
    response: by.get(publicKey, { userHandle, ...fault }),
  });
  const show = (waiting: Waiting, answer: object, by: Person = person) =>
    by.call('POST', '/v1/oauth/sign-ins/verify', { body: { ...waiting, ...answer } });

  /** Approves on the consent page, with the passkey. @returns the address to which the browser goes on */
  async function approve(id: string): Promise<URL> {
    const prove = (step: string, body: object) =>
      person.call('POST', `/v1/consent/${id}/passkey/${step}`, { body });
    await prove('verify', given((await prove('options', {})).json()));
    return new URL((await person.approve(id)).json().redirectTo);
  }

  return {
    acme,
    clientId,
    device,
    userHandle,
    person,
    send,
    visit,
    arrive,
    options,
    begin,
    given,
    show,
    approve,
  };
}
