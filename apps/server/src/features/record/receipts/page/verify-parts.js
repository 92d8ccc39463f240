/** @import { ReceiptVerdict } from '@behest/protocol/receipts/verify' */
/** @import { ReceiptGrant } from '@behest/protocol/receipts/tree' */
/** @import { ProofMeans } from '@behest/protocol/receipts/consent-proof' */
/** @import { Child } from '../../../../platform/page/types.js' */
import { encodeBase64url } from '@behest/protocol/base64url';
import { keyIdOf } from '@behest/protocol/key-id';
import {
  aside,
  button,
  element,
  literal,
  name,
  paragraph,
  setContent,
} from '../../../../platform/page/dom.js';
import { duration, fill, time, words } from './verify-language.js';

/** So many entries are shown at first. */
const FIRST = 50;

/**
 * Everything that a receipt says: the verdict first, and what the reader can do about it.
 * @param {ReceiptVerdict} verdict
 * @param {Child} keys the place to give the keys of the service
 */
export function verdictParts(verdict, keys) {
  const say = words();
  const state = verdict.receipt === null ? 'malformed' : stateOf(verdict);
  const { heading, lead } = say.verdicts[state];
  const head = [
    element('h1', { tabindex: '-1', class: `verdict ${state}` }, heading),
    element('p', { class: 'lead' }, lead),
  ];
  if (verdict.receipt === null) return head;
  if (verdict.grants.length === 0) return [head, checksCard(verdict)];
  return [
    head,
    state !== 'failed' && outcome(verdict),
    state === 'failed' && checksCard(verdict),
    state === 'unanchored' && keys,
    warnings(verdict),
    whoCard(verdict),
    consentCard(verdict),
    grantsCard(verdict),
    actsCard(verdict),
    state !== 'failed' && checksCard(verdict),
    state !== 'unanchored' && keys,
  ];
}

/** @param {ReceiptVerdict} verdict */
const stateOf = ({ ok, anchored }) => (!ok ? 'failed' : anchored ? 'verified' : 'unanchored');

/** @param {ReceiptVerdict} verdict */
function warnings({ warnings: given, withheld, receipt }) {
  const say = words();
  const told = [
    receipt?.sandbox && say.sandbox,
    given.includes('withheld') && say.hiddenParts,
    withheld > 0 && fill(say.takenOut, { n: String(withheld) }),
    given.includes('narrowed') && say.narrowed,
    given.includes('limits_exceeded') && say.limitsExceeded,
    given.includes('consent_missing') && say.consentMissing,
    given.includes('quorum_missing') && say.quorumMissing,
    given.includes('unverified') && say.unverified,
  ];
  return told.map((text) => text && element('p', { class: 'note' }, text));
}

/**
 * @param {string} heading
 * @param {...Child} children
 */
const card = (heading, ...children) =>
  element('section', { class: 'card' }, element('h2', {}, heading), children);

/**
 * @param {string} term
 * @param {...Child} children
 */
const row = (term, ...children) => element('div', {}, element('dt', {}, term), element('dd', {}, children));

/** @param {unknown} value @returns {string | undefined} */
const textOf = (value) => (typeof value === 'string' && value !== '' ? value : undefined);

/** @param {unknown} value @returns {string[]} */
const textsOf = (value) => (Array.isArray(value) ? value.map(String) : []);

/** @param {ReceiptVerdict} verdict */
function partiesOf({ consent, grants, entries, receipt }) {
  const root = grants.find(({ grantId }) => grantId === receipt?.rootGrantId);
  const proven = textOf(consent?.shown?.agentName);
  const labelled = textOf(receipt?.labels.agents[root?.agentId ?? '']);
  const known =
    textOf(consent?.principalId) ?? entries.map(({ principalId }) => textOf(principalId)).find(Boolean);
  return { root, proven, labelled, asker: proven ?? labelled, known };
}

