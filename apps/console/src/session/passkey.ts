import { api, type Schemas } from '../api/client.ts';
import { NoPasskey } from '../api/errors.ts';
import { kept, type Session } from './session.ts';

type Options = Schemas['PasskeyOptions'];

/** Asks the browser for any passkey of this service: the passkey says who signs in. */
export async function signInByPasskey(): Promise<Session> {
  const { data } = await api.POST('/v1/console/session/passkey/options', { body: {} });
  return kept(await api.POST('/v1/console/session/passkey/verify', { body: await used(data) }));
}

/** Asks the member for their passkey anew. The session gets another token. */
export async function stepUp(): Promise<Session> {
  const { data } = await api.POST('/v1/console/session/step-up/options', { body: {} });
  return kept(await api.POST('/v1/console/session/step-up/verify', { body: await used(data) }));
}

interface Registered {
  /** The session that the passkey opens, if it was waited for. */
  readonly session: Session | undefined;
  /** Recovery codes, which come with the first passkey. */
  readonly codes: readonly string[];
}

/** Makes the member a passkey on this device. */
export async function registerPasskey(): Promise<Registered> {
  const { data } = await api.POST('/v1/console/passkeys/options', { body: {} });
  const made = await created(data);
  const { data: added } = await api.POST('/v1/console/passkeys', { body: made });
  const session = added?.session ? kept({ data: added.session }) : undefined;
  return { session, codes: added?.recoveryCodes ?? [] };
}

/** Makes a person a member, with a passkey of this device. @param options of the invitation */
export async function join(
  invite: string,
  options: Schemas['JoinOptions'],
  displayName: string,
): Promise<Registered> {
  const made = await created(options);
  const { data } = await api.POST('/v1/console/join/verify', { body: { invite, displayName, ...made } });
  return { session: kept(data ? { data } : {}), codes: data?.recoveryCodes ?? [] };
}

const created = (options: Options | undefined) =>
  answerOf(options, (publicKey) =>
    navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(publicKey) }),
  );

const used = (options: Options | undefined) =>
  answerOf(options, (publicKey) =>
    navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(publicKey) }),
  );

/** The shape of the answer is the browser's (WebAuthn, section 5.1.8), and the service checks it. */
async function answerOf(options: Options | undefined, ask: (publicKey: never) => Promise<Credential | null>) {
  if (!options || !('PublicKeyCredential' in globalThis)) throw new NoPasskey();
  const credential = await ask(options.publicKey as never).catch(() => null);
  if (!(credential instanceof PublicKeyCredential)) throw new NoPasskey();
  return { challengeId: options.challengeId, response: credential.toJSON() as never };
}
