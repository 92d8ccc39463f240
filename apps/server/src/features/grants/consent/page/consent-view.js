/** @import { Child } from '../../../../platform/page/types.js' */
/** @import { ConsentRequest, RequestUse, DecisionKind } from './types.js' */
import {
  aside,
  button,
  element,
  literal,
  mention,
  name,
  paragraph,
  setContent,
} from '../../../../platform/page/dom.js';
import { fill, moment } from '../../../../platform/page/format.js';
import { clause, factList, note, ownWords } from '../../../../platform/page/parts.js';
import { renderDifference } from './consent-difference.js';
import { money } from './consent-format.js';
import { renderManifests } from './consent-limits.js';
import { renderSelection } from './consent-selection.js';
import { words } from './consent-words.js';

/**
 * The request as a page: the agent, the person, the purpose, the scopes, the time and the decision.
 * @param {ConsentRequest} request
 * @param {RequestUse} use
 */
export function renderRequest(request, use) {
  const { agentName, purpose, purposeLabel, budget, audience, redirectHost, client } = request;
  const { clauses, proof } = words;
  const { mode, satisfied } = request.verification;
  const isProved = satisfied && mode !== 'link';
  const developer = mention(request.developerName);
  const selection = renderSelection(request, use);
  const tools = [...selection.tools, ...renderManifests(request)];
  const decision = renderDecision(request, use, selection.summary);
  const heading = element('h1', { tabindex: '-1' }, fill(words.heading, { agent: mention(agentName) }));

  function proofNote() {
    const values = { principal: mention(request.principalId), developer };
    if (satisfied) return note(proof.notVerified, fill(proof.link, values));
    const text = fill(proof.lacking[missingProof()] ?? proof.unproved, values);
    return note(proof.missing, [text, ' ', proof.denyAnyway], use.proofStep);
  }

  function missingProof() {
    const { methods, otherPerson, signInHere } = request.verification;
    if (use.proofStep && methods.includes('email')) return 'email';
    if (!methods.includes('sso') || (methods.length > 1 && !request.fidoRequired)) return mode;
    return otherPerson ? 'otherPerson' : signInHere ? 'signOn' : 'sso';
  }

  function vouched(/** @type {NonNullable<typeof client>} */ { vouchedBy, host }) {
    const values = { developer, host: literal(host ?? '') };
    return fill(words.vouched[vouchedBy], values);
  }

  const inOwnWords = ownWords(request);
  const whoAsks = [
    [words.agent, name(agentName)],
    inOwnWords.length > 0 && [words.description, inOwnWords],
    [words.developer, name(request.developerName)],
    [words.did, literal(request.agentDid)],
    client && [words.client, vouched(client)],
  ];
  const given = isProved ? (proof.given[mode] ?? proof.proved) : `${proof.notVerified}.`;
  const forWhom = [
    paragraph(name(request.principalId)),
    aside(fill(words.principal, { developer }), ' ', fill(given, { developer })),
  ];
  const where = [
    ...(client?.resourceNames ?? []).map((resource) => [words.resource, name(resource)]),
    audience && [words.audience, literal(audience)],
    [
      words.afterwards,
      redirectHost
        ? fill(words.returnsTo, { host: literal(redirectHost) })
        : fill(words.staysHere, { developer }),
    ],
  ];

  const { channel, comparedText } = request;
  const otherDevice =
    channel &&
    note(
      words.channel[channel].title,
      fill(comparedText === undefined ? words.channel[channel].alone : words.channel[channel].text, {
        text: literal(comparedText ?? ''),
      }),
    );

  const page = element('article', {}, [
    request.sandbox && element('div', { class: 'sandbox' }, note(words.sandbox, words.sandboxText)),
    heading,
    element('p', { class: 'lead' }, fill(words.lead, { developer })),
    otherDevice,
    !isProved && !(request.fidoRequired && mayApprove(request)) && proofNote(),
    request.fidoRequired &&
      note(
        proof.passkey,
        fill(proof.lacking.passkey ?? '', { principal: mention(request.principalId), developer }),
      ),
    clause(clauses.who, factList(whoAsks)),
    clause(clauses.forWhom, forWhom),
    purpose &&
      clause(clauses.purpose, [
        paragraph(name(purposeLabel ?? purpose)),
        paragraph(literal(purpose)),
        aside(words.purposeOnly),
      ]),
    renderDifference(request, { choices: use.choices, now: use.now, refresh: selection.refresh }),
    clause(clauses.scopes, selection.scopes),
    tools.length > 0 && clause(clauses.tools, tools),
    budget &&
      clause(clauses.budget, [
        paragraph(fill(words.budget, { amount: money(budget) })),
        paragraph(literal(`${budget.amount} ${budget.currency}`)),
      ]),
    clause(clauses.time, selection.time),
    clause(clauses.where, [
      factList(where),
      ...(client?.isLocal ? [note(words.local, fill(words.localText, { agent: mention(agentName) }))] : []),
    ]),
    clause(clauses.decision, decision.parts),
    aside(fill(words.reference, { id: literal(request.id) })),
  ]);

  return { ...selection, ...decision, page, heading };
}

