/** @import { Child, Problem } from '../../../../platform/page/types.js' */
/** @import { Choices, ConsentRequest, Decision, Limits, Narrowing, DecisionKind } from './types.js' */
import { serviceTime } from '../../../../platform/page/call.js';
import {
  aside,
  button,
  element,
  literal,
  mention,
  paragraph,
  setContent,
} from '../../../../platform/page/dom.js';
import { duration, fill, fillText } from '../../../../platform/page/format.js';
import * as screen from '../../../../platform/page/screen.js';
import { words as shared } from '../../../../platform/page/words.js';
import { consentApi } from './consent-api.js';
import { mayApprove, renderRequest } from './consent-view.js';
import { words } from './consent-words.js';

/** Prevents an approval by a click that was meant for a window in front of this page. */
const ARMING_MILLISECONDS = 600;
const CLOSING_SOON_MILLISECONDS = 120_000;
const TICK_MILLISECONDS = 30_000;
const REDIRECT_SEEMS_STUCK_MILLISECONDS = 2_500;

const asked = new URLSearchParams(location.search);
const requestId = asked.get('req') ?? '';
/** A request that is made when the application has signed the person in. */
const pushed = { clientId: asked.get('client_id') ?? '', requestUri: asked.get('request_uri') ?? '' };
const api = consentApi(requestId);

/** Only this variable holds the link's ticket and hint. */
let key = takeKey();
/** @type {{ request: ConsentRequest, view: ReturnType<typeof renderRequest> } | undefined} */
let shown;
/** @type {Choices | undefined} survive each view, so a person chooses once */
let choices;
let isArmed = false;
let isSending = false;
let armingTimer = 0;
let endTimer = 0;

open();

// The same link in the same tab changes only the fragment and loads nothing.
addEventListener('hashchange', () => {
  if (location.hash === '' || isSending) return;
  key = takeKey();
  open();
});
// The browser may come back with a page from its memory, which is out of date.
addEventListener('pageshow', (event) => event.persisted && open());
addEventListener('focus', arm);
document.addEventListener('visibilitychange', () => {
  arm();
  watchEnd();
});

function takeKey() {
  const fragment = screen.takeFragment();
  return { ticket: fragment.get('ticket') ?? '', hint: fragment.get('hint') ?? undefined };
}

async function open() {
  if (screen.isFramed()) return showMessage('notHere');
  if (!/^areq_[0-9A-Za-z]{1,59}$/.test(requestId)) return showMessage('incomplete');
  forget();
  if (pushed.requestUri !== '' && key.hint !== undefined) return arrive(key.hint);
  const answer = await screen.showLoading(words.loading, findRequest());
  if (!answer.ok) return showOpeningProblem(answer.problem);
  await showRequest(answer.body);
}

/** @param {string} hint */
async function arrive(hint) {
  const answer = await screen.showLoading(words.loading, api.arrive({ ...pushed, hint }));
  if (!answer.ok) return showOpeningProblem(answer.problem);
  if (screen.isSafeTarget(answer.body.redirectTo)) location.replace(answer.body.redirectTo);
  else showMessage('incomplete');
}

/** Opens by this browser's session, and with the link's hint only where that session does not prove enough. */
async function findRequest() {
  const { ticket, hint } = key;
  if (ticket === '') return api.read();
  const kept = await api.openSession({ ticket, hint: undefined });
  if (kept.ok) return kept.body.verification.satisfied || hint === undefined ? kept : api.openSession(key);
  if (kept.problem.kind !== 'unknown') return kept;
  const byCookie = await api.read(); // the ticket of another link does not end this browser's session
  return byCookie.ok ? byCookie : kept;
}

/** @returns {Limits} */
const noLimits = () => ({
  parts: [],
  follow() {},
  isTighter: () => false,
  missing: () => undefined,
  narrowing: () => ({}),
});

/** Loads the controls for limits, which most requests have none of. @param {ConsentRequest} request */
async function loadLimits({ argumentLimits = [] }) {
  if (argumentLimits.length === 0) return noLimits;
  const { renderLimits } = await import('./consent-limits.js');
  return renderLimits;
}