/** What most readers came for, in one line: which agent, for whom, and whether that has ended. @param {ReceiptVerdict} verdict */
function outcome(verdict) {
  const { root, asker, known } = partiesOf(verdict);
  if (!root) return null;
  return element(
    'p',
    { class: 'outcome' },
    name(asker ?? root.agentId ?? root.grantId),
    known && [' · ', name(known)],
    element('br', {}),
    statusOf(root),
  );
}

/** @param {ReceiptVerdict} verdict */
function whoCard(verdict) {
  const { consent, receipt } = verdict;
  const { heading, agent, developer, service, person, unproven } = words().who;
  const { root, proven, labelled, asker, known } = partiesOf(verdict);
  const by = textOf(consent?.shown?.developerName);
  return card(
    heading,
    element(
      'dl',
      {},
      row(
        agent,
        asker && name(asker),
        root?.agentId && [' ', literal(root.agentId)],
        !proven && labelled && aside(unproven),
      ),
      by && row(developer, name(by)),
      row(person, known ? name(known) : words().hidden),
      row(service, literal(receipt?.issuer ?? '')),
    ),
  );
}

/** @param {ReceiptVerdict} verdict */
function consentCard({ consent, receipt }) {
  const say = words();
  if (!consent) return null;
  const { shown, decision, proof } = consent;
  const asked = textsOf(shown?.scopes);
  const said = textsOf(shown?.scopeDescriptions);
  /** @param {string} scope */
  const inWords = (scope) => said[asked.indexOf(scope)] ?? textOf(receipt?.labels.scopes[scope]);
  /** @param {string} scope */
  const line = (scope) =>
    element('li', {}, inWords(scope) && [name(inWords(scope) ?? '', 'words'), ' '], literal(scope));
  const approved = textsOf(decision?.scopes);
  const removed = textsOf(decision?.removedScopes);
  const lasting = textOf(decision?.expiresIn ?? shown?.expiresIn);
  return [
    card(
      say.shown.heading,
      !shown && paragraph(say.shown.none),
      shown && element('ul', { class: 'rows' }, asked.filter((scope) => !removed.includes(scope)).map(line)),
      removed.length > 0 && [
        element('h3', {}, say.shown.removed),
        element('ul', { class: 'rows removed' }, removed.map(line)),
      ],
      !shown &&
        approved.length > 0 && [
          element('h3', {}, say.shown.approved),
          element('ul', { class: 'rows' }, approved.map(line)),
        ],
      lasting && paragraph(fill(say.shown.lasting, { duration: duration(lasting) })),
    ),
    card(say.proofs.heading, paragraph(say.proofs[proof])),
  ];
}

/** @param {ReceiptVerdict} verdict */
function grantsCard({ grants, receipt }) {
  const say = words().grants;
  const children = Map.groupBy(grants, ({ parentGrantId }) => parentGrantId ?? '');
  const known = new Set(grants.map(({ grantId }) => grantId));
  const roots = grants.filter(({ parentGrantId }) => !known.has(parentGrantId ?? ''));
  /** @param {ReceiptGrant} grant @param {number} depth @returns {Child} */
  const item = (grant, depth) => {
    const label = textOf(receipt?.labels.agents[grant.agentId ?? '']);
    const below = depth < 20 ? (children.get(grant.grantId) ?? []).slice(0, FIRST) : [];
    return element(
      'li',
      {},
      element('div', {}, label && [name(label), ' '], literal(grant.agentId ?? grant.grantId)),
      depth > 0 && aside(say.passedOn),
      element('div', {}, grant.scopes ? grant.scopes.map((scope) => [literal(scope), ' ']) : words().hidden),
      element('div', { class: `state ${grant.status}` }, statusOf(grant)),
      below.length > 0 &&
        element(
          'ul',
          { class: 'tree' },
          below.map((each) => item(each, depth + 1)),
        ),
    );
  };
  return card(
    say.heading,
    element(
      'ul',
      { class: 'rows' },
      roots.slice(0, FIRST).map((grant) => item(grant, 0)),
    ),
  );
}

