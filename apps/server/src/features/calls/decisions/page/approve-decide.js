/** @import { Problem } from '../../../../platform/page/types.js' */
/** @import { approveApi } from './approve-api.js' */
/** @import { Shown } from './types.js' */
import { button, element, paragraph, setContent } from '../../../../platform/page/dom.js';
import { unseenRows } from '../../../../platform/page/parts.js';
import { askForPasskey } from '../../../../platform/page/passkey.js';
import { words } from './approve-words.js';

/**
 * The bar with the two buttons. A call can be approved once every row of it was on the screen.
 * @param {Shown} shown
 * @param {{
 *   api: ReturnType<typeof approveApi>,
 *   settle: (title: string, text: string) => unknown,
 *   fail: (problem: Problem, outcome: HTMLElement) => unknown,
 * }} use
 */
export function renderDecision({ decisionId, actionHash }, { api, settle, fail }) {
  const outcome = element('div', { class: 'notice', role: 'alert' });
  const unseen = unseenRows('.rows > div, .gone', words.unseen);
  let isBusy = false;

  /** @param {() => Promise<unknown>} work */
  async function once(work) {
    if (isBusy) return;
    isBusy = true;
    await work();
    isBusy = false;
  }

  const approve = button(words.approve, () =>
    once(async () => {
      if (unseen.count() > 0) {
        setContent(outcome, paragraph(words.readFirst));
        return unseen.showNext();
      }
      const answer = await askForPasskey(
        () => api.beginApproval(decisionId),
        (assertion) => api.approve(decisionId, { actionHash, assertion }),
      );
      if (!answer.ok) return fail(answer.problem, outcome);
      const text = answer.body.status === 'approved' ? words.approvedText : words.firstText;
      settle(words.approvedTitle, text);
    }),
  );
  const deny = button(words.deny, () =>
    once(async () => {
      const answer = await api.deny(decisionId);
      if (!answer.ok) return fail(answer.problem, outcome);
      settle(words.deniedTitle, words.deniedText);
    }),
  );
  return {
    content: element(
      'div',
      { class: 'bar' },
      outcome,
      unseen.button,
      element('div', { class: 'decide' }, deny, approve),
    ),
    isBusy: () => isBusy,
  };
}
