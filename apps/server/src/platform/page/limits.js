/** @import { ArgumentLimits, Child } from './types.js' */
import { element, literal, name, paragraph } from './dom.js';
import { fill } from './format.js';
import { words } from './words.js';

/**
 * The tool that some limits are for, in the middle of a sentence.
 * @param {{ connector: string, tool: string }} limits
 */
export function toolOf({ connector, tool }) {
  return fill(words.limits.onlyIf, {
    tool: element('span', {}, literal(tool), ' (', literal(connector), ')'),
  });
}

/**
 * The limits on what an agent may pass to a tool.
 * @param {ArgumentLimits} limits
 * @param {(at: number) => Child} [more] stands below a line
 * @returns {Child[]}
 */
export function limitLines({ open, lines }, more = () => undefined) {
  const { argument, nothingElse, anythingElse } = words.limits;
  const items = lines.map(({ path, text }, at) =>
    element('li', {}, fill(argument, { path: name(path), text: name(text, 'words') }), more(at)),
  );
  return [
    element('ul', { role: 'list' }, items),
    paragraph(open ? element('strong', {}, anythingElse) : nothingElse),
  ];
}
