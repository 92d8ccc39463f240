/** @import { Shown } from './types.js' */

import { serviceTime } from '../../../../platform/page/call.js';
import { element, literal, mention, name, quotation } from '../../../../platform/page/dom.js';
import { fill, moment } from '../../../../platform/page/format.js';
import { clause, factList } from '../../../../platform/page/parts.js';
import { words } from './approve-words.js';

/**
 * The lines of canonical JSON, one member each. Nothing is left out, and each text stays on its line.
 * @param {string} canonical
 */
function linesOf(canonical) {
  return JSON.stringify(JSON.parse(canonical), null, 2).split('\n');
}

/**
 * The whole call as plain text, with every character that nobody would see spelled out.
 * @param {string[]} lines
 * @param {string} [kind]
 */
const text = (lines, kind = '') => lines.map((line) => element('div', { class: kind }, name(line, 'line')));

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
    clause(words.call, element('div', { class: 'call', id: 'call' }, text(linesOf(canonical)))),
    shown.previous && clause(words.difference, renderDifference(shown.previous, canonical)),
    clause(words.hash, element('code', { id: 'hash' }, hash.join(' '))),
  ];
}

/**
 * @param {string} before
 * @param {string} after
 */
function renderDifference(before, after) {
  const [old, now] = [linesOf(before), linesOf(after)];
  const gone = old.filter((line) => !now.includes(line));
  const added = now.filter((line) => !old.includes(line));
  if (gone.length + added.length === 0) return words.same;
  return element('div', { class: 'call' }, text(gone, 'was'), text(added, 'is'));
}
