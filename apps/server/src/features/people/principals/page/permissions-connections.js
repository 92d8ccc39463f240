/** @import { Connection, Use } from './types.js' */
import { serviceTime } from '../../../../platform/page/call.js';
import {
  aside,
  button,
  element,
  literal,
  mention,
  name,
  paragraph,
  setContent,
} from '../../../../platform/page/dom.js';
import { fill, fillText, moment } from '../../../../platform/page/format.js';
import { factList, note } from '../../../../platform/page/parts.js';
import { endAfterAsking } from './permissions-question.js';
import { words } from './permissions-words.js';

/**
 * The accounts elsewhere that the person has connected.
 * @param {Connection[]} connections
 * @param {Use} use
 */
export function renderConnections(connections, use) {
  return element('section', { class: 'card', 'aria-labelledby': 'connections' }, [
    element('h2', { id: 'connections' }, words.connections.title),
    aside(fill(words.connections.lead, { developer: mention(use.developerName) })),
    connections.map((connection) => renderConnection(connection, use)),
  ]);
}

/**
 * @param {Connection} connection
 * @param {Use} use
 */
function renderConnection(connection, use) {
  const { id: connectionId, service, providerName, account, status } = connection;
  const id = `connection-${connectionId}`;
  const isOver = status === 'reauthorization_required';
  const heading = element('h3', { id, tabindex: '-1' }, name(providerName));
  const notice = element('div', { class: 'notice', role: 'alert' });
  const provider = mention(providerName);
  /** @type {(sentence: string) => { 'aria-label': string }} */
  const label = (sentence) => ({ 'aria-label': fillText(sentence, { provider: providerName }) });
  const endButton = button(words.connections.end, end, label(words.connections.endOf));
  const againButton = isOver && button(words.connections.again, again, label(words.connections.againOf));
  const part = element('div', { class: 'part', role: 'group', 'aria-labelledby': id }, [
    element('div', { class: 'title' }, heading, endButton),
    isOver && note(words.connections.over, words.connections.overText),
    renderFacts(connection),
    notice,
    againButton && element('p', { class: 'buttons' }, againButton),
  ]);

  const question = () => ({
    title: fill(words.connections.question, { provider }),
    text: [
      account ? fill(words.connections.account, { account: mention(account.label ?? account.id) }) : null,
      fill(words.connections.questionText, { provider, developer: mention(use.developerName) }),
    ],
    yes: words.connections.yes,
    no: words.question.no,
  });

  async function end() {
    const answer = await endAfterAsking(endButton, question, () => use.api.disconnect(connectionId));
    if (!answer) return;
    if (!answer.ok) return setContent(notice, paragraph(use.explain(answer.problem)));
    setContent(part, heading, paragraph(fill(words.connections.ended, { provider })));
    heading.focus();
  }

  async function again() {
    const answer = await use.api.connectAgain(service);
    if (answer.ok) location.assign(answer.body.connectUrl);
    else setContent(notice, paragraph(use.explain(answer.problem)));
  }

  return part;
}

/** @param {Connection} connection */
function renderFacts({ account, scopesGranted, connectedAt, lastExchangedAt }) {
  /** @param {string} time */
  const when = (time) => moment(new Date(time), serviceTime());
  const label = account && (account.label ?? account.id);
  const scopes = scopesGranted.map((scope) => element('li', {}, literal(scope)));
  return factList([
    [words.connections.accountTerm, label ? name(label, 'words') : words.connections.noAccount],
    scopes.length > 0 && [words.connections.granted, element('ul', { role: 'list' }, scopes)],
    [words.connections.since, when(connectedAt)],
    [words.grant.lastUsed, lastExchangedAt ? when(lastExchangedAt) : words.grant.never],
  ]);
}
