/** @import { Problem } from '../../../../platform/page/types.js' */
/** @import { LiveEvent, Opened, Routed, RoutedList } from './types.js' */
import { serviceTime } from '../../../../platform/page/call.js';
import { button, element, mention, paragraph, setContent } from '../../../../platform/page/dom.js';
import { counted, fill, moment } from '../../../../platform/page/format.js';
import { clause, note } from '../../../../platform/page/parts.js';
import { askForPasskey } from '../../../../platform/page/passkey.js';
import * as screen from '../../../../platform/page/screen.js';
import { approveApi, liveRequests } from './approve-api.js';
import { renderCall } from './approve-call.js';
import { renderDecision } from './approve-decide.js';
import { renderNotifications } from './approve-notifications.js';
import { renderColleagues, renderOwn, showEnrolment } from './approve-own.js';
import { troubleOf, words } from './approve-words.js';

const api = approveApi();
let invite = '';
let wanted = '';
/** The secret of the link by which a principal confirms that they enrolled. */
let confirmation = '';
/** The call that is shown. */
let current = '';

/** Applies an event to the view that is shown. @type {(event: LiveEvent) => void} */
let onEvent = () => {};
const live = liveRequests({
  tell: (event) => onEvent(event),
  async isSignedIn() {
    const answer = await api.session(true);
    if (!answer.ok && answer.problem.kind === 'noSession') {
      wanted = current;
      showSignIn();
    }
    return answer.ok;
  },
});

follow();
// A link that is opened in a tab with this page loads nothing new.
addEventListener('hashchange', follow);

function follow() {
  const fragment = screen.takeFragment();
  invite = fragment.get('invite') ?? '';
  wanted = fragment.get('decision') ?? '';
  confirmation = fragment.get('confirm') ?? '';
  return open();
}

async function open() {
  if (screen.isFramed()) return screen.showArticle(words.unusable, paragraph(words.framed));
  if (invite) return openInvite(invite);
  const answer = await screen.showLoading(words.loading, api.session());
  if (answer.ok) showNext(answer.body);
  else if (answer.problem.kind === 'noSession') showSignIn();
  else showProblem(answer.problem);
}

/** @param {string} link */
async function openInvite(link) {
  const answer = await screen.showLoading(words.loading, api.beginEnrolment(link));
  if (answer.ok) return showEnrolment(link, answer.body, { api, proceed });
  if (answer.problem.kind === 'unknown') screen.showArticle(words.badLink, paragraph(words.badLinkText));
  else showProblem(answer.problem);
}

/** @param {Opened} opened */
function proceed(opened) {
  invite = ''; // the link is used up
  showNext(opened);
}

function showSignIn() {
  live.stop();
  onEvent = () => {};
  const outcome = element('div', { role: 'status' });
  const signIn = button(words.signIn, async () => {
    const answer = await askForPasskey(api.beginSignIn, api.signIn);
    if (answer.ok) showNext(answer.body);
    else setContent(outcome, troubleOf(answer.problem));
  });
  const parts = [paragraph(words.signInLead), element('div', { class: 'buttons' }, signIn), outcome];
  screen.showArticle(words.signInTitle, parts);
}

/** @param {Opened} opened */
function showNext(opened) {
  live.start();
  if (confirmation) return confirmSelf(opened);
  if (wanted === '') return showList(opened);
  const id = wanted;
  wanted = '';
  return showCall(opened, id);
}

/** @param {Opened} opened */
async function confirmSelf(opened) {
  const answer = await screen.showLoading(words.loading, api.confirmSelf(confirmation));
  if (!answer.ok && answer.problem.kind === 'noSession') return showSignIn();
  confirmation = '';
  if (answer.ok)
    return showEnd({ ...opened, approver: answer.body }, words.confirmedTitle, words.confirmedText);
  if (answer.problem.kind === 'unknown') return showEnd(opened, words.badLink, words.badConfirmation);
  showProblem(answer.problem);
}

/** @param {Opened} opened */
async function showList(opened) {
  const { approver, developerName } = opened;
  screen.showBrand(developerName, opened.branding);
  onEvent = () => {};
  current = '';
  const [listed, waiting, own, ended, notifying] = await screen.showLoading(
    words.loading,
    Promise.all([api.list(), api.colleagues(), api.passkeys(), api.history(), api.notifications()]),
  );
  if (!listed.ok) return showProblem(listed.problem);
  const deputies = waiting.ok ? waiting.body.deputies : [];
  const now = serviceTime();
  const activeFrom = approver.activeFrom ? new Date(approver.activeFrom) : undefined;
  // The service tells its time in whole seconds.
  const isLater = activeFrom !== undefined && activeFrom.getTime() >= now.getTime() + 1000;
  const isWaiting = approver.status === 'active' && isLater;
  const region = element('div', {});
  let ids = '';
  /** @param {Routed[]} requests */
  const fillRegion = (requests) => {
    ids = requests.map(({ decisionId }) => decisionId).join();
    setContent(region, renderRequests(opened, requests));
  };
  fillRegion(listed.body.decisions);
  onEvent = async () => {
    const answer = await api.list(true);
    const isSame = answer.ok && answer.body.decisions.map(({ decisionId }) => decisionId).join() === ids;
    if (!answer.ok || isSame || !region.isConnected) return;
    const focused = region.contains(document.activeElement) ? document.activeElement?.id : undefined;
    fillRegion(answer.body.decisions);
    if (focused) document.getElementById(focused)?.focus();
    setContent(screen.announcer, counted(words.listChanged, answer.body.decisions.length));
  };
  const parts = [
    paragraph(fill(words.listLead, { account: mention(developerName) })),
    approver.status === 'pending_confirmation' && paragraph(words.pending[approver.kind]),
    isWaiting && paragraph(fill(words.notYet, { time: moment(activeFrom, now) })),
    region,
    ended.ok && renderHistory(ended.body),
    waiting.ok && renderColleagues(waiting.body, { api, reload: open, fail: showProblem }),
    own.ok &&
      renderOwn(opened, { passkeys: own.body.passkeys, deputies }, { api, reload: open, fail: failOwn }),
    notifying.ok && renderNotifications(notifying.body, { api, reload: open, fail: failOwn }),
    element(
      'div',
      { class: 'buttons' },
      button(words.reload, () => showList(opened)),
      button(words.signOut, async () => {
        await api.signOut();
        showSignIn();
      }),
    ),
  ];
  screen.showArticle(words.listTitle, parts);
}

