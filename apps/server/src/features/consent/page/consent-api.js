/** @import { Answer, ConsentRequest, Decision, Narrowing, Problem } from './types.js' */

const ANSWER_WITHIN_MILLISECONDS = 20_000;
const REFUSED_IN_TEXT = /(?!\n)[\p{Cc}\p{Cs}\u202A-\u202E\u2066-\u2069]/gu;

let clockSkewMilliseconds = 0;

/** The time by the service's clock, to the second: a wrong clock here must not end a request early or late. */
export function serviceTime() {
  return new Date(Date.now() + clockSkewMilliseconds);
}

/**
 * The calls for one request. Keeps its CSRF token.
 * @param {string} id
 */
export function consentApi(id) {
  const path = `/v1/consent/${encodeURIComponent(id)}`;
  let csrfToken = '';

  /** @type {(answer: Answer<any>) => Answer<ConsentRequest>} */
  function remember(answer) {
    if (!answer.ok) return answer;
    const body = { ...answer.body.request, ...answer.body };
    if (!isRequest(body)) return { ok: false, problem: { kind: 'away' } };
    csrfToken = body.csrfToken;
    return { ok: true, body };
  }

  /** @type {(step: string, body: object) => Promise<Answer<Decision>>} */
  const write = (step, body) => call(`${path}/${step}`, body, csrfToken);

  return {
    read: async () => remember(await call(path)),
    /** @param {{ ticket: string, hint: string | undefined }} key */
    openSession: async (key) => remember(await call(`${path}/session`, key)),
    /** @param {Narrowing} narrowing */
    approve: (narrowing) => write('approve', narrowing),
    /** @param {string} reason */
    deny: (reason) => {
      const text = reason.replace(REFUSED_IN_TEXT, ' ').trim();
      return write('deny', text ? { reason: text } : {});
    },
    sendCode: () => write('email', {}),
    /** @param {string} code */
    checkCode: (code) => write('email/verify', { code }),
  };
}

/**
 * @param {string} path
 * @param {object} [body] makes it a POST
 * @param {string} [csrfToken]
 * @returns {Promise<Answer<any>>}
 */
async function call(path, body, csrfToken) {
  try {
    const response = await fetch(path, {
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
      headers: {
        Accept: 'application/json',
        ...(body && { 'Content-Type': 'application/json' }),
        ...(csrfToken && { 'X-CSRF-Token': csrfToken }),
      },
      credentials: 'same-origin',
      cache: 'no-store',
      redirect: 'error',
      signal: AbortSignal.timeout(ANSWER_WITHIN_MILLISECONDS),
    });
    const serviceDate = Date.parse(response.headers.get('date') ?? '');
    if (!Number.isNaN(serviceDate)) clockSkewMilliseconds = serviceDate - Date.now();
    const text = await response.text();
    const answer = text === '' ? {} : JSON.parse(text);
    return response.ok
      ? { ok: true, body: answer }
      : { ok: false, problem: problemOf(response.status, answer) };
  } catch {
    // No network, no answer in time, or an answer that is not the service's own.
    return { ok: false, problem: { kind: 'uncertain' } };
  }
}

/**
 * @param {number} status
 * @param {{ code?: string, message?: string, requestId?: string, details?: { status?: string } }} body
 * @returns {Problem}
 */
function problemOf(status, { code = '', message = '', requestId = '', details }) {
  const reference = requestId;
  if (status === 410) return { kind: 'over', status: details?.status ?? '' };
  if (status === 401) return { kind: 'noSession' };
  if (status === 404) return { kind: 'unknown' };
  if (status === 429) return { kind: 'busy', seconds: Number(/retry in (\d+) s/.exec(message)?.[1] ?? 30) };
  if (status === 503) return { kind: 'away', reference };
  if (status >= 500) return { kind: 'uncertain', reference };
  if (status !== 403) return { kind: 'refused', reference };
  if (code === 'PRINCIPAL_VERIFICATION_REQUIRED' || code === 'FIDO_REQUIRED') return { kind: 'proof' };
  if (code === 'POLICY_DENIED') return { kind: 'policy', reference };
  if (code === 'SSO_REQUIRED') return { kind: 'sso' };
  return { kind: 'replaced' };
}

/**
 * An answer without all that must be shown is not shown at all.
 * @param {Partial<ConsentRequest>} body
 * @returns {body is ConsentRequest}
 */
function isRequest(body) {
  const { id, csrfToken, agentName, agentDid, developerName, principalId, grantExpiresIn } = body;
  const texts = [id, csrfToken, agentName, agentDid, developerName, principalId, grantExpiresIn];
  return (
    texts.every((text) => typeof text === 'string') &&
    [body.scopes, body.scopeDescriptions].every(Array.isArray) &&
    typeof body.verification?.satisfied === 'boolean' &&
    Date.parse(body.expiresAt ?? '') > 0
  );
}
