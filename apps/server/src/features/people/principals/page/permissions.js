/** @import { Answer, Child, Problem } from '../../../../platform/page/types.js' */
/** @import { Ask, Branch, GrantPage, Rest, Use } from './types.js' */
import { serviceTime } from '../../../../platform/page/call.js';
import {
  aside,
  button,
  element,
  literal,
  mention,
  name,
  paragraph,
  setContent,
} from '../../../../platform/page/dom.js';
import { counted, duration, fill, fillText, moment } from '../../../../platform/page/format.js';
import { note } from '../../../../platform/page/parts.js';
import * as screen from '../../../../platform/page/screen.js';
import { words as shared } from '../../../../platform/page/words.js';
import { agentName, agentOf, agentsOf, countBelow, renderAgent } from './permissions-agent.js';
import { permissionsApi } from './permissions-api.js';
import { renderReceipt, renderTerms } from './permissions-details.js';
import { renderActivity, renderLater } from './permissions-list.js';
import { endAfterAsking } from './permissions-question.js';
import { words } from './permissions-words.js';

const LONGEST_TIMER_MILLISECONDS = 30_000;
/** The question before everything ends names this number of agents. */
const NAMED = 5;

/** What a mailed link brought, until it is used. */
let link = '';
let api = openApi();
/** The end of the session that the page shows, or 0. */
let endsAt = 0;
let endTimer = 0;

open();

// The same link in the same tab changes only the fragment and loads nothing.
addEventListener('hashchange', () => {
  if (location.hash === '') return;
  api = openApi();
  open();
});
// The browser may come back with a page from its memory, which is out of date.
addEventListener('pageshow', (event) => event.persisted && open());
document.addEventListener('visibilitychange', watchEnd);

/** Only this closure holds the session's token. A reload drops it. */
function openApi() {
  const fragment = screen.takeFragment();
  link = fragment.get('link') ?? '';
  const token = fragment.get('session') ?? '';
  return token === '' ? undefined : permissionsApi(token);
}

/** @param {string} [news] */
async function open(news) {
  endsAt = 0;
  if (screen.isFramed()) return showMessage('notHere');
  if (!api) return signIn();
  const answer = await screen.showLoading(words.loading, readAll(api));
  if (!answer.ok) return showOpeningProblem(answer.problem);
  const use = { api, developerName: answer.body.developerName, explain };
  const rest = await renderRest(answer.body, use).catch(() => undefined);
  if (rest) showGrants(answer.body, use, { rest, news });
  else showMessage('away', screen.tryAgain(open));
}

/** Lets the person show who they are, in place of a session. */
async function signIn() {
  endsAt = 0;
  const part = await import('./permissions-sign-in.js').catch(() => undefined);
  if (!part) return showMessage('away', screen.tryAgain(signIn));
  part.showSignIn({
    link,
    proceed(token) {
      link = '';
      api = permissionsApi(token);
      open();
    },
  });
}

/**
 * The grants, the connected accounts, the passkeys, the stops and the address, or the refusal of one of them.
 * @param {Use['api']} from
 * @returns {Promise<Answer<GrantPage & Rest>>}
 */
async function readAll(from) {
  const [grants, connected, owned, stopped, mailed] = await Promise.all([
    from.activeGrants(),
    from.connections(),
    from.passkeys(),
    from.stops(),
    from.address(),
  ]);
  if (!grants.ok) return grants;
  if (!connected.ok) return connected;
  if (!owned.ok) return owned;
  if (!stopped.ok) return stopped;
  if (!mailed.ok) return mailed;
  const { connections } = connected.body;
  const { passkeys } = owned.body;
  const { stops } = stopped.body;
  return { ok: true, body: { ...grants.body, connections, passkeys, stops, address: mailed.body.address } };
}

/**
 * The parts that few people have anything in. Each loads when it is needed.
 * @param {Rest} page
 * @param {Use} use
 * @returns {Promise<Child[]>}
 */
const renderRest = ({ connections, passkeys, stops, address }, use) =>
  Promise.all([
    connections.length > 0 &&
      import('./permissions-connections.js').then((part) => part.renderConnections(connections, use)),
    passkeys.length > 0 &&
      import('./permissions-passkeys.js').then((part) => part.renderPasskeys(passkeys, use)),
    address && import('./permissions-passkeys.js').then((part) => part.renderAddress(address, use)),
    stops.length > 0 && import('./permissions-stops.js').then((part) => part.renderStops(stops, use, open)),
  ]);

/**
 * @param {GrantPage} page
 * @param {Use} use
 * @param {{ rest: Child[], news: string | undefined }} more
 */
