/** @import { Answer, Problem } from '../../../../platform/page/types.js' */
/** @import { approveApi } from './approve-api.js' */
/** @import { Colleague, Colleagues, Enrolment, Opened, OwnPasskey } from './types.js' */
import { serviceTime } from '../../../../platform/page/call.js';
import { button, element, literal, mention, paragraph, setContent } from '../../../../platform/page/dom.js';
import { fill, moment } from '../../../../platform/page/format.js';
import { clause, factList, note } from '../../../../platform/page/parts.js';
import { makePasskey } from '../../../../platform/page/passkey.js';
import * as screen from '../../../../platform/page/screen.js';
import { signOnButton, troubleOf, words } from './approve-words.js';

const DAY_MS = 86_400_000;

/**
 * Shows who asks a person to decide about what, before they make a passkey.
 * @param {string} link
 * @param {Enrolment} enrolment
 * @param {{ api: ReturnType<typeof approveApi>, proceed: (opened: Opened) => unknown }} use
 */
export function showEnrolment(link, enrolment, { api, proceed }) {
  const { developerName, displayName, email, connectors, signInAt } = enrolment;
  screen.showBrand(developerName, enrolment.branding);
  const names = { account: mention(developerName), name: mention(displayName) };
  const outcome = element('div', { role: 'status' });
  const make = button(words.enrol, async () => {
    const answer = await makePasskey(
      async () => ({ ok: true, body: enrolment }),
      (made) => api.enrol({ invite: link, ...made }),
    );
    if (!answer.ok) return setContent(outcome, troubleOf(answer.problem));
    proceed(answer.body);
  });
  const heading = element('h1', { tabindex: '-1' }, fill(words.enrolTitle, names));
  const facts = factList([
    [words.address, literal(email)],
    [
      words.concerns,
      connectors ? connectors.map((connector) => [literal(connector), ' ']) : words.everything,
    ],
  ]);
  const lead = element('p', { class: 'lead' }, fill(words.enrolLead, names));
  const parts = [
    lead,
    facts,
    paragraph(words.enrolNote),
    signInAt && paragraph(words.enrolSignOn, ' ', signOnButton(signInAt)),
    element('div', { class: 'buttons' }, make),
    outcome,
  ];
  screen.show(element('article', {}, heading, parts), heading);
}

/**
 * The person's own passkeys, and their absence.
 * @param {Opened} opened
 * @param {{ passkeys: OwnPasskey[], deputies: Colleague[] }} of
 * @param {{
 *   api: ReturnType<typeof approveApi>,
 *   reload: () => unknown,
 *   fail: (problem: Problem, outcome: HTMLElement) => unknown,
 * }} use
 */
export function renderOwn({ approver }, { passkeys, deputies }, { api, reload, fail }) {
  const outcome = element('div', { role: 'status' });

  /** @param {Promise<Answer<unknown>>} asked */
  async function settle(asked) {
    const answer = await asked;
    if (answer.ok) reload();
    else fail(answer.problem, outcome);
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
      button(words.addPasskey, () => settle(makePasskey(api.beginPasskey, api.addPasskey))),
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
      const deputy = deputies.find(({ approverId }) => approverId === absence.deputyApproverId);
      const standIn = deputy && paragraph(fill(words.standIn, { name: mention(deputy.displayName) }));
      return element('div', {}, away, standIn, element('div', { class: 'buttons' }, end));
    }
    const day = element('input', { type: 'date', id: 'away' });
    const label = element('label', { for: day.id }, words.awayUntil, ' ', day);
    const { choice, chosen } = renderDeputies();
    const set = button(words.setAbsence, () => {
      const until = new Date(`${day.value}T24:00:00`).getTime(); // the end of the day where the person is
      const isGood = until > now.getTime() && until - now.getTime() <= 90 * DAY_MS;
      if (!isGood) return setContent(outcome, note(words.trouble, words.badDay));
      const times = { from: now.toISOString(), until: new Date(until).toISOString() };
      const deputyApproverId = chosen();
      return settle(api.setAbsence({ ...times, ...(deputyApproverId && { deputyApproverId }) }));
    });
    return element('div', {}, paragraph(label), choice, element('div', { class: 'buttons' }, set));
  }

  /** The people who may stand in, of whom the person chooses one or nobody. */
  function renderDeputies() {
    const choices = [{ approverId: '', name: words.nobody }, ...deputies.map(named)].map(
      ({ approverId, name }) => {
        const attributes = { type: 'radio', name: 'deputy', id: `deputy-${approverId}`, value: approverId };
        const box = element('input', { ...attributes, checked: approverId === '' });
        return { box, line: element('li', {}, element('label', { for: box.id }, box, ' ', name)) };
      },
    );
    const lines = element(
      'ul',
      { class: 'requests' },
      choices.map(({ line }) => line),
    );
    const legend = element('legend', {}, words.deputy);
    return {
      choice: deputies.length > 0 && element('fieldset', {}, legend, lines),
      chosen: () => choices.find(({ box }) => box.checked)?.box.value ?? '',
    };
  }
}

/** @param {Colleague} deputy */
const named = ({ approverId, displayName, email }) => ({
  approverId,
  name: [mention(displayName), ', ', literal(email)],
});

/**
 * The people whom the approver may confirm, and those whom the operator lets make a new passkey.
 * @param {Colleagues} of
 * @param {{
 *   api: ReturnType<typeof approveApi>,
 *   reload: () => unknown,
 *   fail: (problem: Problem) => unknown,
 * }} use
 */
export function renderColleagues({ colleagues, recoveries }, { api, reload, fail }) {
  /** @param {Promise<Answer<unknown>>} asked */
  async function settle(asked) {
    const answer = await asked;
    if (answer.ok) reload();
    else fail(answer.problem);
  }
  /** @param {Colleague} person */
  const namesOf = ({ displayName, email }) => ({ name: mention(displayName), email: literal(email) });

  const waiting = colleagues.map((person) => {
    const confirm = button(words.confirm, () => settle(api.confirm(person.approverId)));
    return element('li', {}, fill(words.colleague, namesOf(person)), ' ', confirm);
  });
  const returning = recoveries.map((person) => {
    const time = moment(new Date(person.recoveryFrom), serviceTime());
    const stop = button(words.stopRecovery, () => settle(api.stopRecovery(person.approverId)));
    return element('li', {}, fill(words.recovery, { ...namesOf(person), time }), ' ', stop);
  });
  return [
    returning.length > 0 && clause(words.recoveries, element('ul', {}, returning)),
    waiting.length > 0 && clause(words.colleagues, element('ul', {}, waiting)),
  ];
}
