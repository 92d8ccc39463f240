/** @import { Answer } from '../../../../platform/page/types.js' */
/** @import { Question } from './types.js' */
import { button, element, setContent } from '../../../../platform/page/dom.js';
import { words } from './permissions-words.js';

/** The second click of a double click must not answer the question. */
const ARMING_MILLISECONDS = 500;

/**
 * Asks the person, and then ends something, once at a time.
 * @param {HTMLElement} control
 * @param {() => Question} questionOf
 * @param {() => Promise<Answer<unknown>>} end
 * @param {string} [busy] the words on the control meanwhile
 * @returns {Promise<Answer<unknown> | undefined>} undefined when the person keeps it, or the end is under way
 */
export async function endAfterAsking(control, questionOf, end, busy = words.ending) {
  if (control.ariaDisabled === 'true' || !(await ask(questionOf()))) return undefined;
  const label = control.textContent;
  control.ariaDisabled = 'true';
  setContent(control, busy);
  const answer = await end();
  control.ariaDisabled = 'false';
  setContent(control, label);
  return answer;
}

/**
 * Asks in a dialog above the page. Escape keeps things as they are.
 * @param {Question} question
 * @returns {Promise<boolean>}
 */
function ask({ title, text, yes, no }) {
  const opened = Date.now();
  const dialog = element('dialog', { 'aria-labelledby': 'question', 'aria-describedby': 'consequence' });
  const agree = button(yes, () => Date.now() - opened >= ARMING_MILLISECONDS && dialog.close('yes'), {
    class: 'strong',
  });
  const keep = button(no, () => dialog.close(), { autofocus: true });
  dialog.append(
    element('h2', { id: 'question' }, title),
    element(
      'div',
      { id: 'consequence' },
      text.map((line) => line && element('p', {}, line)),
    ),
    element('p', { class: 'answers' }, keep, agree),
  );
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue === 'yes');
    });
  });
}
