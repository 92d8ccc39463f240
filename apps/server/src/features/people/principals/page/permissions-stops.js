/** @import { Stop, Use } from './types.js' */
import { serviceTime } from '../../../../platform/page/call.js';
import {
  aside,
  button,
  element,
  mention,
  name,
  paragraph,
  setContent,
} from '../../../../platform/page/dom.js';
import { fill, fillText, moment } from '../../../../platform/page/format.js';
import { factList } from '../../../../platform/page/parts.js';
import { endAfterAsking } from './permissions-question.js';
import { words } from './permissions-words.js';

/**
 * The agents that no identity provider may let act for the person again.
 * @param {Stop[]} stops
 * @param {Use} use
 * @param {(news: string) => void} reopen reads everything again, because a lifting lifts every stop of the agent
 */
export function renderStops(stops, use, reopen) {
  return element('section', { class: 'card', 'aria-labelledby': 'stops' }, [
    element('h2', { id: 'stops' }, words.stops.title),
    aside(fill(words.stops.lead, { developer: mention(use.developerName) })),
    stops.map((stop) => renderStop(stop, use, reopen)),
  ]);
}

/**
 * @param {Stop} stop
 * @param {Use} use
 * @param {(news: string) => void} reopen
 */
function renderStop({ id: stopId, agentName, by, createdAt }, use, reopen) {
  const { stops } = words;
  const id = `stop-${stopId}`;
  const agent = agentName ?? words.grant.removedAgent;
  const notice = element('div', { class: 'notice', role: 'alert' });
  const label = { 'aria-label': fillText(stops.liftOf, { agent }) };
  const liftButton = button(stops.lift, lift, label);
  const isOwn = by === 'principal';

  const question = () => ({
    title: fill(stops.question, { agent: mention(agent) }),
    text: [fill(stops.questionText, { developer: mention(use.developerName) })],
    yes: stops.yes,
    no: stops.no,
  });

  async function lift() {
    const answer = await endAfterAsking(liftButton, question, () => use.api.liftStop(stopId), stops.lifting);
    if (answer?.ok) reopen(fillText(stops.lifted, { agent }));
    else if (answer) setContent(notice, paragraph(use.explain(answer.problem)));
  }

  return element('div', { class: 'part', role: 'group', 'aria-labelledby': id }, [
    element(
      'div',
      { class: 'title' },
      element('h3', { id }, agentName ? name(agentName, 'words') : agent),
      isOwn && liftButton,
    ),
    factList([
      [stops.since, moment(new Date(createdAt), serviceTime())],
      [stops.by, isOwn ? stops.you : fill(stops.others, { developer: mention(use.developerName) })],
    ]),
    notice,
  ]);
}
