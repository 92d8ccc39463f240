/** @import { Shown } from './types.js' */

import { serviceTime } from '../../../../platform/page/call.js';
import { element, literal, mention, name, quotation } from '../../../../platform/page/dom.js';
import { fill, moment } from '../../../../platform/page/format.js';
import { clause, factList } from '../../../../platform/page/parts.js';
import { compareLines, linesOf } from './approve-lines.js';
import { words } from './approve-words.js';

/**
 * A line of a call as plain text, with every character that nobody would see spelled out.
 * @param {string} line
 * @param {'div' | 'del' | 'ins'} [kind]
 */
const text = (line, kind = 'div') => element(kind, {}, name(line, 'line'));

/**
 * The facts of a call, before a person decides.
 * @param {Shown} shown
 */
export function renderCall(shown) {
  const { agentName, developerName, principalId, tool, connector, permission, purpose } = shown;
  const { caseId, caseVersion, quorum, firstApprover, expiresAt, summary, canonical, actionHash } = shown;
  const caseText = { case: mention(caseId ?? ''), version: mention(caseVersion ?? '–') };
  const facts = [
    [words.agent, name(agentName)],
    [words.account, name(developerName)],
    [words.principal, name(principalId)],
    [words.tool, fill(words.toolOf, { tool: name(tool), connector: name(connector), permission })],
    purpose && [words.purpose, literal(purpose)],
    caseId && [words.case, fill(words.caseOf, caseText)],
    [words.quorum, quorum === 2 ? words.two : words.one],
    firstApprover && [words.first, name(firstApprover)],
    [words.ends, moment(new Date(expiresAt), serviceTime())],
  ];
  const hash = actionHash.replace('sha256:', '').match(/.{1,4}/g) ?? [];
  return [
    factList(facts),
    summary && clause(words.summary, quotation(summary)),
    clause(
      words.call,
      element(
        'div',
        { class: 'call', id: 'call' },
        linesOf(canonical).map((line) => text(line)),
      ),
    ),
    shown.previous && clause(words.difference, renderDifference(shown.previous, canonical)),
    clause(words.hash, element('code', { id: 'hash' }, hash.join(' '))),
  ];
}

/** The lines that are shown around each difference. */
const AROUND = 3;

/**
 * Only equal texts are the same call. A set of lines would not tell a sender from a recipient.
 * @param {string} before
 * @param {string} after
 */
function renderDifference(before, after) {
  if (before === after) return words.same;
  const compared = compareLines(linesOf(before), linesOf(after));
  const isNear = compared.map((_, at) =>
    compared.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(({ kind }) => kind),
  );
  const lines = compared.map(({ line, kind }, at) =>
    isNear[at] ? text(line, kind) : (at === 0 || isNear[at - 1]) && text('…'),
  );
  return element('div', { class: 'call', id: 'difference' }, lines);
}
