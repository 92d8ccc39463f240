/** @import { Answer, Problem, Refusal } from '../../../../platform/page/types.js' */
import { call, passkeyProblem } from '../../../../platform/page/call.js';
import { aside, button, element, paragraph, setContent } from '../../../../platform/page/dom.js';
import { duration, fillText } from '../../../../platform/page/format.js';
import { askForPasskey } from '../../../../platform/page/passkey.js';
import * as screen from '../../../../platform/page/screen.js';
import { words } from './permissions-words.js';

const AT = '/v1/principal/sign-in';
const { signIn } = words;

/** @type {(path: string, body: object) => Promise<Answer<any>>} */
const ask = (path, body) => call(`${AT}/${path}`, { body, read });

/**
 * Shows how a person who comes without a session shows who they are.
 * @param {{ link: string, proceed: (token: string) => void }} use `link` is what a mailed link brought, or empty
 */
export function showSignIn({ link, proceed }) {
  if (link === '') showWays(proceed, {});
  else showLink(link, proceed);
}

/**
 * Only the press of the button uses the link up: programs open mailed links ahead of people.
 * @param {string} link
 * @param {(token: string) => void} proceed
 */
function showLink(link, proceed) {
  const outcome = element('div', { role: 'status' });
  const go = once(signIn.open, outcome, async () => {
    const answer = await ask('link', { token: link });
    if (answer.ok) return proceed(answer.body.sessionToken);
    if (answer.problem.kind === 'over') showWays(proceed, { link, news: signIn.over });
    else explain(answer.problem, outcome);
  });
  const lead = element('p', { class: 'lead' }, signIn.mailed);
  screen.showArticle(signIn.headingMailed, lead, element('div', { class: 'buttons' }, go), outcome);
}

/**
 * @param {(token: string) => void} proceed
 * @param {{ link?: string, news?: string }} came with a link that is over, by which the person still asks for the next one
 */
function showWays(proceed, { link, news }) {
  const outcome = element('div', { role: 'status' }, news && paragraph(element('strong', {}, news)));
  const byPasskey = once(signIn.passkey, outcome, async () => {
    const answer = await askForPasskey(
      () => ask('passkey', {}),
      (given) => ask('passkey/verify', given),
    );
    if (answer.ok) proceed(answer.body.sessionToken);
    else explain(answer.problem, outcome);
  });
  const email = element('input', {
    id: 'email',
    type: 'email',
    inputmode: 'email',
    autocomplete: 'email',
    maxlength: '254',
  });
  const send = once(signIn.send, outcome, async () => {
    if (!email.value.includes('@')) return setContent(outcome, paragraph(signIn.incomplete));
    const answer = await ask('mail', { email: email.value, link });
    if (answer.ok) setContent(outcome, paragraph(signIn.sent), aside(signIn.whichAddress));
    else explain(answer.problem, outcome);
  });
  email.addEventListener('keydown', (event) => event.key === 'Enter' && send.click());
  screen.showArticle(
    signIn.heading,
    element('p', { class: 'lead' }, signIn.lead),
    element('div', { class: 'buttons' }, byPasskey),
    element('div', { class: 'lead ask' }, element('label', { for: email.id }, signIn.address), email, send),
    outcome,
  );
}

/**
 * A button that does one thing at a time.
 * @param {string} label
 * @param {HTMLElement} outcome
 * @param {() => Promise<void>} act
 */
function once(label, outcome, act) {
  let isBusy = false;
  return button(label, async () => {
    if (isBusy) return;
    isBusy = true;
    setContent(outcome, paragraph(words.reading));
    await act();
    isBusy = false;
  });
}

/**
 * @param {Problem} problem
 * @param {HTMLElement} outcome
 */
function explain({ kind, seconds = 0, signInAt = '' }, outcome) {
  const { problems } = signIn;
  const text = kind in problems ? problems[/** @type {keyof typeof problems} */ (kind)] : problems.away;
  const sentence = paragraph(fillText(text, { duration: duration(seconds) }));
  const isOwn = kind === 'sso' && new URL(signInAt, location.href).origin === location.origin;
  const href = `${signInAt}&mode=redirect&return_to=${encodeURIComponent('/permissions')}`;
  setContent(outcome, sentence, isOwn && paragraph(element('a', { href }, signIn.organisation)));
}

/** @type {(refusal: Refusal) => Problem} */
function read({ status, code = '', details }) {
  if (code === 'NOT_CONFIGURED') return { kind: 'unknown' }; // no mail server
  const passkey = passkeyProblem(code);
  if (passkey) return { kind: passkey };
  if (code === 'TOKEN_EXPIRED') return { kind: 'over' };
  if (code === 'SSO_REQUIRED') return { kind: 'sso', signInAt: details?.loginUrl ?? '' };
  if (code === 'CONFLICT') return { kind: 'passkeyUnable' };
  return { kind: status === 400 ? 'refused' : 'away' };
}
