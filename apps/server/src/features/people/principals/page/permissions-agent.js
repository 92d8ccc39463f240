/** @import { ToolInWords } from '@behest/protocol/shapes' */
/** @import { Answer } from '../../../../platform/page/types.js' */
/** @import { Branch, Card, Grant, Use } from './types.js' */
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
import { counted, day, fill, fillText, money } from '../../../../platform/page/format.js';
import {
  isFarReaching,
  kindOf,
  mostFarReachingFirst,
  reachOf,
  toolScope,
} from '../../../../platform/page/scopes.js';
import { language } from '../../../../platform/page/words.js';
import { renderDetails } from './permissions-details.js';
import { endAfterAsking } from './permissions-question.js';
import { words } from './permissions-words.js';

/** A card shows this number of permissions that reach less far. It shows all that reach far. */
const FEW = 3;

/**
 * Puts each grant below the grant that it was delegated from, and the trees of one agent together. The newest agent comes
 * first, and of its grants the one that reaches furthest.
 * @param {Grant[]} grants
 * @returns {Branch[][]}
 */
export function agentsOf(grants) {
  const branches = new Map(grants.map((grant) => [grant.grantId, branchOf(grant)]));
  /** @type {Map<string, Branch[]>} */
  const agents = new Map();
  for (const branch of branches.values()) {
    const { agentId, parentGrantId = '' } = branch.grant;
    const parent = branches.get(parentGrantId);
    if (parent) parent.branches.unshift(branch);
    else agents.set(agentId, [...(agents.get(agentId) ?? []), branch]);
  }
  return [...agents.values()].map((own) => own.toSorted((one, other) => reachOfAll(other) - reachOfAll(one)));
}

/** @param {Branch} branch */
const reachOfAll = ({ grant }) => Math.max(...grant.scopes.map(reachOf));

/** @type {(grant: Grant) => Branch} */
const branchOf = (grant) => ({ grant, branches: [] });

/** @type {(branches: Branch[]) => number} */
export const countBelow = (branches) =>
  branches.reduce((count, branch) => count + branch.branches.length + countBelow(branch.branches), 0);

/** @param {Grant | undefined} grant */
export const agentName = (grant) => grant?.agentName ?? words.grant.removedAgent;

/** @param {Grant | undefined} grant */
export const agentOf = (grant) => mention(agentName(grant));

/**
 * One agent: its grants as rows, and the button that ends them all beside its name.
 * @param {Branch[]} branches all grants of the agent, or one that was delegated to it
 * @param {Use} use
 * @param {{ level?: 'h3', onEnd?: () => void }} [place]
 * @returns {HTMLElement}
 */
export function renderAgent(branches, use, { level, onEnd } = {}) {
  const [first] = branches;
  const agent = agentName(first?.grant);
  const id = `agent-${first?.grant.grantId}`;
  const heading = element(level ?? 'h2', { id, tabindex: '-1' }, name(agent));
  const notice = element('div', { class: 'notice', role: 'alert' });
  const endButton = button(words.grant.end, end, { 'aria-label': fillText(words.grant.endOf, { agent }) });
  /** @type {Card} */
  const card = { left: [...branches], endOne };
  const rows = branches.map((branch) => renderGrant(branch, use, card));
  const kind = level ? { class: 'agent', role: 'group' } : { class: 'card agent' };
  const part = element(level ? 'div' : 'section', { ...kind, 'aria-labelledby': id }, [
    element('div', { class: 'title' }, heading, endButton),
    notice,
    rows.length > 1
      ? element(
          'ul',
          { role: 'list', class: 'rows' },
          rows.map((row) => element('li', {}, row)),
        )
      : rows,
  ]);

  const question = () => ({
    title: fill(words.question.end, { agent: agentOf(first?.grant) }),
    text: [
      words.question.endText,
      card.left.length > 1 && counted(words.question.grants, card.left.length),
      countBelow(card.left) > 0 && counted(words.question.branches, countBelow(card.left)),
    ],
    yes: words.question.yes,
    no: words.question.no,
  });

  async function end() {
    const hasBelow = countBelow(card.left) > 0;
    const answer = await endAfterAsking(endButton, question, endAll);
    if (!answer) return;
    if (!answer.ok) return setContent(notice, paragraph(use.explain(answer.problem)));
    onEnd?.();
    const sentence = hasBelow ? words.grant.endedBranches : words.grant.endedNow;
    setContent(part, heading, paragraph(fill(sentence, { agent: agentOf(first?.grant) })));
    heading.focus();
  }

  /** Ends one grant after another, and stops at the first that does not end. @returns {Promise<Answer<unknown>>} */
  async function endAll() {
    for (const branch of [...card.left]) {
      const answer = await use.api.end(branch.grant.grantId);
      if (!answer.ok) return answer;
      if (card.left.length > 1) takeAway(branch);
    }
    return { ok: true, body: {} };
  }

  /**
   * Ends one of several grants.
   * @param {Branch} branch
   * @param {HTMLElement} control
   */
  async function endOne(branch, control) {
    const only = [branch];
    const ask = () => ({
      ...question(),
      title: fill(words.question.endOne, { agent: agentOf(branch.grant) }),
      text: [
        words.question.endText,
        countBelow(only) > 0 && counted(words.question.branches, countBelow(only)),
      ],
    });
    const answer = await endAfterAsking(control, ask, () => use.api.end(branch.grant.grantId));
    if (!answer) return;
    if (!answer.ok) return setContent(notice, paragraph(use.explain(answer.problem)));
    takeAway(branch);
    heading.focus();
  }

  /** @param {Branch} branch */
  function takeAway(branch) {
    card.left.splice(card.left.indexOf(branch), 1);
    const row = rows[branches.indexOf(branch)];
    if (row) setContent(row, aside(words.grant.endedOne));
  }

  return part;
}