/** @param {ConsentRequest} request */
async function showRequest(request) {
  const loading = Promise.all([
    loadLimits(request),
    loadProofStep(request.verification),
    request.diff && import('./consent-difference.js'),
  ]);
  const [renderLimits, proofStep, difference] = await loading.catch(() => []);
  if (!renderLimits) return showMessage('away', screen.tryAgain(open));
  choices ??= {
    removedScopes: new Set(),
    removedTools: new Map(),
    bounds: new Map(),
    removedItems: new Map(),
    expiresIn: request.grantExpiresIn,
    reason: '',
  };
  const view = renderRequest(request, {
    choices,
    now: serviceTime,
    proofStep,
    decide,
    renderLimits,
    renderDifference: difference?.renderDifference,
  });
  forget();
  screen.showBrand(request.developerName, request.branding);
  screen.show(view.page, view.heading);
  shown = { request, view };
  arm();
  watchEnd();
}

/** Leaves for the person's identity provider, which sends the browser back to this page. */
async function signOn() {
  const answer = await api.signOn();
  if (answer.ok) location.assign(answer.body.redirectTo);
  else showProblem(answer.problem, signOn);
}

/** The step by which the missing proof is given, if this page has one. @param {ConsentRequest['verification']} verification */
async function loadProofStep({ satisfied, methods, signInHere }) {
  if (satisfied) return undefined;
  if (methods.includes('email')) {
    const { renderCodeStep } = await import('../../../../platform/page/code-step.js');
    return renderCodeStep({ words: words.email, ...api, proved: resume, explain });
  }
  return signInHere ? element('div', { class: 'step' }, paragraph(button(words.signOn, signOn))) : undefined;
}

function arm() {
  isArmed = false;
  shown?.view.setArmed(false);
  clearTimeout(armingTimer);
  armingTimer = setTimeout(() => {
    isArmed = true;
    shown?.view.setArmed(true);
  }, ARMING_MILLISECONDS);
}

/**
 * Updates the times, and closes the request when it expires. Runs on waking too, because timers may sleep.
 */
function watchEnd() {
  clearTimeout(endTimer);
  if (!shown || isSending) return;
  const left = Date.parse(shown.request.expiresAt) - serviceTime().getTime();
  if (left <= 0) return showMessage('expired');
  const isSoon = left <= CLOSING_SOON_MILLISECONDS;
  const text = shown.view.showEnd(isSoon);
  if (isSoon && screen.announcer.textContent !== text) setContent(screen.announcer, text);
  shown.view.refreshEnd();
  endTimer = setTimeout(watchEnd, Math.min(left, TICK_MILLISECONDS));
}

/** @param {DecisionKind} kind */
async function decide(kind) {
  if (!shown || isSending) return;
  const { request, view } = shown;
  const { proofFirst, pressAgain, approving, denying } = words.decision;
  if (kind === 'approve') {
    const obstacle = mayApprove(request) ? view.missing() : proofFirst;
    if (obstacle || !isArmed) return view.showNotice(obstacle ?? pressAgain);
  }

  isSending = true;
  view.showNotice();
  view.setSending(kind);
  setContent(screen.announcer, kind === 'approve' ? approving : denying);
  const answer = await (kind === 'approve'
    ? approve(request, view.narrowing())
    : api.deny(choices?.reason ?? ''));
  isSending = false;
  if (answer.ok) return showDecided(kind, answer.body, request, view.inWords());
  view.setSending(undefined);
  showProblem(answer.problem, () => decide(kind));
  watchEnd();
}

/**
 * Approves; where a passkey is required, it signs exactly this first.
 * @param {ConsentRequest} request
 * @param {Narrowing} narrowing
 */
async function approve({ fidoRequired }, narrowing) {
  if (fidoRequired) {
    const proved = await api.provePasskey(narrowing);
    if (!proved.ok) return proved;
  }
  return api.approve(narrowing);
}

/**
 * @param {DecisionKind} kind
 * @param {Decision} decision
 * @param {ConsentRequest} request
 * @param {string} selection
 */
