/** @import { Answer, PasskeyAnswer, PasskeyOptions, Problem } from './types.js' */

/**
 * Asks the browser for a passkey of the person.
 * @param {PasskeyOptions} options
 * @returns {Promise<PasskeyAnswer | 'none' | 'unable'>} `none` when the person gave no passkey
 */
async function givePasskey({ challengeId, publicKey }) {
  if (!globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON) return 'unable';
  try {
    const options = PublicKeyCredential.parseRequestOptionsFromJSON(publicKey);
    const credential = await navigator.credentials.get({ publicKey: options });
    if (!(credential instanceof PublicKeyCredential)) return 'none';
    return { challengeId, response: credential.toJSON() };
  } catch {
    // The person closed the question, took too long, or has no passkey here. The browser tells no more.
    return 'none';
  }
}

/**
 * Makes a passkey of the person.
 * @param {PublicKeyCredentialCreationOptionsJSON} publicKey
 * @returns {Promise<Answer<object>>}
 */
export async function makePasskey(publicKey) {
  if (!globalThis.PublicKeyCredential?.parseCreationOptionsFromJSON) {
    return { ok: false, problem: { kind: 'passkeyUnable' } };
  }
  try {
    const options = PublicKeyCredential.parseCreationOptionsFromJSON(publicKey);
    const credential = await navigator.credentials.create({ publicKey: options });
    if (credential instanceof PublicKeyCredential) return { ok: true, body: credential.toJSON() };
  } catch {
    // The person closed the question, or took too long. The browser tells no more.
  }
  return { ok: false, problem: { kind: 'noPasskey' } };
}

/** @type {Record<string, Problem['kind']>} by the code of the refusal */
const PROBLEMS = {
  FIDO_NOT_ENROLLED: 'notEnrolled',
  NOT_CONFIGURED: 'passkeyUnable',
  CHALLENGE_INVALID: 'passkeyRefused',
  WEBAUTHN_VERIFICATION_FAILED: 'passkeyRefused',
  WEBAUTHN_CLONE_SUSPECTED: 'copied',
};

/**
 * The problem that a refusal about passkeys means.
 * @param {string} code
 */
export const passkeyProblem = (code) => PROBLEMS[code];

/**
 * Proves the person by a passkey: the service asks, the browser answers, the service checks.
 * @param {() => Promise<Answer<PasskeyOptions>>} begin
 * @param {(answer: PasskeyAnswer) => Promise<Answer<any>>} finish
 * @returns {Promise<Answer<any>>}
 */
export async function askForPasskey(begin, finish) {
  const asked = await begin();
  if (!asked.ok) return asked;
  const given = await givePasskey(asked.body);
  if (given === 'none') return { ok: false, problem: { kind: 'noPasskey' } };
  if (given === 'unable') return { ok: false, problem: { kind: 'passkeyUnable' } };
  return finish(given);
}
