/** @import { Answer, EmailUse, Problem } from './types.js' */
import { button, element, paragraph, setContent } from './consent-dom.js';
import { words } from './consent-words.js';

/**
 * Proof by a code that goes to the person's address: ask for it, type it in.
 * @param {EmailUse} use
 */
export function renderEmailStep({ sendCode, checkCode, proved, explain }) {
  const { email } = words;
  const status = element('p', { id: 'email-status', role: 'status' });
  const code = element('input', {
    id: 'email-code',
    inputmode: 'numeric',
    autocomplete: 'one-time-code',
    maxlength: '12',
    size: '10',
    'aria-describedby': status.id,
  });
  const send = button(email.send, () => once(sendCode, sent));
  const check = button(email.check, () => {
    const digits = code.value.replace(/\D/g, '');
    if (digits.length === 8) once(() => checkCode(digits), checked);
    else setContent(status, email.incomplete);
  });
  code.addEventListener('keydown', (event) => event.key === 'Enter' && check.click());
  const entry = paragraph(element('label', { for: code.id }, email.label), ' ', code, ' ', check);
  entry.hidden = true;
  let isWaiting = false;

  /**
   * @param {() => Promise<Answer<unknown>>} call
   * @param {(problem?: Problem) => string} conclude gives what to say
   */
  async function once(call, conclude) {
    if (isWaiting) return;
    isWaiting = true;
    setContent(status, email.waiting);
    const answer = await call();
    isWaiting = false;
    setContent(status, answer.ok ? conclude() : conclude(answer.problem));
  }

  /** @param {Problem} [problem] */
  function sent(problem) {
    if (problem) return problem.kind === 'refused' ? email.notSent : explain(problem);
    entry.hidden = false;
    setContent(send, email.sendAgain);
    code.focus();
    return email.sent;
  }

  /** @param {Problem} [problem] */
  function checked(problem) {
    if (problem) return problem.kind === 'refused' ? email.wrong : explain(problem);
    proved();
    return email.waiting;
  }

  return element('div', { class: 'step' }, paragraph(send), entry, status);
}
