/** @import { AgentProfile, NullableAgentProfile } from '@behest/protocol/shapes' */
/** @import { Child, Forms } from './types.js' */
import { button, element, paragraph, quotation, setContent } from './dom.js';
import { counted, fillText } from './format.js';
import { words as shared } from './words.js';

let clauseCount = 0;

/**
 * A part of a page under its heading.
 * @param {string} title
 * @param {Child} content
 */
export function clause(title, content) {
  clauseCount += 1;
  const id = `clause-${clauseCount}`;
  const heading = element('h2', { id }, title);
  return element('section', { class: 'clause', 'aria-labelledby': id }, heading, element('div', {}, content));
}

/**
 * A note that nobody may overlook.
 * @param {string} title
 * @param {Child} text
 * @param {Child} [more]
 */
export function note(title, text, more) {
  const attributes = { class: 'note', 'aria-label': title };
  return element(
    'section',
    attributes,
    paragraph(element('strong', {}, fillText(shared.noteTitle, { title })), ' ', text),
    more,
  );
}

/** @param {Child[]} rows pairs of a term and its text, or nothing */
export function factList(rows) {
  const pairs = rows.filter(Array.isArray).map(([term, value]) => {
    return element('div', {}, element('dt', {}, term), element('dd', {}, value));
  });
  return element('dl', {}, pairs);
}

/**
 * How each text that an agent gives about itself is drawn.
 * @type {Record<Exclude<keyof AgentProfile, 'agentName' | 'agentDid'>, (text: string) => HTMLElement>}
 */
const ownTexts = { agentDescription: quotation };

/**
 * The texts that an agent gives about itself.
 * @param {NullableAgentProfile} agent
 */
export function ownWords(agent) {
  const members = /** @type {(keyof typeof ownTexts)[]} */ (Object.keys(ownTexts));
  return members.flatMap((member) => {
    const text = agent[member];
    return text ? [ownTexts[member](text)] : [];
  });
}

/**
 * Counts the rows whose end has not been on the screen above the bar yet. Its button leads to the first of them. Rows that
 * a closed part hides do not count.
 * @param {string} rows a selector
 * @param {Forms} forms
 */
export function unseenRows(rows, forms) {
  /** @type {Element[] | undefined} */
  let unseen;
  const shown = () => (unseen ?? []).filter((row) => row.getClientRects().length > 0);
  const showNext = () => shown()[0]?.scrollIntoView({ block: 'start' });
  const more = button('', showNext, { class: 'more' });
  more.hidden = true;

  const watch = new AbortController();

  function refresh() {
    if (!unseen) return;
    if (!more.isConnected) return watch.abort(); // another view is shown
    const end = more.closest('.bar')?.getBoundingClientRect().top ?? innerHeight;
    unseen = unseen.filter((row) => {
      const { bottom, height } = row.getBoundingClientRect();
      return height === 0 || bottom < 0 || bottom > end;
    });
    const count = shown().length;
    more.hidden = count === 0;
    setContent(more, counted(forms, count));
  }

  // Begins when the page is shown.
  requestAnimationFrame(() => {
    unseen = [...document.querySelectorAll(rows)];
    refresh();
  });
  for (const event of ['scroll', 'resize', 'toggle']) {
    addEventListener(event, () => requestAnimationFrame(refresh), {
      passive: true,
      capture: true,
      signal: watch.signal,
    });
  }
  return { button: more, showNext, count: () => (unseen ? shown().length : Number.POSITIVE_INFINITY) };
}