function showGrants(page, use, { rest, news }) {
  const { grants, principalId, sandbox, sessionExpiresAt } = page;
  const developer = mention(use.developerName);
  const agents = agentsOf(grants);
  const isAny = agents.length > 0;
  const heading = element('h1', { tabindex: '-1' }, isAny ? words.heading : words.headingNone);
  const notice = element('div', { class: 'notice', role: 'alert' });
  const endAllButton = button(words.endAll, endAll);
  const closes = moment(new Date(sessionExpiresAt), serviceTime());

  const question = () => ({
    title: words.question.endAll,
    text: [fill(words.question.endAllText, { developer }), ...whatFalls(agents)],
    yes: words.question.yesAll,
    no: words.question.noAll,
  });

  async function endAll() {
    const answer = await endAfterAsking(endAllButton, question, use.api.endAll);
    if (answer?.ok) open(words.endedAll);
    else if (answer) setContent(notice, paragraph(explain(answer.problem)));
  }

  async function close() {
    const answer = await use.api.close();
    if (answer.ok) showMessage('closed');
    else setContent(notice, paragraph(explain(answer.problem)));
  }

  const article = element('article', {}, [
    sandbox && element('div', { class: 'sandbox' }, note(words.sandbox, words.sandboxText)),
    element('div', { class: 'title' }, heading, isAny && endAllButton),
    aside(fill(words.person, { principal: name(principalId) })),
    news && element('p', {}, element('strong', {}, news)),
    notice,
    agents.map((branches) => renderAgent(branches, use)),
    rest,
    element('div', { class: 'card' }, renderEnded(use), renderActivity(use)),
    element('footer', { class: 'colophon' }, [
      element(
        'p',
        { class: 'title' },
        element('span', {}, fill(words.closes, { time: closes })),
        button(words.close, close),
      ),
      words.service,
    ]),
  ]);
  screen.showBrand(use.developerName, page.branding);
  screen.show(article, heading);
  endsAt = Date.parse(sessionExpiresAt);
  watchEnd();
}

/**
 * What ends with everything, by agent.
 * @param {Branch[][]} agents
 */
function whatFalls(agents) {
  const { falls, grantsOf, below, moreAgents } = words.question;
  const lines = agents.slice(0, NAMED).map((branches) => {
    const own = counted(grantsOf, branches.length);
    const passedOn = countBelow(branches);
    const what = passedOn > 0 ? counted(below, passedOn, { what: own }) : own;
    return fill(falls, { agent: agentOf(branches[0]?.grant), what });
  });
  const more = agents.length - lines.length;
  return more > 0 ? [...lines, counted(moreAgents, more)] : lines;
}

/** @param {Use} use */
function renderEnded(use) {
  /** @type {Ask} */
  async function ask(cursor) {
    const answer = await use.api.allGrants(cursor);
    if (!answer.ok) return answer;
    const ended = answer.body.grants.filter(({ status }) => status !== 'active');
    const rows = ended.map((grant) => {
      const title = paragraph(name(agentName(grant)));
      return element('li', { tabindex: '-1' }, title, renderTerms(grant, use), renderReceipt(grant, use));
    });
    return { ok: true, body: { rows, nextCursor: answer.body.nextCursor } };
  }
  return renderLater({ title: words.before, empty: words.nothingEnded, ask }, use);
}

/** Closes the page when the session ends. Runs on waking too, because timers may sleep. */
function watchEnd() {
  clearTimeout(endTimer);
  if (endsAt === 0) return;
  const left = endsAt - serviceTime().getTime();
  if (left <= 0) return showMessage('ended');
  endTimer = setTimeout(watchEnd, Math.min(left, LONGEST_TIMER_MILLISECONDS));
}

/** @param {Problem} problem */
function showOpeningProblem({ kind, seconds }) {
  if (kind === 'noSession') showMessage('ended');
  else if (kind === 'busy') showMessage('busy', screen.tryAgain(open, seconds), seconds);
  else showMessage('away', screen.tryAgain(open));
}

/**
 * @param {Problem} problem
 * @returns {Child}
 */
function explain({ kind, seconds = 0, reference }) {
  if (kind === 'noSession') {
    showMessage('ended');
    return '';
  }
  const sentence = words.problems[/** @type {keyof typeof words.problems} */ (kind)];
  const support = reference && [' ', fill(shared.support, { id: literal(reference) })];
  return [fillText(sentence, { duration: duration(seconds) }), support];
}

/**
 * Shows a page in place of this one.
 * @param {keyof typeof words.pages} what
 * @param {HTMLElement} [action]
 * @param {number} [seconds]
 */
function showMessage(what, action, seconds = 0) {
  endsAt = 0;
  document.querySelector('dialog')?.close();
  const [title = '', text = ''] = words.pages[what];
  const isOver = what === 'ended' || what === 'closed';
  screen.showArticle(
    title,
    paragraph(fillText(text, { duration: duration(seconds) })),
    action && paragraph(action),
    isOver && paragraph(button(words.signIn.again, signIn)),
  );
}
