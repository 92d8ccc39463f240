/** @import { Problem } from '../../../../platform/page/types.js' */
/** @import { approveApi } from './approve-api.js' */
/** @import { Shown } from './types.js' */
import { button, element, paragraph, setContent } from '../../../../platform/page/dom.js';
import { note } from '../../../../platform/page/parts.js';
import { askForPasskey } from '../../../../platform/page/passkey.js';
import { words } from './approve-words.js';

/**
 * The box and the buttons below the last line of the call.
 * @param {Shown} shown
 * @param {{
 *   api: ReturnType<typeof approveApi>,
 *   settle: (title: string, text: string) => unknown,
 *   fail: (problem: Problem, outcome: HTMLElement) => unknown,
 * }} use
 */
export function renderDecision({ decisionId, actionHash }, { api, settle, fail }) {
  const outcome = element('div', { role: 'status' });
  const box = element('input', { type: 'checkbox', id: 'read' });
  const label = element('label', { for: box.id }, box, ' ', words.read);
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
      if (!box.checked) return setContent(outcome, note(words.trouble, words.readFirst));
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
  const buttons = element('div', { class: 'buttons' }, approve, deny);
  return {
    content: element('div', { class: 'decide' }, paragraph(label), buttons, outcome),
    isBusy: () => isBusy,
  };
}
