/** @import { Ask, Entry, Later, Use } from './types.js' */
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
import { fill, moment } from '../../../../platform/page/format.js';
import { factList } from '../../../../platform/page/parts.js';
import { words } from './permissions-words.js';

/**
 * A part of the page that reads its list when a person opens it, page by page.
 * @param {Later} later
 * @param {Use} use
 */
export function renderLater({ title, empty, ask }, { explain }) {
  const list = element('ul', { role: 'list' });
  const status = element('p', { class: 'aside', role: 'status' });
  const more = button(words.earlier, () => read().then((first) => first?.focus()));
  more.hidden = true;
  /** @type {string | null} */
  let cursor = null;
  let isReading = false;

  /** @returns {Promise<HTMLElement | undefined>} the first new line */
  async function read() {
    if (isReading) return undefined;
    isReading = true;
    setContent(status, words.reading);
    const answer = await ask(cursor);
    isReading = false;
    if (!answer.ok) {
      more.hidden = false;
      setContent(status, explain(answer.problem));
      return undefined;
    }
    const { rows, nextCursor } = answer.body;
    cursor = nextCursor;
    more.hidden = cursor === null;
    list.append(...rows);
    setContent(status, list.childElementCount === 0 && empty);
    return rows[0];
  }

  const part = element('details', {}, element('summary', {}, title), list, status, paragraph(more));
  part.addEventListener('toggle', () => {
    if (part.open && list.childElementCount === 0) read();
  });
  return part;
}

/**
 * The audit entries of one grant, or of all grants.
 * @param {Use} use
 * @param {string} [grantId]
 */
export function renderActivity(use, grantId) {
  /** @type {Ask} */
  async function ask(cursor) {
    const answer = await use.api.entries(cursor, grantId);
    if (!answer.ok) return answer;
    const { entries, nextCursor } = answer.body;
    return { ok: true, body: { rows: entries.map((entry) => renderEntry(entry, use)), nextCursor } };
  }
  const title = grantId ? words.grant.done : words.activity;
  return renderLater({ title, empty: words.nothingDone, ask }, use);
}

/**
 * @param {Entry} entry
 * @param {Use} use
 */
function renderEntry({ entryId, action, agentName, metadata, status, timestamp, hash }, { developerName }) {
  const sentence = sentenceOf(action, metadata) ?? (agentName === null ? '{action}' : words.entry.by);
  const values = {
    action: literal(action),
    agent: mention(agentName ?? words.grant.removedAgent),
    developer: mention(developerName),
  };
  const outcome = words.entry.status[status];
  const details = [
    ...Object.entries(metadata).map(([name, value]) => [literal(name), literal(textOf(value))]),
    [words.entry.record, literal(entryId)],
    [words.entry.hash, literal(hash)],
  ];
  return element('li', { class: 'entry', tabindex: '-1' }, [
    aside(moment(new Date(timestamp), serviceTime())),
    element('div', {}, [
      paragraph(fill(sentence, values), outcome && [' – ', element('strong', {}, outcome)]),
      element('details', {}, element('summary', {}, words.entry.details), factList(details)),
    ]),
  ]);
}

/**
 * The service's own sentence for its own acts. A developer may name an act like a member of a prototype.
 * @param {string} action
 * @param {Record<string, unknown>} metadata
 */
function sentenceOf(action, { revokedBy, method }) {
  if (action === 'grant.revoked' && revokedBy === 'principal') return words.endedByYou;
  if (action === 'principal.session_created' && method) return words.openedByYou;
  return Object.hasOwn(words.actions, action) ? words.actions[action] : undefined;
}

/** @param {unknown} value */
const textOf = (value) => (typeof value === 'string' ? value : JSON.stringify(value));
