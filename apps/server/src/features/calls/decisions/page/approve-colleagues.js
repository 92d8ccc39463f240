/** @import { Answer, Problem } from '../../../../platform/page/types.js' */
/** @import { approveApi } from './approve-api.js' */
/** @import { Colleague, Colleagues } from './types.js' */
import { serviceTime } from '../../../../platform/page/call.js';
import { button, element, literal, mention } from '../../../../platform/page/dom.js';
import { fill, moment } from '../../../../platform/page/format.js';
import { clause } from '../../../../platform/page/parts.js';
import { words } from './approve-words.js';

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
