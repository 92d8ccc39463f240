/** @import { Answer, Problem, Refusal } from './types.js' */

const ANSWER_WITHIN_MILLISECONDS = 20_000;

/** The languages that the link asks for come before those of the browser, as for the page's document. */
const asked =
  new URLSearchParams(globalThis.location?.search).get('ui_locales')?.match(/[A-Za-z0-9-]+/g) ?? [];
const languages = asked[0] && [...asked.slice(0, 10), ...navigator.languages].join(', ');

/** Those of the link, for the way by another page and back. */
export const uiLocales = asked.slice(0, 10).join(' ').slice(0, 256);

/** The step that says where the person signs in through their organisation. */
export const signOnPath = `/sso?ui_locales=${uiLocales}`;

let clockSkewMilliseconds = 0;

/** The time by the service's clock, to the second, so a wrong clock here ends nothing early or late. */
export function serviceTime() {
  return new Date(Date.now() + clockSkewMilliseconds);
}

/**
 * @param {string} path
 * @param {object} options
 * @param {string | undefined} [options.method]
 * @param {object | undefined} [options.body] makes it a POST
 * @param {Record<string, string>} [options.headers]
 * @param {boolean} [options.isFile] gives the bytes of a good answer
 * @param {(refusal: Refusal) => Problem} options.read gives the meaning of a refusal on this page
 * @returns {Promise<Answer<any>>}
 */
export async function call(path, { method, body, headers, isFile, read }) {
  try {
    const response = await fetch(path, {
      method: method ?? (body ? 'POST' : 'GET'),
      ...(body && { body: JSON.stringify(body) }),
      headers: {
        Accept: 'application/json',
        ...(body && { 'Content-Type': 'application/json' }),
        ...(languages && { 'Accept-Language': languages }),
        ...headers,
      },
      credentials: 'same-origin',
      cache: 'no-store',
      redirect: 'error',
      signal: AbortSignal.timeout(ANSWER_WITHIN_MILLISECONDS),
    });
    const serviceDate = Date.parse(response.headers.get('date') ?? '');
    if (!Number.isNaN(serviceDate)) clockSkewMilliseconds = serviceDate - Date.now();
    if (response.ok && isFile) return { ok: true, body: await response.blob() };
    const text = await response.text();
    const answer = text === '' ? {} : JSON.parse(text);
    if (response.ok) return { ok: true, body: answer };
    return { ok: false, problem: problemOf({ ...answer, status: response.status }, read) };
  } catch {
    // There is no network, no answer in time, or an answer that is not the service's own.
    return { ok: false, problem: { kind: 'uncertain' } };
  }
}

/**
 * Reads refusals that mean the same on every page.
 * @param {Refusal} refusal
 * @param {(refusal: Refusal) => Problem} read
 * @returns {Problem}
 */
function problemOf(refusal, read) {
  const { status, message = '', requestId: reference = '' } = refusal;
  if (status === 429) return { kind: 'busy', seconds: Number(/retry in (\d+) s/.exec(message)?.[1] ?? 30) };
  if (status === 503) return { kind: 'away', reference };
  if (status >= 500) return { kind: 'uncertain', reference };
  return read(refusal);
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
