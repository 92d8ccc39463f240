/** @import { Child } from '../../../../platform/page/types.js' */
/** @import { ConsentRequest, Manifest, RequestUse, DecisionKind } from './types.js' */
import {
  aside,
  button,
  element,
  literal,
  mention,
  name,
  paragraph,
  quotation,
  setContent,
} from '../../../../platform/page/dom.js';
import { fill, moment, money } from '../../../../platform/page/format.js';
import { factList, note, ownWords, unseenRows } from '../../../../platform/page/parts.js';
import { renderSelection } from './consent-selection.js';
import { words } from './consent-words.js';

/** Enough to compare with what the developer publishes, and short enough to read out. */
const SHOWN_DIGITS = 16;

/**
 * The request as one screen: who asks, for whom, what is new, what it would be allowed and until when, and the two
 * buttons. Everything else is one tap away.
 * @param {ConsentRequest} request
 * @param {RequestUse} use
 */
export function renderRequest(request, use) {
  const { agentName, budget, client, principalId } = request;
  const { mode, satisfied } = request.verification;
  const isProved = satisfied && mode !== 'link';
  const values = { principal: mention(principalId), developer: mention(request.developerName) };
  const selection = renderSelection(request, use);
  const decision = renderDecision(request, use, selection.summary);
  const heading = element('h1', { tabindex: '-1' }, fill(words.heading, { agent: mention(agentName) }));

  const page = element('article', {}, [
    request.sandbox && element('div', { class: 'sandbox' }, note(words.sandbox, words.sandboxText)),
    heading,
    client && client.vouchedBy !== 'nobody' && aside(vouched(request, client)),
    element('p', { class: 'person' }, fill(isProved ? words.signedIn : words.forPerson, values)),
    isProved && aside(fill(words.proof.given[mode] ?? words.proof.proved, values)),
    renderWarnings(request, use),
    isProved && renderSince(request, use, selection.refresh),
    element('section', { class: 'card', 'aria-label': words.permissions }, [
      budget && element('p', { class: 'headline' }, fill(words.budget, { amount: money(budget) })),
      selection.scopes,
      selection.tools,
      (client?.resourceNames ?? []).map((resource) =>
        element('p', { class: 'where' }, fill(words.resource, { resource: name(resource) })),
      ),
      selection.time,
    ]),
    element('div', { class: 'card' }, renderDetails(request, decision.end), decision.reason),
    element('footer', { class: 'colophon' }, words.service),
    element('div', { class: 'bar' }, decision.notice, decision.unseen, selection.summary, decision.buttons),
  ]);

  return { ...selection, ...decision, page, heading };
}

/**
 * What is new since the person's last consent, or that there was none.
 * @param {ConsentRequest} request
 * @param {RequestUse} use
 * @param {() => void} refresh
 */
function renderSince(request, { choices, now, renderDifference }, refresh) {
  if (renderDifference) return renderDifference(request, { choices, now, refresh });
  const { first, replaces } = words.difference;
  return aside(first, request.replacesGrantId && ` ${replaces}`);
}

/**
 * A passkey signs the approval itself, and comes after every other proof.
 * @param {Pick<ConsentRequest, 'verification' | 'fidoRequired'>} request
 */
export const mayApprove = ({ verification: { satisfied, methods }, fidoRequired }) =>
  satisfied || (fidoRequired && !methods.includes('sso'));

/**
 * @param {ConsentRequest} request
 * @param {NonNullable<ConsentRequest['client']>} client
 */
function vouched({ developerName }, { vouchedBy, host }) {
  return fill(vouchedBy === 'host' ? words.vouched.host : words.vouched.developer, {
    developer: mention(developerName),
    host: literal(host ?? ''),
  });
}

/**
 * What a person has to know or do before anything else.
 * @param {ConsentRequest} request
 * @param {RequestUse} use
 * @returns {Child[]}
 */
function renderWarnings(request, { proofStep }) {
  const { proof, channel: channels } = words;
  const { channel, comparedText, client, fidoRequired, verification } = request;
  const { mode, satisfied, methods, otherPerson, signInHere } = verification;
  const values = { principal: mention(request.principalId), developer: mention(request.developerName) };
  const isProved = satisfied && mode !== 'link';

  function missingProof() {
    if (proofStep && methods.includes('email')) return 'email';
    if (!methods.includes('sso') || (methods.length > 1 && !fidoRequired)) return mode;
    return otherPerson ? 'otherPerson' : signInHere ? 'signOn' : 'sso';
  }

  function proofNote() {
    if (satisfied) return note(proof.notVerified, fill(proof.link, values));
    const text = fill(proof.lacking[missingProof()] ?? proof.unproved, values);
    return note(proof.missing, [text, ' ', proof.denyAnyway], proofStep);
  }

  return [
    channel &&
      note(
        channels[channel].title,
        fill(comparedText === undefined ? channels[channel].alone : channels[channel].text, {
          text: literal(comparedText ?? ''),
        }),
      ),
    client && programNote(request.agentName, client),
    !isProved && !(fidoRequired && mayApprove(request)) && proofNote(),
    fidoRequired && note(proof.passkey, fill(proof.lacking.passkey ?? '', values)),
  ];
}