function showDecided(kind, { redirectTo }, { agentName, principalId, redirectHost }, selection) {
  const { done } = words;
  const [title = '', sentence = ''] = kind === 'approve' ? done.approved : done.denied;
  const text = fill(sentence, { agent: mention(agentName), principal: mention(principalId), selection });
  const target = redirectTo && screen.isSafeTarget(redirectTo) ? redirectTo : undefined;
  const next = paragraph(target ? fill(done.returning, { host: literal(redirectHost ?? '') }) : done.close);
  showPage(title, paragraph(text), next, paragraph(ownPageLink()));
  if (!target) return;
  location.assign(target);
  // A private scheme opens an application or nothing. The address holds the code, so the page hides it.
  setTimeout(() => {
    setContent(next, done.nothingOpens);
    next.after(paragraph(button(done.go, () => location.assign(target))));
  }, REDIRECT_SEEMS_STUCK_MILLISECONDS);
}

/** Leads to what agents may do for the person, who need not show again who they are if they have just done so here. */
function ownPageLink() {
  const link = element('a', { href: '/permissions' }, words.done.permissions);
  link.addEventListener('click', async (event) => {
    event.preventDefault();
    const answer = await api.openPermissions();
    location.assign(answer.ok ? `${link.href}#session=${answer.body.sessionToken}` : link.href);
  });
  return link;
}

/**
 * Shows that a decision failed. The selection stays.
 * @param {Problem} problem
 * @param {() => void} again
 */
function showProblem(problem, again) {
  const text = explain(problem);
  if (!shown) return;
  const { kind, seconds, reference } = problem;
  shown.view.showNotice(text, [
    kind === 'replaced' && button(words.useThisWindow, resume),
    kind === 'changed' && button(words.lookAgain, open),
    kind === 'sso' && button(words.signOn, signOn),
    ['busy', 'away', 'uncertain', 'noPasskey', 'passkeyRefused'].includes(kind) &&
      screen.tryAgain(again, seconds),
    reference && aside(fill(shared.support, { id: literal(reference) })),
  ]);
}

/**
 * Handles problems after which the request leaves the page.
 * @param {Problem} problem
 */
function showIfOver({ kind, status = '' }) {
  if (kind === 'over') showMessage(status in words.pages ? /** @type {'denied'} */ (status) : 'over');
  else if (kind === 'unknown') showMessage('unknown');
  else if (kind !== 'noSession') return false;
  else if (key.ticket === '') showMessage('noSession');
  else showMessage('reopen', screen.tryAgain(open));
  return true;
}

/** @param {Problem} problem */
function showOpeningProblem(problem) {
  const { kind, seconds } = problem;
  if (showIfOver(problem)) return;
  if (kind === 'busy') showMessage('busy', screen.tryAgain(open, seconds), seconds);
  else if (kind === 'replaced') showMessage('notHere');
  else showMessage('away', screen.tryAgain(open));
}

/**
 * The words for a problem that leaves the request on the page. After any other problem the request leaves it.
 * @param {Problem} problem
 */
function explain(problem) {
  if (!shown || showIfOver(problem)) return '';
  const sentence = words.problems[/** @type {keyof typeof words.problems} */ (problem.kind)];
  const developer = mention(shown.request.developerName);
  return fill(sentence, { developer, duration: duration(problem.seconds ?? 0) });
}

/** Goes on with the request, by the state of this session at the service. */
async function resume() {
  const answer = await findRequest();
  if (!shown) return;
  if (!answer.ok) return showProblem(answer.problem, resume);
  const isProofNew = answer.body.verification.satisfied !== shown.request.verification.satisfied;
  if (isProofNew) await showRequest(answer.body);
  else shown.view.showNotice(words.resumed);
}

/**
 * @param {keyof typeof words.pages} what
 * @param {HTMLElement} [action]
 * @param {number} [seconds]
 */
function showMessage(what, action, seconds = 0) {
  const [title = '', text = ''] = words.pages[what];
  showPage(title, paragraph(fillText(text, { duration: duration(seconds) })), action && paragraph(action));
}

/**
 * Shows a page in place of the request.
 * @param {string} title
 * @param {...Child} content
 */
function showPage(title, ...content) {
  forget();
  screen.showArticle(title, content);
}

function forget() {
  shown = undefined;
  clearTimeout(endTimer);
}
