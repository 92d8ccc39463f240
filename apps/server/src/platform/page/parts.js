/** @import { AgentProfile, NullableAgentProfile } from '@behest/protocol/shapes' */
/** @import { Child } from './types.js' */
import { button, element, paragraph, quotation, setContent } from './dom.js';
import { fillText } from './format.js';

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
  return element('section', attributes, paragraph(element('strong', {}, title, '.'), ' ', text), more);
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

/** The height of the bar with the buttons, which hides what is below it. */
const BAR = 96;

/**
 * Counts the rows whose end has not been on the screen yet. Its button leads to the first of them.
 * @param {string} rows a selector
 * @param {{ oneBelow: string, below: string }} words
 */
export function unseenRows(rows, words) {
  /** @type {Element[]} */
  let unseen = [];
  const showNext = () => unseen[0]?.scrollIntoView({ block: 'start' });
  const more = button('', showNext, { class: 'more' });
  more.hidden = true;

  function refresh() {
    if (!more.isConnected) return removeEventListener('scroll', refresh);
    unseen = unseen.filter((row) => row.getBoundingClientRect().bottom > innerHeight - BAR);
    more.hidden = unseen.length === 0;
    setContent(more, fillText(unseen.length === 1 ? words.oneBelow : words.below, { n: unseen.length }));
  }

  // Begins when the page is shown.
  requestAnimationFrame(() => {
    unseen = [...document.querySelectorAll(rows)];
    addEventListener('scroll', refresh, { passive: true });
    refresh();
  });
  return { button: more, showNext, count: () => unseen.length };
}
