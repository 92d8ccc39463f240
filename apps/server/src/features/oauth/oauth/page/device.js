/** @import { Problem, Refusal } from '../../../../platform/page/types.js' */
import { call, uiLocales } from '../../../../platform/page/call.js';
import { element, literal, paragraph, setContent } from '../../../../platform/page/dom.js';
import { duration, fill, fillText } from '../../../../platform/page/format.js';
import { note } from '../../../../platform/page/parts.js';
import * as screen from '../../../../platform/page/screen.js';
import { words } from './device-words.js';

/** The service sends a browser to a page of its own, or to the application that signs the person in. */
const SAFE_TARGET = /^https?:\/\/[^/]+\//;
/** As long as the service takes. */
const LONGEST = 32;

/** Only this variable holds the hint of an application that has signed the person in. */
const hint = screen.takeFragment().get('hint') ?? undefined;

open();
// The browser may come back with a page from its memory, whose code was entered already.
addEventListener('pageshow', (event) => event.persisted && open());

function open() {
  if (screen.isFramed()) return screen.showArticle(words.unusable, paragraph(words.framed));
  const brought = (new URLSearchParams(location.search).get('user_code') ?? '').slice(0, LONGEST);
  const field = element('input', {
    id: 'code',
    maxlength: String(LONGEST),
    autocomplete: 'off',
    inputmode: 'text',
    autocapitalize: 'characters',
    spellcheck: 'false',
    'aria-describedby': 'notice',
  });
  field.value = brought;
  const go = element('button', { type: 'submit', class: 'strong' }, words.go);
  const notice = element('div', { class: 'notice', id: 'notice', role: 'alert' });
  const label = element('label', { for: 'code' }, words.label);
  const form = element('form', {}, label, field, go, notice);
  let isBusy = false;

  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (isBusy) return;
    if (field.value.replaceAll(/[^a-z0-9]/gi, '').length !== 8) return tell(words.problems.incomplete);
    isBusy = true;
    setContent(notice);
    setContent(go, words.going);
    const answer = await call('/v1/device', { body: { userCode: field.value, hint, uiLocales }, read });
    isBusy = false;
    setContent(go, words.go);
    if (!answer.ok) return explain(answer.problem);
    if (SAFE_TARGET.test(answer.body.redirectTo)) location.assign(answer.body.redirectTo);
    else tell(words.problems.away);
  });

  /** @param {Problem} problem */
  function explain({ kind, seconds = 0 }) {
    const { problems } = words;
    const text = kind in problems ? problems[/** @type {keyof typeof problems} */ (kind)] : problems.away;
    tell(fillText(text, { duration: duration(seconds) }));
  }

  /** @param {string} text */
  function tell(text) {
    setContent(notice, paragraph(text));
    field.focus();
  }

  screen.showArticle(
    words.heading,
    element('p', { class: 'lead' }, words.lead),
    brought !== '' && note(words.compare, fill(words.compareText, { code: literal(brought.toUpperCase()) })),
    note(words.warning, words.warningText),
    form,
  );
  if (brought === '') field.focus();
  else showAsker(brought);
}

/**
 * Puts the account whose device waits at the head of the page. Without an answer the service stands there.
 * @param {string} userCode
 */
async function showAsker(userCode) {
  const answer = await call('/v1/device/brand', { body: { userCode }, read });
  if (answer.ok) screen.showBrand(answer.body.developerName, answer.body.branding);
}

/** @type {(refusal: Refusal) => Problem} */
function read({ status }) {
  if (status === 404) return { kind: 'unknown' };
  return { kind: status === 409 ? 'refused' : 'away' };
}
