/** @import { Answer, Problem, Refusal } from '../../../../platform/page/types.js' */
/** @import { Ended, Session } from './types.js' */
import { call, passkeyProblem, signOnPath } from '../../../../platform/page/call.js';
import { askForPasskey } from '../../../../platform/page/passkey.js';

/**
 * The calls for one connect session. They share its CSRF token.
 * @param {string} id
 */
export function connectApi(id) {
  const path = `/v1/connect/${encodeURIComponent(id)}`;
  let csrfToken = '';

  /** @type {(step: string, body?: object) => Promise<Answer<any>>} */
  const ask = (step, body) =>
    call(`${path}${step}`, { body, headers: csrfToken ? { 'X-CSRF-Token': csrfToken } : {}, read });

  /** @type {(answer: Answer<Session>) => Answer<Session>} */
  function remember(answer) {
    if (answer.ok) csrfToken = answer.body.csrfToken;
    return answer;
  }

  return {
    read: async () => remember(await ask('')),
    /** @param {string} ticket */
    open: async (ticket) => remember(await ask('/session', { ticket })),
    /** @param {string} hint */
    hint: (hint) => ask('/hint', { hint }),
    /** @returns {Promise<Answer<{ redirectTo: string }>>} */
    signOn: () => ask(signOnPath),
    sendCode: () => ask('/email', {}),
    /** @param {string} code */
    checkCode: (code) => ask('/email/verify', { code }),
    provePasskey: () =>
      askForPasskey(
        () => ask('/passkey/options', {}),
        (answer) => ask('/passkey/verify', answer),
      ),
    /** @type {(scopes: string[]) => Promise<Answer<{ redirectTo: string }>>} */
    start: (scopes) => ask('/start', scopes.length > 0 ? { scopes } : {}),
    /** @type {(replaceAccount: boolean) => Promise<Answer<Ended>>} */
    confirm: (replaceAccount) => ask('/confirm', replaceAccount ? { replaceAccount } : {}),
    /** @type {() => Promise<Answer<Ended>>} */
    cancel: () => ask('/cancel', {}),
  };
}

/** @type {(refusal: Refusal) => Problem} */
function read({ status, code = '', requestId: reference = '', details }) {
  if (status === 410) return { kind: 'over', status: details?.status ?? '' };
  if (status === 401) return { kind: 'noSession' };
  if (status === 404) return { kind: 'unknown' };
  if (status === 409 && details?.field === 'replaceAccount') return { kind: 'otherAccount' };
  const kind = passkeyProblem(code);
  if (kind) return { kind, reference };
  if (code === 'SSO_REQUIRED') return { kind: 'sso' };
  if (status === 403 && code !== 'FORBIDDEN') return { kind: 'proof' };
  return { kind: 'refused', reference };
}
