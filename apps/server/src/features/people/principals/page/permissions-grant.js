/** @import { Branch, Grant, Use } from './types.js' */
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
import { fill, fillText, moment } from '../../../../platform/page/format.js';
import { limitLines, toolOf } from '../../../../platform/page/limits.js';
import { factList, ownWords } from '../../../../platform/page/parts.js';
import { renderActivity } from './permissions-list.js';
import { endAfterAsking } from './permissions-question.js';
import { words } from './permissions-words.js';

/** The page shows no more than this number of delegated grants at once. */
const FEW_BRANCHES = 3;

/**
 * Puts each grant below the grant that it was delegated from, oldest first.
 * @param {Grant[]} grants
 * @returns {Branch[]}
 */
export function treesOf(grants) {
  const branches = new Map(grants.map((grant) => [grant.grantId, branchOf(grant)]));
  return [...branches.values()].filter((branch) => {
    const parent = branches.get(branch.grant.parentGrantId ?? '');
    parent?.branches.unshift(branch);
    return !parent;
  });
}

/** @type {(grant: Grant) => Branch} */
const branchOf = (grant) => ({ grant, branches: [] });

/** @type {(branch: Branch) => number} */
const countBelow = ({ branches }) => branches.reduce((count, branch) => count + 1 + countBelow(branch), 0);

/** @param {Grant} grant */
export const agentOf = ({ agentName }) => mention(agentName ?? words.grant.removedAgent);

/**
 * One grant, with the grants delegated from it.
 * @param {Branch} branch
 * @param {Use} use
 * @param {Branch[]} [siblings] the remaining grants beside a delegated grant
 * @returns {HTMLElement}
 */
export function renderGrant(branch, use, siblings) {
  const { grant, branches } = branch;
  const { grantId, agentName, unverified } = grant;
  const id = `agent-${grantId}`;
  const heading = element(
    siblings ? 'h3' : 'h2',
    { id, tabindex: '-1' },
    name(agentName ?? words.grant.removedAgent),
  );
  const notice = element('div', { class: 'notice', role: 'alert' });
  const endButton = button(words.grant.end, end, {
    'aria-label': fillText(words.grant.endOf, { agent: agentName ?? words.grant.removedAgent }),
  });
  /** @type {HTMLElement} */
  const part = element(siblings ? 'div' : 'section', { class: 'grant', 'aria-labelledby': id }, [
    heading,
    ownWords(grant),
    unverified && aside(element('strong', {}, words.grant.unverified)),
    renderTerms(grant, use),
    notice,
    paragraph(endButton),
    renderActivity(use, grantId),
    branches.length > 0 &&
      element('details', { open: countBelow(branch) <= FEW_BRANCHES }, [
        element('summary', {}, words.grant.passedOn),
        element(
          'ul',
          { role: 'list' },
          branches.map((below) => element('li', {}, renderGrant(below, use, branches))),
        ),
      ]),
  ]);

  /** Counts the delegated grants that remain. */
  const question = () => ({
    title: fill(words.question.end, { agent: agentOf(grant) }),
    text: [
      words.question.endText,
      countBelow(branch) > 0 && fillText(words.question.branches, { count: countBelow(branch) }),
    ],
    yes: words.question.yes,
    no: words.question.no,
  });

  async function end() {
    const answer = await endAfterAsking(endButton, question, () => use.api.end(grantId));
    if (!answer) return;
    if (!answer.ok) return setContent(notice, paragraph(use.explain(answer.problem)));
    siblings?.splice(siblings.indexOf(branch), 1);
    const sentence = countBelow(branch) > 0 ? words.grant.endedBranches : words.grant.endedNow;
    setContent(part, heading, paragraph(fill(sentence, { agent: agentOf(grant) })));
    heading.focus();
  }

  return part;
}

/**
 * The permissions of a grant, with its purpose and its times.
 * @param {Grant} grant
 * @param {Use} use
 */
export function renderTerms(grant, { developerName }) {
  const { scopes, scopeDescriptions, purpose, purposeLabel, audience, agentDid, argumentLimits = [] } = grant;
  const { issuedAt, expiresAt, lastUsedAt, revokedAt, revokedReason } = grant;
  /** @param {string} time */
  const when = (time) => moment(new Date(time), serviceTime());
  const lines = scopes.map((scope, at) => {
    const description = scopeDescriptions[at] ?? scope;
    return element('li', {}, [
      description !== scope && [name(description, 'words'), element('br', {})],
      literal(scope),
    ]);
  });
  const reason = grant.status === 'expired' ? 'expired' : (revokedReason ?? '');
  const byWhom = fill(words.reasons[reason] ?? words.otherReason, { developer: mention(developerName) });
  return factList([
    [words.grant.may, element('ul', { role: 'list' }, lines)],
    argumentLimits.length > 0 && [
      words.grant.limits,
      argumentLimits.map((limits) =>
        element('div', { class: 'limits' }, paragraph(toolOf(limits)), limitLines(limits)),
      ),
    ],
    purpose && [words.grant.purpose, [name(purposeLabel ?? purpose), ' ', literal(purpose)]],
    audience && [words.grant.audience, literal(audience)],
    [words.grant.issued, when(issuedAt)],
    grant.status === 'active'
      ? [words.grant.expires, when(expiresAt)]
      : [words.grant.ended, [when(revokedAt ?? expiresAt), ', ', byWhom]],
    [words.grant.lastUsed, lastUsedAt ? when(lastUsedAt) : words.grant.unused],
    agentDid && [words.grant.did, literal(agentDid)],
  ]);
}