/**
 * One grant: what it allows, the most far-reaching first, and until when.
 * @param {Branch} branch
 * @param {Use} use
 * @param {Card} card
 */
function renderGrant(branch, use, card) {
  const { grant, branches } = branch;
  const { budget, unverified } = grant;
  const count = branches.length + countBelow(branches);
  return element('div', { class: 'grant' }, [
    budget &&
      element(
        'p',
        { class: 'headline' },
        fill(words.grant.money, { left: money({ ...budget, amount: budget.remaining }), all: money(budget) }),
      ),
    renderPermissions(grant),
    unverified && aside(element('strong', {}, words.grant.unverified)),
    renderDetails(branch, use, { status: renderStatus(grant), card }),
    count > 0 &&
      element('details', {}, [
        element('summary', {}, counted(words.grant.passedOn, count)),
        branches.map((below) =>
          renderAgent([below], use, {
            level: 'h3',
            onEnd: () => branches.splice(branches.indexOf(below), 1),
          }),
        ),
      ]),
  ]);
}

/** The permissions in words. The exact text counts, and is shown where words do not tell two of them apart. @param {Grant} grant */
function renderPermissions({ scopes, scopeDescriptions, tools = [] }) {
  const keys = mostFarReachingFirst(scopes);
  const far = keys.filter(isFarReaching).length;
  const shown = keys.length - 1 <= Math.max(far, FEW) ? keys.length : Math.max(far, FEW);
  /** @param {string} scope */
  const line = (scope) => {
    const text = scopeDescriptions[scopes.indexOf(scope)] ?? scope;
    const isAmbiguous = scopeDescriptions.filter((other) => other === text).length > 1;
    const reached = toolsInWords(scope, tools);
    return element('li', { class: kindOf(scope) }, [
      text !== scope && name(text, 'words'),
      (text === scope || isAmbiguous) && [text !== scope && ' ', literal(scope)],
      reached && aside(name(reached, 'words')),
    ]);
  };
  const rest = keys.slice(shown);
  return [
    element('ul', { role: 'list' }, keys.slice(0, shown).map(line)),
    rest.length > 0 &&
      element('details', {}, [
        element('summary', {}, counted(words.grant.more, rest.length)),
        element('ul', { role: 'list' }, rest.map(line)),
      ]),
  ];
}

/**
 * The tools that a permission reaches, in the words of their manifests: those of its own pattern, or those that the grant lists.
 * @param {string} scope
 * @param {ToolInWords[]} tools
 */
function toolsInWords(scope, tools) {
  const { connector, resource = '*' } = toolScope(scope) ?? {};
  const own = tools.filter((each) => each.connector === connector);
  const pattern = own.filter((each) => each.tool === resource);
  const said = pattern.length > 0 ? pattern : own;
  const reached = said.flatMap((each) => (each.covers.length > 0 ? each.covers : [each]));
  if (reached.length === 0) return undefined;
  const more = said.reduce((count, each) => count + each.more, 0);
  const names = reached.map(({ title, tool }) => {
    const isShared = reached.filter((other) => other.title === title).length > 1;
    return title === null || isShared ? tool : `“${title}”`;
  });
  const rest = more > 0 ? [counted(words.grant.moreTools, more)] : [];
  return fillText(words.grant.tools, { tools: new Intl.ListFormat(language).format([...names, ...rest]) });
}

/** @param {Grant} grant */
function renderStatus({ expiresAt, lastUsedAt }) {
  const { until, used, unused } = words.grant;
  const now = serviceTime();
  return [
    fill(until, { time: day(new Date(expiresAt), now) }),
    ' · ',
    lastUsedAt ? fill(used, { time: day(new Date(lastUsedAt), now) }) : unused,
  ];
}
