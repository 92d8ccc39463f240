/** @import { Address, Passkey, Use } from './types.js' */
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
import { factList, note } from '../../../../platform/page/parts.js';
import { endAfterAsking } from './permissions-question.js';
import { words } from './permissions-words.js';

/**
 * The passkeys with which the person proves who they are.
 * @param {Passkey[]} passkeys
 * @param {Use} use
 */
export function renderPasskeys(passkeys, use) {
  return element('section', { class: 'card', 'aria-labelledby': 'passkeys' }, [
    element('h2', { id: 'passkeys' }, words.passkeys.title),
    aside(fill(words.passkeys.lead, { developer: mention(use.developerName) })),
    passkeys.map((passkey) => renderPasskey(passkey, use)),
  ]);
}

/**
 * @param {Passkey} passkey
 * @param {Use} use
 */
function renderPasskey({ id: passkeyId, deviceName, status, createdAt, lastUsedAt }, use) {
  const { passkeys } = words;
  const id = `passkey-${passkeyId}`;
  const device = deviceName ?? passkeys.unnamed;
  const heading = element('h3', { id, tabindex: '-1' }, name(device, 'words'));
  const notice = element('div', { class: 'notice', role: 'alert' });
  const label = { 'aria-label': fillText(passkeys.removeOf, { device }) };
  const removeButton = button(passkeys.remove, remove, label);
  /** @param {string} time */
  const when = (time) => moment(new Date(time), serviceTime());
  const part = element('div', { class: 'part', role: 'group', 'aria-labelledby': id }, [
    element('div', { class: 'title' }, heading, removeButton),
    status === 'suspect' && note(passkeys.suspect, passkeys.suspectText),
    factList([
      [passkeys.since, when(createdAt)],
      [words.grant.lastUsed, lastUsedAt ? when(lastUsedAt) : words.grant.never],
    ]),
    notice,
  ]);

  const question = () => ({
    title: fill(passkeys.question, { device: mention(device) }),
    text: [fill(passkeys.questionText, { developer: mention(use.developerName) })],
    yes: passkeys.yes,
    no: words.question.no,
  });

  async function remove() {
    const answer = await endAfterAsking(removeButton, question, () => use.api.removePasskey(passkeyId));
    if (!answer) return;
    if (!answer.ok) return setContent(notice, paragraph(use.explain(answer.problem)));
    setContent(part, heading, paragraph(passkeys.removed));
    heading.focus();
  }

  return part;
}

/**
 * The address to which a link to this page is mailed.
 * @param {Address} address
 * @param {Use} use
 */
export function renderAddress({ provedAt, usableUntil }, use) {
  const { address } = words;
  const heading = element('h2', { id: 'address', tabindex: '-1' }, address.title);
  const notice = element('div', { class: 'notice', role: 'alert' });
  const removeButton = button(address.remove, remove);
  /** @param {string} time */
  const when = (time) => moment(new Date(time), serviceTime());
  const part = element('section', { class: 'card', 'aria-labelledby': 'address' }, [
    element('div', { class: 'title' }, heading, removeButton),
    aside(address.lead),
    factList([
      [address.since, when(provedAt)],
      [address.until, when(usableUntil)],
    ]),
    notice,
  ]);

  const question = () => ({
    title: address.question,
    text: [address.questionText],
    yes: address.yes,
    no: words.question.no,
  });

  async function remove() {
    const answer = await endAfterAsking(removeButton, question, () => use.api.removeAddress());
    if (!answer) return;
    if (!answer.ok) return setContent(notice, paragraph(use.explain(answer.problem)));
    setContent(part, heading, paragraph(address.removed));
    heading.focus();
  }

  return part;
}
