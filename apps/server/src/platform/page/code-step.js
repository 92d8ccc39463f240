/** @import { Answer, CodeUse } from './types.js' */
import { button, element, paragraph, setContent } from './dom.js';

/**
 * The step in which a person asks for a mailed code and types it.
 * @param {CodeUse} use
 */
export function renderCodeStep({ words: email, sendCode, checkCode, proved, explain }) {
  const status = element('p', { id: 'email-status', role: 'status' });
  const code = element('input', {
    id: 'email-code',
    inputmode: 'numeric',
    autocomplete: 'one-time-code',
    size: '10',
    'aria-describedby': status.id,
  });
  const send = button(email.send, () => once(sendCode, email.notSent, askForCode));
  const check = button(email.check, () => {
    const digits = code.value.replace(/\D/g, '');
    if (digits.length === 8) once(() => checkCode(digits), email.wrong, proved);
    else setContent(status, email.incomplete);
  });
  code.addEventListener('keydown', (event) => event.key === 'Enter' && check.click());
  const entry = paragraph(element('label', { for: code.id }, email.label), ' ', code, ' ', check);
  entry.hidden = true;
  let isWaiting = false;

  /**
   * @param {() => Promise<Answer<unknown>>} call
   * @param {string} refusal
   * @param {() => void} proceed
   */
  async function once(call, refusal, proceed) {
    if (isWaiting) return;
    isWaiting = true;
    setContent(status, email.waiting);
    const answer = await call();
    isWaiting = false;
    if (answer.ok) proceed();
    else setContent(status, answer.problem.kind === 'refused' ? refusal : explain(answer.problem));
  }

  function askForCode() {
    entry.hidden = false;
    setContent(send, email.sendAgain);
    setContent(status, email.sent);
    code.focus();
  }

  return element('div', { class: 'step' }, paragraph(send), entry, status);
}
