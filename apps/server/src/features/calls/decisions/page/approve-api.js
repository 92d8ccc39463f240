/** @import { Answer, PasskeyAnswer, PasskeyCreation, PasskeyOptions, Problem, Refusal } from '../../../../platform/page/types.js' */
/** @import { Colleagues, Enrolment, OwnPasskeys, Opened, RoutedList, Shown } from './types.js' */
import { call, passkeyProblem } from '../../../../platform/page/call.js';

const AT = '/v1/approver';

/** The calls of the page. The cookie is the session; the CSRF token stays in this script. */
export function approveApi() {
  let csrfToken = '';

  /** Asks for the page and not for its person, whose session does not last longer by it. @param {string} path */
  const askAside = (path) => call(`${AT}${path}`, { read, headers: { 'Behest-Background': '1' } });

  /** @type {(path: string, body?: object, method?: string) => Promise<Answer<any>>} */
  const ask = (path, body, method) =>
    call(`${AT}${path}`, {
      body,
      read,
      headers: body || method ? { 'X-CSRF-Token': csrfToken } : {},
      ...(method && { method }),
    });

  /**
   * @param {Answer<Opened>} answer
   * @returns {Answer<Opened>}
   */
  function opened(answer) {
    if (answer.ok) csrfToken = answer.body.csrfToken;
    return answer;
  }

  return {
    /** @type {(invite: string) => Promise<Answer<Enrolment>>} */
    beginEnrolment: (invite) => ask('/enrol/options', { invite }),
    /** @type {(body: object) => Promise<Answer<Opened>>} */
    enrol: async (body) => opened(await ask('/enrol/verify', body)),
    /** @type {() => Promise<Answer<PasskeyOptions>>} */
    beginSignIn: () => ask('/session/options', {}),
    /** @type {(answer: PasskeyAnswer) => Promise<Answer<Opened>>} */
    signIn: async (answer) => opened(await ask('/session/verify', answer)),
    /** @type {(isAside?: boolean) => Promise<Answer<Opened>>} */
    session: async (isAside) => opened(await (isAside ? askAside : ask)('/session')),
    signOut: () => ask('/session', undefined, 'DELETE'),
    /** @type {() => Promise<Answer<OwnPasskeys>>} */
    passkeys: () => ask('/passkeys'),
    /** @type {() => Promise<Answer<PasskeyCreation>>} */
    beginPasskey: () => ask('/passkeys/options', {}),
    /** @param {PasskeyAnswer} made */
    addPasskey: (made) => ask('/passkeys/verify', made),
    /** @param {string} id */
    removePasskey: (id) => ask(`/passkeys/${id}`, undefined, 'DELETE'),
    /** @param {object} absence */
    setAbsence: (absence) => ask('/absence', absence, 'PUT'),
    endAbsence: () => ask('/absence', undefined, 'DELETE'),
    /** @type {(isAside?: boolean) => Promise<Answer<RoutedList>>} */
    list: (isAside) => (isAside ? askAside : ask)('/decisions'),
    /** @type {(cursor?: string) => Promise<Answer<RoutedList>>} */
    history: (cursor) => ask(`/decisions?status=ended&${cursor ? `limit=20&cursor=${cursor}` : 'limit=5'}`),
    /** @type {() => Promise<Answer<Colleagues>>} */
    colleagues: () => ask('/colleagues'),
    /** @type {(confirmation: string) => Promise<Answer<Opened['approver']>>} */
    confirmSelf: (confirmation) => ask('/confirm', { confirmation }),
    /** @param {string} id */
    confirm: (id) => ask(`/colleagues/${id}/confirm`, {}),
    /** @param {string} id */
    stopRecovery: (id) => ask(`/recoveries/${id}`, undefined, 'DELETE'),
    /** @type {(id: string) => Promise<Answer<Shown>>} */
    show: (id) => ask(`/decisions/${id}`),
    /** @type {(id: string) => Promise<Answer<PasskeyOptions>>} */
    beginApproval: (id) => ask(`/decisions/${id}/options`, {}),
    /** @type {(id: string, body: object) => Promise<Answer<{ status: string }>>} */
    approve: (id, body) => ask(`/decisions/${id}/approve`, body),
    /** @param {string} id */
    deny: (id) => ask(`/decisions/${id}/deny`, {}),
  };
}

/** @type {Record<string, Problem['kind']>} by the reason that the refusal names */
const REASONS = {
  same_approver: 'otherPerson',
  session_too_old: 'oldSession',
  last_passkey: 'lastPasskey',
  approver_needed: 'approverNeeded',
  absent: 'absent',
  not_active: 'notActive',
};

/** @type {(refusal: Refusal) => Problem} */
function read({ status, code = '', details = {}, requestId: reference = '' }) {
  const passkey = passkeyProblem(code);
  if (passkey) return { kind: passkey, reference };
  if (code === 'SSO_REQUIRED') return { kind: 'sso', signInAt: details.loginUrl ?? '' };
  if (status === 401) return { kind: 'noSession', reference };
  if (status === 404) return { kind: 'unknown', reference };
  const reason = REASONS[details.sub_reason ?? ''];
  if (reason) return { kind: reason, reference };
  if (status === 410 || details.status) return { kind: 'over', status: details.status ?? 'other', reference };
  return { kind: status === 409 ? 'changed' : 'refused', reference };
}