/** @param {ReceiptGrant} grant */
function statusOf({ status, revokedAt, revokedBy, expiresAt }) {
  const say = words().grants;
  const ends = expiresAt === undefined ? '' : fill(say.until, { time: time(expiresAt) });
  if (status === 'revoked')
    return fill(revokedBy === 'principal' ? say.byPerson : say.revoked, { time: time(revokedAt ?? '') });
  if (status === 'expired') return fill(say.expired, { time: time(expiresAt ?? '') });
  return [say[status], ends && ' · ', ends];
}

/** @param {ReceiptVerdict} verdict */
function actsCard({ entries, receipt }) {
  const say = words().acts;
  /** @type {Record<string, string>} */
  const known = say;
  const list = element('ol', { class: 'rows' });
  /** @param {number} count */
  const show = (count) => {
    setContent(
      list,
      entries
        .slice(0, count)
        .map(({ action, timestamp, agentId, status }) =>
          element(
            'li',
            {},
            element('div', { class: 'when' }, time(timestamp)),
            element(
              'div',
              {},
              action.includes('.') && known[action] && [known[action], ' '],
              literal(action),
            ),
            element(
              'div',
              { class: 'aside' },
              name(textOf(receipt?.labels.agents[agentId ?? '']) ?? agentId ?? ''),
              status !== 'success' && [' ', literal(status)],
            ),
          ),
        ),
    );
  };
  show(FIRST);
  const more = button(`${say.more} (${entries.length})`, () => {
    show(entries.length);
    more.remove();
  });
  return card(say.heading, list, entries.length > FIRST && more);
}

/** @param {ReceiptVerdict} verdict */
function checksCard({ checks }) {
  const say = words().checks;
  return card(
    say.heading,
    element(
      'ul',
      { class: 'rows checks' },
      checks.map(({ id, ok, detail }) => {
        const state = !ok ? 'failed' : detail === 'withheld' || detail === 'absent' ? detail : 'ok';
        return element(
          'li',
          { class: state },
          element('span', {}, say[id]),
          ' ',
          element('span', { class: 'badge' }, say[state]),
          !ok && [' ', literal(detail)],
        );
      }),
    ),
  );
}

/**
 * The keys of the receipt, and the place to give those of the service.
 * @param {ReceiptVerdict} verdict
 * @param {ProofMeans} means
 * @param {(text: string) => boolean} use
 */
export function keysCard({ receipt, anchored }, { sha256 }, use) {
  const say = words().keys;
  const address = `${(receipt?.issuer ?? '').replace(/\/$/, '')}/.well-known/did.json`;
  const input = element('textarea', { id: 'keys', rows: '4', spellcheck: 'false', autocomplete: 'off' });
  const alarm = element('p', { class: 'notice', role: 'alert' });
  const check = button(say.use, () => setContent(alarm, !use(input.value) && say.wrong));
  const told = fingerprint(receipt?.statement ?? '', receipt?.keys.jwks, sha256);
  return card(
    say.heading,
    !anchored && [
      paragraph(fill(say.compare, { address: literal(address) })),
      element('label', { for: 'keys' }, say.label),
      input,
      element('div', { class: 'buttons' }, check),
      alarm,
    ],
    told && element('dl', {}, row(say.fingerprint, literal(told))),
  );
}

/**
 * The id that the signing key has by its own numbers, whatever the receipt calls it.
 * @param {string} statement
 * @param {unknown} jwks
 * @param {ProofMeans['sha256']} sha256
 */
function fingerprint(statement, jwks, sha256) {
  try {
    const { kid } = JSON.parse(
      atob((statement.split('.')[0] ?? '').replaceAll('-', '+').replaceAll('_', '/')),
    );
    /** @type {any} */
    const set = jwks;
    const key = set.keys.find((/** @type {{ kid: string }} */ each) => each.kid === kid);
    return keyIdOf(key, (text) => encodeBase64url(sha256(new TextEncoder().encode(text))));
  } catch {
    return undefined; // a statement without such a key, which the checks name
  }
}