/**
 * A program that anybody could have named, or that runs where the person is.
 * @param {string} agentName
 * @param {NonNullable<ConsentRequest['client']>} client
 */
function programNote(agentName, { vouchedBy, isLocal }) {
  if (vouchedBy !== 'nobody') return isLocal && note(words.local, words.localText);
  const text = fill(words.namelessText, { agent: mention(agentName) });
  return note(words.nameless, [text, isLocal && ` ${words.localText}`]);
}

/**
 * What a decision does not need, for a reader who wants all of it.
 * @param {ConsentRequest} request
 * @param {HTMLElement} end
 */
function renderDetails(request, end) {
  const { details } = words;
  const { agentName, purpose, purposeLabel, budget, audience, redirectHost, scopes } = request;
  const developer = mention(request.developerName);
  const inOwnWords = ownWords(request);
  const manifests = renderManifests(request);
  const exact = scopes.map((scope, at) => {
    const said = request.scopeExplanations?.[at];
    return element('li', {}, literal(scope), said && quotation(said));
  });
  const toolRows = (request.tools ?? [])
    .flatMap(({ connector, covers, ...tool }) => [tool, ...covers].map((each) => ({ connector, ...each })))
    .map(({ connector, tool, description }) =>
      element('div', {}, literal(`${connector}: ${tool}`), description && quotation(description)),
    );
  const rows = [
    [details.agent, name(agentName)],
    inOwnWords.length > 0 && [details.description, inOwnWords],
    [details.developer, name(request.developerName)],
    [details.did, literal(request.agentDid)],
    [details.person, [paragraph(name(request.principalId)), aside(fill(details.principal, { developer }))]],
    purpose && [
      details.purpose,
      [paragraph(name(purposeLabel ?? purpose)), paragraph(literal(purpose)), aside(details.purposeOnly)],
    ],
    [
      details.exact,
      [
        element('ul', { role: 'list' }, exact),
        aside(details.exactCounts, scopes.some((scope) => scope.includes('*')) && ` ${details.star}`),
      ],
    ],
    toolRows.length > 0 && [details.tools, toolRows],
    budget && [details.budget, literal(`${budget.amount} ${budget.currency}`)],
    manifests.length > 0 && [details.manifests, manifests],
    audience && [details.audience, literal(audience)],
    [
      details.afterwards,
      redirectHost
        ? fill(details.returnsTo, { host: literal(redirectHost) })
        : fill(details.staysHere, { developer }),
    ],
    [details.decideUntil, end],
    [details.reference, literal(request.id)],
  ];
  return element('details', { id: 'details' }, element('summary', {}, details.title), factList(rows));
}

/**
 * The descriptions of tools under which the person agrees.
 * @param {ConsentRequest} request
 */
function renderManifests({ manifests = [], developerName }) {
  return manifests.map((manifest) => renderManifest(manifest, developerName));
}

/**
 * @param {Manifest} manifest
 * @param {string} developerName
 */
function renderManifest({ connector, version, sha256, pinned }, developerName) {
  const { manifest, noManifest } = words.tools;
  if (version === null || sha256 === null) {
    return aside(fill(noManifest, { developer: mention(developerName), connector: literal(connector) }));
  }
  const values = {
    connector: literal(connector),
    version: literal(version),
    sha256: literal(sha256.slice(0, SHOWN_DIGITS)),
  };
  return aside(fill(manifest, values), pinned && ` ${words.tools.pinned}`);
}

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
  const end = element('span', {});
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
    for (const control of document.querySelectorAll('.card :is(input, select, .total button)')) {
      control.toggleAttribute('disabled', isSending);
    }
  }

  /** @param {boolean} isSoon */
  function showEnd(isSoon) {
    const text = fill(isSoon ? decision.closingSoon : decision.open, {
      time: moment(new Date(expiresAt), now()),
    });
    setContent(end, isSoon ? element('strong', {}, text) : text);
    if (isSoon && !notice.hasChildNodes()) setContent(notice, paragraph(end.textContent));
    return end.textContent ?? '';
  }

  refresh();
  return {
    end,
    reason: element(
      'details',
      { open: choices.reason !== '' },
      element('summary', {}, decision.reasonSummary),
      element('label', {}, hint, reason),
    ),
    notice,
    buttons: element('div', { class: 'decide' }, deny, approve),
    unseen: unseenRows('.card .rows > li', words.unseen).button,
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
