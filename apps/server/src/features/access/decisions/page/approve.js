/** @import { Problem } from '../../../../platform/page/types.js' */
/** @import { Enrolment, Opened, Shown } from './types.js' */
import { serviceTime } from '../../../../platform/page/call.js';
import { button, element, literal, mention, paragraph, setContent } from '../../../../platform/page/dom.js';
import { fill, moment } from '../../../../platform/page/format.js';
import { factList, note } from '../../../../platform/page/parts.js';
import { askForPasskey, makePasskey } from '../../../../platform/page/passkey.js';
import * as screen from '../../../../platform/page/screen.js';
import { approveApi } from './approve-api.js';
import { renderCall } from './approve-call.js';
import { renderColleagues } from './approve-colleagues.js';
import { renderOwn } from './approve-own.js';
import { words } from './approve-words.js';

const api = approveApi();
let invite = '';
let wanted = '';

follow();
// A link that is opened in a tab with this page loads nothing new.
addEventListener('hashchange', follow);

function follow() {
  const fragment = screen.takeFragment();
  invite = fragment.get('invite') ?? '';
  wanted = fragment.get('decision') ?? '';
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
  if (answer.ok) return showEnrolment(link, answer.body);
  if (answer.problem.kind === 'unknown') screen.showArticle(words.badLink, paragraph(words.badLinkText));
  else showProblem(answer.problem);
}

/**
 * @param {string} link
 * @param {Enrolment} enrolment
 */
function showEnrolment(link, { developerName, displayName, email, connectors, challengeId, publicKey }) {
  const names = { account: mention(developerName), name: mention(displayName) };
  const outcome = element('div', { role: 'status' });
  const make = button(words.enrol, async () => {
    const made = await makePasskey(publicKey);
    if (!made.ok) return setContent(outcome, troubleOf(made.problem));
    const answer = await api.enrol({ invite: link, challengeId, response: made.body });
    if (!answer.ok) return setContent(outcome, troubleOf(answer.problem));
    invite = ''; // the link is used up
    showNext(answer.body);
  });
  const heading = element('h1', { tabindex: '-1' }, fill(words.enrolTitle, names));
  const facts = factList([
    [words.address, literal(email)],
    [
      words.concerns,
      connectors ? connectors.map((connector) => [literal(connector), ' ']) : words.everything,
    ],
  ]);
  const lead = element('p', { class: 'lead' }, fill(words.enrolLead, names));
  const parts = [
    lead,
    facts,
    paragraph(words.enrolNote),
    element('div', { class: 'buttons' }, make),
    outcome,
  ];
  screen.show(element('article', {}, heading, parts), heading);
}

function showSignIn() {
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
  if (wanted === '') return showList(opened);
  const id = wanted;
  wanted = '';
  return showCall(opened, id);
}

