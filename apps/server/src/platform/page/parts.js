/** @import { AgentProfile, NullableAgentProfile } from '@behest/protocol/shapes' */
/** @import { Child } from './types.js' */
import { element, paragraph, quotation } from './dom.js';

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
