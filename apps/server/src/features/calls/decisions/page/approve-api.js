/** @import { Answer, PasskeyAnswer, PasskeyCreation, PasskeyOptions, Problem, Refusal } from '../../../../platform/page/types.js' */
/** @import { Colleagues, Enrolment, LiveEvent, Notifications, OwnPasskeys, Opened, RoutedList, Shown } from './types.js' */
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
    /** @type {() => Promise<Answer<Notifications>>} */
    notifications: () => ask('/notifications'),
    /** @param {PushSubscriptionJSON} subscription */
    turnOn: (subscription) => ask('/notifications', subscription, 'PUT'),
    /** @param {string} id */
    turnOff: (id) => ask(`/notifications/${id}`, undefined, 'DELETE'),
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
  other_approver: 'otherApprover',
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

const AGAIN_AFTER_MILLISECONDS = 60_000;

/** The status of a request after an event, by the type of the event. */
const TYPES = {
  'decision.requested': 'pending',
  'decision.first_approval': 'pending',
  'decision.reminder': 'pending',
  'decision.granted': 'approved',
  'decision.consumed': 'consumed',
  'decision.denied': 'denied',
  'decision.cancelled': 'cancelled',
  'decision.superseded': 'superseded',
  'decision.expired': 'expired',
};

/**
 * Follows the requests that go to the person. The browser connects again by itself after a lost connection, and goes
 * on after the last event that it has seen.
 * @param {{ tell: (event: LiveEvent) => unknown, isSignedIn: () => Promise<boolean> }} use
 */
export function liveRequests({ tell, isSignedIn }) {
  /** @type {EventSource | undefined} */
  let source;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** Tells that any request may have changed. */
  const tellGap = () => tell({ type: 'gap', status: 'pending', decisionId: '' });

  function start() {
    clearTimeout(timer);
    if (source) return;
    const opened = new EventSource(`${AT}/events`);
    source = opened;
    for (const [type, status] of Object.entries(TYPES)) {
      opened.addEventListener(type, ({ data }) => {
        tell({ type, status, decisionId: JSON.parse(data).data.decisionId });
      });
    }
    opened.addEventListener('gap', tellGap);
    opened.addEventListener('open', tellGap); // for requests that came before it
    opened.addEventListener('error', async () => {
      if (opened.readyState !== EventSource.CLOSED || source !== opened) return;
      source = undefined;
      if (await isSignedIn()) timer = setTimeout(start, AGAIN_AFTER_MILLISECONDS); // no stream was free
    });
  }

  function stop() {
    clearTimeout(timer);
    source?.close();
    source = undefined;
  }
  return { start, stop };
}