/** @param {Opened} opened */
async function showList(opened) {
  const { approver, developerName } = opened;
  const [listed, waiting, own] = await screen.showLoading(
    words.loading,
    Promise.all([api.list(), api.colleagues(), api.passkeys()]),
  );
  if (!listed.ok) return showProblem(listed.problem);
  const deputies = waiting.ok ? waiting.body.deputies : [];
  const now = serviceTime();
  const activeFrom = approver.activeFrom ? new Date(approver.activeFrom) : undefined;
  const isWaiting = approver.status === 'active' && activeFrom !== undefined && activeFrom > now;
  const requests = listed.body.decisions.map(({ decisionId, agentName, tool, connector, expiresAt }) => {
    const time = moment(new Date(expiresAt), now);
    const names = { agent: mention(agentName), tool: mention(tool), connector: mention(connector), time };
    const show = button(words.call, () => showCall(opened, decisionId));
    return element('li', {}, fill(words.waits, names), ' ', show);
  });
  const parts = [
    paragraph(fill(words.listLead, { account: mention(developerName) })),
    approver.status === 'pending_confirmation' && paragraph(words.pending),
    isWaiting && paragraph(fill(words.notYet, { time: moment(activeFrom, now) })),
    requests.length > 0 ? element('ul', { class: 'requests' }, requests) : paragraph(words.listNothing),
    waiting.ok && renderColleagues(waiting.body, { api, reload: open, fail: showProblem }),
    own.ok &&
      renderOwn(opened, { passkeys: own.body.passkeys, deputies }, { api, reload: open, fail: failOwn }),
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
 */
async function showCall(opened, id) {
  const answer = await screen.showLoading(words.loading, api.show(id));
  if (!answer.ok) return showProblem(answer.problem);
  const shown = answer.body;
  if (shown.status !== 'pending') return showOver(opened, shown.status);
  const heading = element(
    'h1',
    { tabindex: '-1' },
    fill(words.callTitle, { agent: mention(shown.agentName) }),
  );
  const lead = element('p', { class: 'lead' }, words.callLead);
  const back = button(words.back, () => showList(opened));
  const parts = [
    lead,
    renderCall(shown),
    shown.mayDecide ? renderDecision(opened, shown) : paragraph(words.cannot),
  ];
  screen.show(element('article', {}, heading, parts, element('div', { class: 'buttons' }, back)), heading);
}

/**
 * The box and the buttons below the last line of the call.
 * @param {Opened} opened
 * @param {Shown} shown
 */
function renderDecision(opened, { decisionId, actionHash }) {
  const outcome = element('div', { role: 'status' });
  const box = element('input', { type: 'checkbox', id: 'read' });
  const label = element('label', { for: box.id }, box, ' ', words.read);
  let isBusy = false;

  /** @param {() => Promise<void>} work */
  async function once(work) {
    if (isBusy) return;
    isBusy = true;
    await work();
    isBusy = false;
  }

  /** @param {Problem} problem */
  function fail(problem) {
    if (problem.kind === 'over') showOver(opened, problem.status);
    else if (problem.kind === 'oldSession' || problem.kind === 'noSession') {
      wanted = decisionId;
      showSignIn();
    } else setContent(outcome, troubleOf(problem));
  }

  const approve = button(words.approve, () =>
    once(async () => {
      if (!box.checked) return setContent(outcome, note(words.trouble, words.readFirst));
      const answer = await askForPasskey(
        () => api.beginApproval(decisionId),
        (assertion) => api.approve(decisionId, { actionHash, assertion }),
      );
      if (!answer.ok) return fail(answer.problem);
      const text = answer.body.status === 'approved' ? words.approvedText : words.firstText;
      showEnd(opened, words.approvedTitle, text);
    }),
  );
  const deny = button(words.deny, () =>
    once(async () => {
      const answer = await api.deny(decisionId);
      if (!answer.ok) return fail(answer.problem);
      showEnd(opened, words.deniedTitle, words.deniedText);
    }),
  );
  return element('div', {}, paragraph(label), element('div', { class: 'buttons' }, approve, deny), outcome);
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
  const back = button(words.back, () => showList(opened));
  screen.showArticle(title, paragraph(text), element('div', { class: 'buttons' }, back));
}

/** @type {Partial<Record<Problem['kind'], keyof typeof words.troubles>>} */
const TROUBLES = {
  busy: 'busy',
  away: 'away',
  uncertain: 'uncertain',
  noPasskey: 'noPasskey',
  passkeyUnable: 'passkeyUnable',
  notEnrolled: 'passkeyUnable',
  passkeyRefused: 'passkeyRefused',
  noSession: 'passkeyRefused',
  copied: 'copied',
  otherPerson: 'person',
  oldSession: 'old',
  lastPasskey: 'last',
  sso: 'sso',
  changed: 'changed',
};

/** @param {Problem} problem */
const troubleOf = ({ kind, signInAt = '' }) => {
  const goes = () => location.assign(`${signInAt}&mode=redirect&return_to=/approve`);
  const way = signInAt.startsWith(`${location.origin}/`) && paragraph(button(words.signOn, goes));
  return note(words.trouble, words.troubles[TROUBLES[kind] ?? 'other'], way);
};

/** @param {Problem} problem */
function showProblem(problem) {
  if (problem.kind === 'noSession') return showSignIn();
  screen.showArticle(words.trouble, troubleOf(problem), screen.tryAgain(open));
}