/**
 * A passkey signs the approval itself, and comes after every other proof.
 * @param {Pick<ConsentRequest, 'verification' | 'fidoRequired'>} request
 */
export const mayApprove = ({ verification: { satisfied, methods }, fidoRequired }) =>
  satisfied || (fidoRequired && !methods.includes('sso'));

/**
 * @param {ConsentRequest} request
 * @param {RequestUse} use
 * @param {HTMLElement} summary
 */
function renderDecision(
  { expiresAt, developerName, verification, fidoRequired },
  { choices, now, decide },
  summary,
) {
  const { decision } = words;
  const hint = element(
    'span',
    { class: 'aside' },
    fill(decision.reasonHint, { developer: mention(developerName) }),
  );
  const reason = element('textarea', { rows: '2', maxlength: '200' });
  reason.value = choices.reason;
  reason.addEventListener('input', () => {
    choices.reason = reason.value;
  });
  const deny = button('', () => decide('deny'), { id: 'deny' });
  const approve = button('', () => decide('approve'), { id: 'approve', 'aria-describedby': summary.id });
  const notice = element('div', { class: 'notice', role: 'alert' });
  const end = aside();
  let isArmed = false;
  /** @type {DecisionKind | undefined} */
  let sending;

  /**
   * The buttons are never `disabled`, which would drop the focus. A press that cannot count shows the reason.
   */
  function refresh() {
    const isSending = sending !== undefined;
    const canApprove = mayApprove({ verification, fidoRequired });
    deny.setAttribute('aria-disabled', String(isSending));
    approve.setAttribute('aria-disabled', String(isSending || !isArmed || !canApprove));
    approve.classList.toggle('impossible', !canApprove);
    setContent(deny, sending === 'deny' ? decision.denying : decision.deny);
    setContent(approve, sending === 'approve' ? decision.approving : decision.approve);
    reason.readOnly = isSending;
    for (const control of document.querySelectorAll('.clause :is(input, select, .total button)')) {
      control.toggleAttribute('disabled', isSending);
    }
  }

  /** @param {boolean} isSoon */
  function showEnd(isSoon) {
    const text = fill(isSoon ? decision.closingSoon : decision.open, {
      time: moment(new Date(expiresAt), now()),
    });
    setContent(end, isSoon ? element('strong', {}, text) : text);
    return end.textContent ?? '';
  }

  refresh();
  return {
    parts: [
      summary,
      end,
      element(
        'details',
        { open: choices.reason !== '' },
        element('summary', {}, decision.reasonSummary),
        element('label', {}, hint, reason),
      ),
      notice,
      element('div', { class: 'decide' }, deny, approve),
    ],
    showEnd,
    /** @param {DecisionKind | undefined} kind */
    setSending(kind) {
      sending = kind;
      refresh();
    },
    /** @param {boolean} armed */
    setArmed(armed) {
      isArmed = armed;
      refresh();
    },
    /**
     * @param {Child} [text] nothing takes the notice away
     * @param {Child} [more]
     */
    showNotice(text, more) {
      setContent(notice, text && paragraph(text), more);
    },
  };
}
