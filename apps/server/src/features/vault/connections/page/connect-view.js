/** @import { Child } from '../../../../platform/page/types.js' */
/** @import { Session, View, ViewUse } from './types.js' */
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
import { fill } from '../../../../platform/page/format.js';
import { clause, factList, note } from '../../../../platform/page/parts.js';
import { words } from './connect-words.js';

/**
 * The session as a page: who asks, for whom, what for, and the buttons.
 * @param {Session} session
 * @param {ViewUse} use
 * @returns {View}
 */
export function renderConnect(session, use) {
  const { connect, verification, reason } = session;
  const { clauses } = words;
  const values = {
    developer: mention(connect.developerName),
    provider: mention(connect.providerName),
    principal: mention(connect.principalId),
    agent: mention(connect.agentName ?? ''),
    host: literal(connect.authorizationHost),
    service: mention(connect.service),
  };
  const title = connect.result ? words.returned : words.heading;
  const heading = element('h1', { tabindex: '-1' }, fill(title, values));
  const notice = element('div', { class: 'notice', role: 'status' });
  const before = reason ? words.reasons[reason] : undefined;
  const whoAsks = [
    [words.developer, name(connect.developerName)],
    [words.agent, connect.agentName === null ? words.noAgent : name(connect.agentName)],
    [words.service, literal(connect.service)],
  ];
  const choice = connect.result ? renderResult(session, use) : renderStart(session, use);

  const page = element('article', {}, [
    connect.sandbox && element('div', { class: 'sandbox' }, note(words.sandbox, words.sandboxText)),
    heading,
    element('p', { class: 'lead' }, fill(connect.agentName ? words.leadAgent : words.lead, values)),
    before && element('p', { class: 'notice' }, fill(before, values)),
    !verification.satisfied && !connect.result && renderProof(session, use),
    clause(clauses.who, factList(whoAsks)),
    clause(clauses.forWhom, [paragraph(name(connect.principalId)), aside(fill(words.principal, values))]),
    choice.parts,
    clause(clauses.decision, [
      notice,
      element('p', { class: 'buttons' }, choice.go, ' ', button(words.cancel, use.cancel)),
    ]),
    element('footer', { class: 'colophon' }, words.by),
  ]);
  return { page, heading, showNotice: (...content) => setContent(notice, content) };
}

/**
 * @param {Session} session
 * @param {ViewUse} use
 */
function renderProof({ connect, verification, loginUrl }, { codeStep, signIn, signOn, provePasskey }) {
  const { proof } = words;
  const { methods, signInHere, otherPerson } = verification;
  const values = { developer: mention(connect.developerName), principal: mention(connect.principalId) };
  if (methods.includes('passkey')) {
    const go = button(words.usePasskey, provePasskey, { class: 'strong' });
    return note(proof.title, fill(proof.passkey, values), paragraph(go));
  }
  if (codeStep) return note(proof.title, fill(proof.email, values), codeStep);
  if (methods[0] === 'sso' && signInHere) {
    const text = fill(otherPerson ? proof.otherPerson : proof.sso, values);
    return note(proof.title, text, paragraph(button(words.signOn, signOn, { class: 'strong' })));
  }
  if (loginUrl === null) return note(proof.title, proof.lacking);
  const label = fill(words.signIn, { developer: connect.developerName }).join('');
  return note(proof.title, fill(proof.hint, values), paragraph(button(label, signIn, { class: 'strong' })));
}

/**
 * @param {Session} session
 * @param {ViewUse} use
 */
function renderStart({ connect, verification }, use) {
  const { clauses } = words;
  const values = { provider: mention(connect.providerName), host: literal(connect.authorizationHost) };
  /** @type {Map<string, HTMLInputElement>} */
  const boxes = new Map();
  const items = connect.scopes.map(({ scope, required, new: isNew }) => {
    const shown = [literal(scope), isNew && connect.current ? ` (${words.isNew})` : ''];
    if (required) return element('li', {}, shown);
    const box = element('input', { type: 'checkbox', checked: true });
    boxes.set(scope, box);
    return element('li', {}, element('label', {}, box, element('span', {}, shown, aside(words.optional))));
  });
  const { current } = connect;
  const account = mention(current?.accountLabel ?? '');
  const parts = [
    clause(fill(clauses.scopes, { provider: connect.providerName }).join(''), [
      items.length > 0 ? element('ul', {}, items) : paragraph(fill(words.noScopes, values)),
      current && aside(current.accountLabel ? fill(words.current, { account }) : words.currentUnknown),
    ]),
    clause(clauses.next, paragraph(fill(words.next, values))),
  ];
  const label = fill(words.start, { provider: connect.providerName }).join('');
  const wanted = () =>
    connect.scopes.map(({ scope }) => scope).filter((scope) => boxes.get(scope)?.checked ?? true);
  const attributes = { class: 'strong', disabled: !verification.satisfied };
  return { parts, go: button(label, () => use.start(wanted()), attributes) };
}

/**
 * @param {Session} session
 * @param {ViewUse} use
 */
function renderResult({ connect }, use) {
  const result = connect.result;
  const { accountLabel = null, scopesGranted = [], missing = [], replaces = false } = result ?? {};
  const developer = mention(connect.developerName);
  const box = element('input', { type: 'checkbox' });
  const account =
    accountLabel === null ? words.accountUnknown : fill(words.account, { account: name(accountLabel) });
  /** @type {(scopes: string[]) => Child} */
  const list = (scopes) =>
    scopes.length > 0
      ? element(
          'ul',
          {},
          scopes.map((scope) => element('li', {}, literal(scope))),
        )
      : words.nothing;
  const parts = [
    clause(words.clauses.account, [
      paragraph(account),
      replaces && paragraph(fill(words.replaces, { service: mention(connect.service) })),
      replaces && paragraph(element('label', {}, box, ' ', words.allowReplacing)),
    ]),
    clause(words.granted, list(scopesGranted)),
    missing.length > 0 &&
      clause(fill(words.missing, { developer: developer.textContent ?? '' }).join(''), list(missing)),
  ];
  const attributes = { class: 'strong' };
  return { parts, go: button(words.confirm, () => use.confirm(box.checked), attributes) };
}
