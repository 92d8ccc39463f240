/** @import { Problem } from '../../../../platform/page/types.js' */
/** @import { approveApi } from './approve-api.js' */
/** @import { Routed, RoutedList } from './types.js' */
import { serviceTime } from '../../../../platform/page/call.js';
import { button, element, mention } from '../../../../platform/page/dom.js';
import { fill, moment } from '../../../../platform/page/format.js';
import { clause } from '../../../../platform/page/parts.js';
import { words } from './approve-words.js';

/**
 * The requests that wait no longer, newest first, and a button for those before.
 * @param {RoutedList} first
 * @param {{ api: ReturnType<typeof approveApi>, fail: (problem: Problem) => unknown }} use
 */
export function renderHistory(first, { api, fail }) {
  if (first.decisions.length === 0) return [];
  const list = element('ul', { class: 'requests', id: 'history' }, first.decisions.map(itemOf));
  let cursor = first.nextCursor;
  const more = button(words.more, async () => {
    const answer = await api.history(cursor ?? '');
    if (!answer.ok) return fail(answer.problem);
    const items = answer.body.decisions.map(itemOf);
    list.append(...items);
    cursor = answer.body.nextCursor;
    if (cursor === null) more.remove();
    items[0]?.focus();
  });
  return clause(words.history, [list, cursor !== null && element('div', { class: 'buttons' }, more)]);
}

/** @param {Routed} request */
function itemOf({ agentName, tool, connector, createdAt, status }) {
  const time = moment(new Date(createdAt), serviceTime());
  const names = { agent: mention(agentName), tool: mention(tool), connector: mention(connector), time };
  const end = words.over[/** @type {keyof typeof words.over} */ (status)] ?? words.over.other;
  return element('li', { tabindex: '-1' }, fill(words.was, names), ' ', end);
}
