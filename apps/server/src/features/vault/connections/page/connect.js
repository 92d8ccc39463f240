/** @import { Problem } from '../../../../platform/page/types.js' */
/** @import { Ended, Session, View } from './types.js' */
import { renderCodeStep } from '../../../../platform/page/code-step.js';
import { button, mention, paragraph } from '../../../../platform/page/dom.js';
import { fill } from '../../../../platform/page/format.js';
import * as screen from '../../../../platform/page/screen.js';
import { connectApi } from './connect-api.js';
import { renderConnect } from './connect-view.js';
import { words } from './connect-words.js';

/** A browser may be sent to these kinds of address. The service enforces the same rule. */
const SAFE_TARGET =
  /^(?:https:|[a-z][a-z0-9+-]*\.[a-z0-9.+-]*:|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?[/?])/i;

const sessionId = new URLSearchParams(location.search).get('session') ?? '';
const api = connectApi(sessionId);
/** Only this variable holds the link's ticket and the hint. */
const fragment = screen.takeFragment();

/** @type {{ session: Session, view: View } | undefined} */
let shown;
let isBusy = false;

open();
addEventListener('pageshow', (event) => event.persisted && open());

async function open() {
  if (screen.isFramed()) return showMessage('notHere');
  if (!/^conn_[0-9A-Z]{26}$/.test(sessionId)) return showMessage('incomplete');
  const answer = await screen.showLoading(words.loading, findSession());
  if (answer.ok) return show(answer.body);
  showProblem(answer.problem);
}

/** Opens by this browser's cookie, else by the link's ticket. A hint counts for the browser that asked for it. */
async function findSession() {
  let answer = await api.read();
  const ticket = fragment.get('t') ?? '';
  if (!answer.ok && answer.problem.kind === 'noSession' && ticket !== '') answer = await api.open(ticket);
  const hint = fragment.get('hint') ?? '';
  fragment.delete('hint');
  if (!answer.ok || hint === '' || answer.body.verification.satisfied) return answer;
  await api.hint(hint);
  return api.read();
}

/** @param {Session} session */
function show(session) {
  const isByMail = !session.verification.satisfied && session.verification.methods.includes('email');
  const codeStep = isByMail
    ? renderCodeStep({ words: words.email, ...api, proved: open, explain })
    : undefined;
  const { loginUrl } = session;
  const view = renderConnect(session, {
    codeStep,
    provePasskey: () => act(api.provePasskey, open),
    signIn: () => loginUrl !== null && leaveFor(loginUrl),
    signOn,
    start: (scopes) =>
      act(
        () => api.start(scopes),
        ({ redirectTo }) => leaveFor(redirectTo),
      ),
    confirm: (replaceAccount) => act(() => api.confirm(replaceAccount), showEnd),
    cancel: () => act(api.cancel, showEnd),
  });
  screen.showBrand(session.connect.developerName, session.connect.branding);
  screen.show(view.page, view.heading);
  shown = { session, view };
}

/** Leaves for the person's identity provider, which sends the browser back to this page. */
const signOn = () => act(api.signOn, ({ redirectTo }) => leaveFor(redirectTo));

/**
 * Makes one call at a time.
 * @template Body
 * @param {() => Promise<import('../../../../platform/page/types.js').Answer<Body>>} send
 * @param {(body: Body) => void} proceed
 */
async function act(send, proceed) {
  if (isBusy) return;
  isBusy = true;
  const answer = await send();
  isBusy = false;
  if (answer.ok) proceed(answer.body);
  else showProblem(answer.problem);
}

/** @param {string} target */
function leaveFor(target) {
  if (SAFE_TARGET.test(target)) location.assign(target);
  else shown?.view.showNotice(words.problems.refused);
}

/** @param {Ended} ended */
function showEnd({ status, redirectTo }) {
  const [title = '', text = ''] = words.done[status];
  const provider = mention(shown?.session.connect.providerName ?? '');
  const next = redirectTo ? words.done.returning : words.done.close;
  screen.showArticle(title, paragraph(fill(text, { provider })), paragraph(next));
  shown = undefined;
  if (redirectTo) leaveFor(redirectTo);
}

/** @param {Problem} problem */
function showProblem(problem) {
  const text = explain(problem);
  const way = problem.kind === 'sso' && paragraph(button(words.signOn, signOn));
  if (text !== '') shown?.view.showNotice(text, way);
}

/**
 * The words for a problem that leaves the session on the page. After any other problem the session leaves it.
 * @param {Problem} problem
 */
function explain({ kind, status = '' }) {
  if (kind === 'over') showMessage(status in words.pages ? status : 'cancelled');
  else if (kind === 'unknown' || kind === 'noSession') showMessage(kind);
  else if (!shown) showMessage('away', true);
  else return words.problems[/** @type {keyof typeof words.problems} */ (kind)] ?? words.problems.refused;
  return '';
}

/**
 * @param {string} what
 * @param {boolean} [canRetry]
 */
function showMessage(what, canRetry = false) {
  const [title = '', text = ''] = words.pages[what] ?? [];
  shown = undefined;
  screen.showArticle(title, paragraph(text), canRetry && paragraph(screen.tryAgain(open)));
}
