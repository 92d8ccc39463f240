/** @import { Answer, Problem } from '../../../../platform/page/types.js' */
/** @import { approveApi } from './approve-api.js' */
/** @import { Opened, OwnPasskey } from './types.js' */
import { serviceTime } from '../../../../platform/page/call.js';
import { button, element, paragraph, setContent } from '../../../../platform/page/dom.js';
import { fill, moment } from '../../../../platform/page/format.js';
import { clause, note } from '../../../../platform/page/parts.js';
import { makePasskey } from '../../../../platform/page/passkey.js';
import { words } from './approve-words.js';

const DAY_MS = 86_400_000;

/**
 * The person's own passkeys, and their absence.
 * @param {Opened} opened
 * @param {OwnPasskey[]} passkeys
 * @param {{
 *   api: ReturnType<typeof approveApi>,
 *   reload: () => unknown,
 *   fail: (problem: Problem, outcome: HTMLElement) => unknown,
 * }} use
 */
export function renderOwn({ approver }, passkeys, { api, reload, fail }) {
  const outcome = element('div', { role: 'status' });

  /** @param {Promise<Answer<unknown>>} asked */
  async function settle(asked) {
    const answer = await asked;
    if (answer.ok) reload();
    else fail(answer.problem, outcome);
  }

  /** @returns {Promise<Answer<unknown>>} */
  async function add() {
    const begun = await api.beginPasskey();
    if (!begun.ok) return begun;
    const made = await makePasskey(begun.body.publicKey);
    if (!made.ok) return made;
    return api.addPasskey({ challengeId: begun.body.challengeId, response: made.body });
  }

  /** @param {string} time */
  const when = (time) => moment(new Date(time), serviceTime());
  const items = passkeys.map(({ id, status, createdAt, lastUsedAt }) => {
    const made = when(createdAt);
    const times = lastUsedAt
      ? fill(words.passkey, { made, used: when(lastUsedAt) })
      : fill(words.unusedPasskey, { made });
    const text = [times, status === 'suspect' && ` ${words.suspect}`];
    const told = element('span', { id: `passkey-${id}` }, text);
    const remove = button(words.removePasskey, () => settle(api.removePasskey(id)), {
      'aria-describedby': told.id,
    });
    return element('li', {}, told, ' ', remove);
  });
  const parts = [
    paragraph(words.ownLead),
    element('ul', { class: 'requests' }, items),
    element(
      'div',
      { class: 'buttons' },
      button(words.addPasskey, () => settle(add())),
    ),
    outcome,
  ];
  return [clause(words.own, element('div', {}, parts)), clause(words.absence, renderAbsence())];

  function renderAbsence() {
    const { absence } = approver;
    const now = serviceTime();
    if (absence && new Date(absence.until) > now) {
      const end = button(words.endAbsence, () => settle(api.endAbsence()));
      const away = paragraph(fill(words.away, { time: when(absence.until) }));
      return element('div', {}, away, element('div', { class: 'buttons' }, end));
    }
    const day = element('input', { type: 'date', id: 'away' });
    const label = element('label', { for: day.id }, words.awayUntil, ' ', day);
    const set = button(words.setAbsence, () => {
      const until = new Date(`${day.value}T24:00:00`).getTime(); // the end of the day where the person is
      const isGood = until > now.getTime() && until - now.getTime() <= 90 * DAY_MS;
      if (!isGood) return setContent(outcome, note(words.trouble, words.badDay));
      return settle(api.setAbsence({ from: now.toISOString(), until: new Date(until).toISOString() }));
    });
    return element('div', {}, paragraph(label), element('div', { class: 'buttons' }, set));
  }
}
