/** @import { Answer, PasskeyAnswer, PasskeyCreation, PasskeyOptions } from './types.js' */

/**
 * Proves the person by a passkey: the service asks, the browser answers, the service checks.
 * @param {() => Promise<Answer<PasskeyOptions>>} begin
 * @param {(answer: PasskeyAnswer) => Promise<Answer<any>>} finish
 */
export const askForPasskey = (begin, finish) =>
  run(begin, finish, async (json) =>
    navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(json) }),
  );

/**
 * Makes a passkey of the person, in the same steps.
 * @param {() => Promise<Answer<PasskeyCreation>>} begin
 * @param {(answer: PasskeyAnswer) => Promise<Answer<any>>} finish
 */
export const makePasskey = (begin, finish) =>
  run(begin, finish, async (json) =>
    navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(json) }),
  );

/**
 * @template Options
 * @param {() => Promise<Answer<{ challengeId: string, publicKey: Options }>>} begin
 * @param {(answer: PasskeyAnswer) => Promise<Answer<any>>} finish
 * @param {(publicKey: Options) => Promise<Credential | null>} ask
 * @returns {Promise<Answer<any>>}
 */
async function run(begin, finish, ask) {
  const begun = await begin();
  if (!begun.ok) return begun;
  // Browsers that have this function have its counterpart for new passkeys too.
  if (!globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON) {
    return { ok: false, problem: { kind: 'passkeyUnable' } };
  }
  const { challengeId, publicKey } = begun.body;
  // The person may close the question, take too long, or have no passkey here. The browser tells no more.
  const credential = await ask(publicKey).catch(() => null);
  if (!(credential instanceof PublicKeyCredential)) return { ok: false, problem: { kind: 'noPasskey' } };
  return finish({ challengeId, response: credential.toJSON() });
}
