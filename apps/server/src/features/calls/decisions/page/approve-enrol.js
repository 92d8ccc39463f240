/** @import { approveApi } from './approve-api.js' */
/** @import { Enrolment, Opened } from './types.js' */
import { button, element, literal, mention, paragraph, setContent } from '../../../../platform/page/dom.js';
import { fill } from '../../../../platform/page/format.js';
import { factList } from '../../../../platform/page/parts.js';
import { makePasskey } from '../../../../platform/page/passkey.js';
import * as screen from '../../../../platform/page/screen.js';
import { signOnButton, troubleOf } from './approve-trouble.js';
import { words } from './approve-words.js';

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