/**
 * @param {Opened} opened
 * @param {Routed[]} requests
 */
function renderRequests(opened, requests) {
  if (requests.length === 0) return paragraph(words.listNothing);
  const items = requests.map(({ decisionId, agentName, tool, connector, expiresAt }) => {
    const time = moment(new Date(expiresAt), serviceTime());
    const names = { agent: mention(agentName), tool: mention(tool), connector: mention(connector), time };
    const show = button(words.call, () => showCall(opened, decisionId), { id: `show-${decisionId}` });
    return element('li', {}, fill(words.waits, names), ' ', show);
  });
  return element('ul', { class: 'requests' }, items);
}

/**
 * @param {Problem} problem
 * @param {HTMLElement} outcome
 */
function failOwn(problem, outcome) {
  if (problem.kind === 'oldSession' || problem.kind === 'noSession') showSignIn();
  else setContent(outcome, troubleOf(problem));
}

/**
 * @param {Opened} opened
 * @param {string} id
 * @param {string} [notice] why the call is shown once more
 */
async function showCall(opened, id, notice) {
  onEvent = () => {};
  current = id;
  const answer = await screen.showLoading(words.loading, api.show(id));
  if (!answer.ok) return showProblem(answer.problem);
  const shown = answer.body;
  if (shown.status !== 'pending') return showOver(opened, shown.status);
  const heading = element(
    'h1',
    { tabindex: '-1' },
    fill(shown.words.title ? words.callTitled : words.callTitle, {
      agent: mention(shown.agentName),
      title: mention(shown.words.title ?? ''),
      tool: mention(shown.tool),
    }),
  );
  const back = button(words.back, () => showList(opened));
  const decision = renderDecision(shown, {
    api,
    settle: (title, text) => showEnd(opened, title, text),
    fail(problem, outcome) {
      if (problem.kind === 'over') return showOver(opened, problem.status);
      if (problem.kind === 'changed') return showCall(opened, id, words.troubles.changed);
      if (problem.kind !== 'oldSession' && problem.kind !== 'noSession')
        return setContent(outcome, troubleOf(problem));
      wanted = id;
      showSignIn();
    },
  });
  onEvent = ({ decisionId, type, status }) => {
    if (decisionId !== id || decision.isBusy()) return;
    if (status !== 'pending') showOver(opened, status);
    else if (type === 'decision.first_approval') showCall(opened, id, words.renewed);
  };
  const parts = [
    notice && note(words.requestChanged, notice),
    renderCall(shown),
    element('div', { class: 'buttons' }, back),
    shown.mayDecide ? decision.content : paragraph(words.cannot),
  ];
  screen.showBrand(shown.developerName, shown.branding);
  screen.show(element('article', {}, heading, parts), heading);
}

/**
 * @param {Opened} opened
 * @param {string | undefined} status
 */
function showOver(opened, status = 'other') {
  const text = words.over[/** @type {keyof typeof words.over} */ (status)] ?? words.over.other;
  showEnd(opened, words.overTitle, text);
}

/**
 * @param {Opened} opened
 * @param {string} title
 * @param {string} text
 */
function showEnd(opened, title, text) {
  onEvent = () => {};
  current = '';
  const back = button(words.back, () => showList(opened));
  screen.showArticle(title, paragraph(text), element('div', { class: 'buttons' }, back));
}

/** @param {Problem} problem */
function showProblem(problem) {
  if (problem.kind === 'noSession') return showSignIn();
  screen.showArticle(words.trouble, troubleOf(problem), screen.tryAgain(open));
}

/**
 * The requests that wait no longer, newest first, and a button for those before.
 * @param {RoutedList} first
 */
function renderHistory(first) {
  if (first.decisions.length === 0) return [];
  const list = element('ul', { class: 'requests', id: 'history' }, first.decisions.map(itemOf));
  let cursor = first.nextCursor;
  const more = button(words.more, async () => {
    const answer = await api.history(cursor ?? '');
    if (!answer.ok) return showProblem(answer.problem);
    const items = answer.body.decisions.map(itemOf);
    list.append(...items);
    cursor = answer.body.nextCursor;
    if (cursor === null) more.remove();
    items[0]?.focus();
  });
  return clause(words.history, [list, cursor !== null && element('div', { class: 'buttons' }, more)]);
}

/** @param {Routed} request */
function itemOf({ agentName, tool, connector, createdAt, status }) {
  const time = moment(new Date(createdAt), serviceTime());
  const names = { agent: mention(agentName), tool: mention(tool), connector: mention(connector), time };
  const end = words.over[/** @type {keyof typeof words.over} */ (status)] ?? words.over.other;
  return element('li', { tabindex: '-1' }, fill(words.was, names), ' ', end);
}
