/** @import { Child } from '../../../../platform/page/types.js' */
/** @import { Choices, ConsentRequest, DiffItem } from './types.js' */
import { aside, button, element, paragraph, quotation } from '../../../../platform/page/dom.js';
import { counted, fill, moment } from '../../../../platform/page/format.js';
import { words as said } from './consent-difference-words.js';

/** So many changes are shown at once. The reader opens the rest. */
const SHOWN_CHANGES = 3;

/**
 * The difference between the request and the person's last consent. It selects nothing by itself.
 * Only where the person is proved is there a last consent.
 * @param {ConsentRequest} request
 * @param {{ choices: Choices, now: () => Date, refresh: () => void }} use
 */
export function renderDifference(request, { choices, now, refresh }) {
  const { previous, diff, replacesGrantId } = request;
  if (!previous || !diff) return undefined;
  const isLast = replacesGrantId === previous?.grantId;
  const ends = replacesGrantId ? ` ${isLast ? said.replacesIt : said.replaces}` : '';
  const changes = diff.items.filter(({ change }) => change !== 'same');
  const { status, issuedAt, otherActive } = previous;
  const others = otherActive > 0 && counted(said.others, otherActive);
  const verdict = fill(said.verdict[diff.verdict], { time: moment(new Date(issuedAt), now()) });
  return element('section', { class: 'difference card', 'aria-label': said.title }, [
    paragraph(element('strong', {}, verdict), ends),
    changes.length > 0 && renderItems(changes.slice(0, SHOWN_CHANGES)),
    element(
      'details',
      {},
      element('summary', {}, said.compare),
      aside(said.since[status], others && ` ${others}`),
      renderItems([...changes.slice(SHOWN_CHANGES), ...diff.items.filter(({ change }) => change === 'same')]),
    ),
    renderKeep(request, { choices, refresh }),
  ]);
}

/** @param {DiffItem[]} items */
const renderItems = (items) => element('ul', { role: 'list' }, items.map(renderItem));

/** @param {DiffItem} item */
function renderItem({ change, dimension, before, after, text }) {
  const isAgents = dimension === 'agent' || dimension === 'words'; // so the sentence has no text of theirs
  return element(
    'li',
    { class: change },
    paragraph(element('strong', {}, `${said.marks[change]} ${said.changes[change]}`), ' ', text),
    isAgents && before && [aside(said.before), quotation(before)],
    isAgents && after && [aside(said.now), quotation(after)],
  );
}

/**
 * The button that selects the part of the request to which the person has agreed before.
 * @param {ConsentRequest} request
 * @param {{ choices: Choices, refresh: () => void }} use
 * @returns {Child}
 */
function renderKeep({ diff, scopes }, { choices, refresh }) {
  const further = (diff?.items ?? []).filter(({ change }) => change === 'new' || change === 'wider');
  const beyond = further.flatMap(({ dimension, key }) => (dimension === 'scope' && key ? [key] : []));
  const tools = further.filter(({ dimension, key }) => dimension === 'tools' && key);
  const lifetime = further.find(({ dimension }) => dimension === 'lifetime')?.before;
  const isWhole = beyond.length + tools.length === 0 && !lifetime;
  if (isWhole || beyond.length === scopes.length) return undefined;
  return paragraph(
    button(said.keep, () => {
      for (const scope of beyond) choices.removedScopes.add(scope);
      for (const { connector = '', key = '' } of tools) {
        const removed = choices.removedTools.get(connector) ?? new Set();
        choices.removedTools.set(connector, removed.add(key));
      }
      if (lifetime) choices.expiresIn = lifetime;
      refresh();
    }),
  );
}
