/** @import { Child } from '../../../../platform/page/types.js' */
/** @import { Branch, Card, Grant, Use } from './types.js' */
import { serviceTime } from '../../../../platform/page/call.js';
import {
  button,
  element,
  literal,
  mention,
  name,
  paragraph,
  quotation,
  setContent,
} from '../../../../platform/page/dom.js';
import { fill, moment } from '../../../../platform/page/format.js';
import { limitLines, toolOf } from '../../../../platform/page/limits.js';
import { factList, ownWords } from '../../../../platform/page/parts.js';
import { renderActivity } from './permissions-list.js';
import { words } from './permissions-words.js';

/**
 * What is one tap away: the exact terms of a grant, its receipt and its history.
 * @param {Branch} branch
 * @param {Use} use
 * @param {{ status: Child, card: Card }} shown
 */
export function renderDetails(branch, use, { status, card }) {
  const { grant } = branch;
  const endButton = button(words.grant.endThis, () => card.endOne(branch, endButton));
  return element('details', { class: 'status' }, [
    element(
      'summary',
      {},
      element('span', {}, status),
      ' ',
      element('span', { class: 'open' }, words.grant.details),
    ),
    renderTerms(grant, use),
    renderReceipt(grant, use, card.left.length > 1 && endButton),
    renderActivity(use, grant.grantId),
  ]);
}

/**
 * The button that downloads the receipt of a grant. A delegated grant is in the receipt of the one that it came from.
 * @param {Grant} grant
 * @param {Use} use
 * @param {Child} [more] beside the button
 */
export function renderReceipt({ grantId, parentGrantId }, use, more) {
  const notice = element('div', { class: 'notice', role: 'alert' });
  const receipt = parentGrantId === undefined && button(words.grant.receipt, save);

  async function save() {
    const answer = await use.api.receipt(grantId);
    if (!answer.ok) return setContent(notice, paragraph(use.explain(answer.problem)));
    setContent(notice);
    download(`receipt-${grantId}.html`, answer.body);
  }

  return [notice, element('p', { class: 'buttons' }, receipt, more)];
}

/**
 * @param {string} file
 * @param {Blob} content
 */
function download(file, content) {
  const href = URL.createObjectURL(content);
  element('a', { href, download: file }).click();
  URL.revokeObjectURL(href);
}

/**
 * The terms of a grant: in full, with its purpose and its times.
 * @param {Grant} grant
 * @param {Use} use
 */
export function renderTerms(grant, { developerName }) {
  const { scopes, scopeDescriptions, purpose, purposeLabel, audience, agentDid, argumentLimits = [] } = grant;
  const { scopeExplanations = [] } = grant;
  const { issuedAt, expiresAt, lastUsedAt, revokedAt, revokedReason } = grant;
  /** @param {string} time */
  const when = (time) => moment(new Date(time), serviceTime());
  const isEnded = grant.status !== 'active';
  const lines = scopes.map((scope, at) => {
    const said = scopeExplanations[at];
    const description = scopeDescriptions[at] ?? scope;
    const inWords = isEnded && description !== scope && [name(description, 'words'), element('br', {})];
    return element('li', {}, inWords, literal(scope), said && quotation(said));
  });
  const inOwnWords = ownWords(grant);
  const reason = grant.status === 'expired' ? 'expired' : (revokedReason ?? '');
  const byWhom = fill(words.reasons[reason] ?? words.otherReason, { developer: mention(developerName) });
  return factList([
    [isEnded ? words.grant.might : words.grant.may, element('ul', { role: 'list' }, lines)],
    argumentLimits.length > 0 && [
      words.grant.limits,
      argumentLimits.map((limits) =>
        element('div', { class: 'limits' }, paragraph(toolOf(limits)), limitLines(limits)),
      ),
    ],
    inOwnWords.length > 0 && [words.grant.description, inOwnWords],
    purpose && [words.grant.purpose, [name(purposeLabel ?? purpose), ' ', literal(purpose)]],
    audience && [words.grant.audience, literal(audience)],
    [words.grant.issued, when(issuedAt)],
    isEnded
      ? [words.grant.ended, fill(words.grant.endedAt, { time: when(revokedAt ?? expiresAt), reason: byWhom })]
      : [words.grant.expires, when(expiresAt)],
    [words.grant.lastUsed, lastUsedAt ? when(lastUsedAt) : words.grant.never],
    agentDid && [words.grant.did, literal(agentDid)],
  ]);
}
