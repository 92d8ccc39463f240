/** @import { Answer, Problem, Refusal } from '../../../../platform/page/types.js' */
/** @import { ConsentRequest, Decision, Narrowing } from './types.js' */
import { call, passkeyProblem, signOnPath } from '../../../../platform/page/call.js';

/** Few requests need a passkey. */
const passkeys = () => import('../../../../platform/page/passkey.js');

const REFUSED_IN_TEXT = /(?!\n)[\p{Cc}\p{Cs}\u202A-\u202E\u2066-\u2069]/gu;

/**
 * The calls for one request. They share its CSRF token.
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
    if (body.fidoRequired) passkeys().catch(() => {}); // the click that asks for the passkey waits for nothing then
    return { ok: true, body };
  }

  /** @type {(step: string, body: object) => Promise<Answer<Decision>>} */
  const write = (step, body) => ask(`${path}/${step}`, body);

  /** @type {(path: string, body?: object) => Promise<Answer<any>>} */
  const ask = (to, body) => call(to, { body, headers: csrfToken ? { 'X-CSRF-Token': csrfToken } : {}, read });

  return {
    read: async () => remember(await ask(path)),
    /** @param {{ ticket: string, hint: string | undefined }} key */
    openSession: async (key) => remember(await ask(`${path}/session`, key)),
    /** @param {Narrowing} narrowing */
    approve: (narrowing) => write('approve', narrowing),
    /** @param {string} reason */
    deny: (reason) => {
      const text = reason.replace(REFUSED_IN_TEXT, ' ').trim();
      return write('deny', text ? { reason: text } : {});
    },
    /** @type {(decision: Narrowing) => Promise<Answer<any>>} */
    provePasskey: async (decision) => {
      const { askForPasskey } = await passkeys();
      return askForPasskey(
        () => ask(`${path}/passkey/options`, { decision }),
        (answer) => ask(`${path}/passkey/verify`, answer),
      );
    },
    /** @type {(arrival: { clientId: string, requestUri: string, hint: string }) => Promise<Answer<{ redirectTo: string }>>} */
    arrive: (arrival) => ask('/v1/oauth/arrivals', arrival),
    /** @returns {Promise<Answer<{ redirectTo: string }>>} */
    signOn: () => ask(path + signOnPath),
    /** @type {() => Promise<Answer<any>>} */
    openPermissions: () => ask(`${path}/permissions`, {}),
    sendCode: () => write('email', {}),
    /** @param {string} code */
    checkCode: (code) => write('email/verify', { code }),
  };
}

/** @type {(refusal: Refusal) => Problem} */
function read({ status, code = '', requestId: reference = '', details }) {
  if (status === 410) return { kind: 'over', status: details?.status ?? '' };
  if (status === 401) return { kind: 'noSession' };
  if (status === 404) return { kind: 'unknown' };
  if (status === 409 && details?.field) return { kind: 'changed' };
  const kind = passkeyProblem(code);
  if (kind) return { kind, reference };
  if (status !== 403) return { kind: 'refused', reference };
  if (code === 'PRINCIPAL_VERIFICATION_REQUIRED' || code === 'FIDO_REQUIRED') return { kind: 'proof' };
  if (code === 'POLICY_DENIED') return { kind: 'policy', reference };
  if (code === 'SSO_REQUIRED') return { kind: 'sso' };
  if (code === 'SSO_SCOPE_DENIED') return { kind: 'ssoScopes', reference };
  return { kind: 'replaced' };
}

/**
 * The page shows an answer only if it has everything that a person must see.
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
