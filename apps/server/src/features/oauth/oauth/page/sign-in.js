/** @import { Problem, Refusal } from '../../../../platform/page/types.js' */
import { call, passkeyProblem } from '../../../../platform/page/call.js';
import { button, element, paragraph, setContent } from '../../../../platform/page/dom.js';
import { duration, fillText } from '../../../../platform/page/format.js';
import { askForPasskey } from '../../../../platform/page/passkey.js';
import * as screen from '../../../../platform/page/screen.js';
import { words } from './sign-in-words.js';

const AT = '/v1/oauth/sign-ins';

const asked = new URLSearchParams(location.search);
/** The request for which the person signs in. */
const waiting = { clientId: asked.get('client_id') ?? '', requestUri: asked.get('request_uri') ?? '' };

open();
// The browser may come back with a page from its memory, whose request is used by then.
addEventListener('pageshow', (event) => event.persisted && open());

function open() {
  if (screen.isFramed()) return screen.showArticle(words.unusable, paragraph(words.framed));
  if (waiting.clientId === '' || waiting.requestUri === '')
    return screen.showArticle(words.unusable, paragraph(words.incomplete));
  const outcome = element('div', { role: 'status' });
  let isBusy = false;
  const go = button(
    words.go,
    async () => {
      if (isBusy) return;
      isBusy = true;
      setContent(outcome);
      setContent(go, words.going);
      const answer = await askForPasskey(
        () => call(`${AT}/options`, { body: waiting, read }),
        (given) => call(`${AT}/verify`, { body: { ...waiting, ...given }, read }),
      );
      isBusy = false;
      setContent(go, words.go);
      if (!answer.ok) return explain(answer.problem);
      const { redirectTo } = answer.body;
      if (!screen.isSafeTarget(redirectTo)) return explain({ kind: 'away' });
      setContent(outcome, paragraph(words.leaving));
      location.replace(redirectTo);
    },
    { class: 'strong' },
  );

  /** @param {Problem} problem */
  function explain({ kind, seconds = 0 }) {
    if (kind === 'over') return screen.showArticle(words.over, paragraph(words.overText));
    const { problems } = words;
    const text = kind in problems ? problems[/** @type {keyof typeof problems} */ (kind)] : problems.away;
    setContent(outcome, paragraph(fillText(text, { duration: duration(seconds) })));
  }

  showAsker();
  const lead = element('p', { class: 'lead' }, words.lead);
  screen.showArticle(words.heading, lead, element('div', { class: 'buttons' }, go), outcome);
}

/** Puts the account whose request waits at the head of the page. Without an answer the service stands there. */
async function showAsker() {
  const answer = await call(`${AT}/brand`, { body: waiting, read });
  if (answer.ok) screen.showBrand(answer.body.developerName, answer.body.branding);
}

/** @type {(refusal: Refusal) => Problem} */
function read({ status, code = '' }) {
  const passkey = passkeyProblem(code);
  if (passkey) return { kind: passkey };
  return { kind: status === 400 ? 'over' : 'away' };
}
