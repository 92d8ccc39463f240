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
import { factList, note } from '../../../../platform/page/parts.js';
import { words } from './connect-words.js';

/**
 * The session as one screen: who asks, for whom, what for, and the buttons. Everything else is one tap away.
 * @param {Session} session
 * @param {ViewUse} use
 * @returns {View}
 */
export function renderConnect(session, use) {
  const { connect, verification, reason } = session;
  const values = {
    developer: mention(connect.developerName),
    provider: mention(connect.providerName),
    principal: mention(connect.principalId),
    agent: mention(connect.agentName ?? ''),
  };
  const title = connect.result ? words.returned : words.heading;
  const heading = element('h1', { tabindex: '-1' }, fill(title, values));
  const notice = element('div', { class: 'notice', role: 'status' });
  const before = reason ? words.reasons[reason] : undefined;
  const choice = connect.result ? renderResult(session, use) : renderStart(session, use);

  const page = element('article', {}, [
    connect.sandbox && element('div', { class: 'sandbox' }, note(words.sandbox, words.sandboxText)),
    heading,
    element('p', { class: 'person' }, fill(words.forPerson, values)),
    aside(fill(words.principal, values)),
    before && element('p', { class: 'notice' }, fill(before, values)),
    !verification.satisfied && !connect.result && renderProof(session, use),
    element('section', { class: 'card' }, choice.parts),
    element('div', { class: 'card' }, renderDetails(connect)),
    element('footer', { class: 'colophon' }, words.by),
    element('div', { class: 'bar' }, [
      notice,
      element('div', { class: 'decide' }, button(words.cancel, use.cancel), choice.go),
    ]),
  ]);
  return { page, heading, showNotice: (...content) => setContent(notice, content) };
}

/** @param {Session['connect']} connect */
function renderDetails(connect) {
  const { details } = words;
  const rows = [
    [details.developer, name(connect.developerName)],
    [details.agent, connect.agentName === null ? details.noAgent : name(connect.agentName)],
    [details.service, literal(connect.service)],
    [details.host, literal(connect.authorizationHost)],
  ];
  return element('details', {}, element('summary', {}, details.title), factList(rows));
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
 * What a scope permits at the provider, where it has a meaning that every provider shares, and the scope itself.
 * @param {string} scope
 */
function renderScope(scope) {
  const text = Object.hasOwn(words.standard, scope) ? words.standard[scope] : undefined;
  return text ? [element('span', { class: 'words' }, text), ' ', literal(scope)] : literal(scope);
}

/**
 * @param {Session} session
 * @param {ViewUse} use
 */
function renderStart({ connect, verification }, use) {
  const values = {
    developer: mention(connect.developerName),
    provider: mention(connect.providerName),
    agent: mention(connect.agentName ?? ''),
    host: literal(connect.authorizationHost),
  };
  /** @type {Map<string, HTMLInputElement>} */
  const boxes = new Map();
  const items = connect.scopes.map(({ scope, required, new: isNew }) => {
    const shown = [renderScope(scope), isNew && connect.current ? ` (${words.isNew})` : ''];
    if (required) return element('li', {}, shown);
    const box = element('input', { type: 'checkbox', checked: true });
    boxes.set(scope, box);
    return element('li', {}, element('label', {}, box, element('span', {}, shown)));
  });
  const { current } = connect;
  const account = mention(current?.accountLabel ?? '');
  const parts = [
    paragraph(fill(connect.agentName ? words.leadAgent : words.lead, values)),
    items.length > 0 ? element('ul', { class: 'rows' }, items) : paragraph(fill(words.noScopes, values)),
    current && aside(current.accountLabel ? fill(words.current, { account }) : words.currentUnknown),
    aside(fill(words.next, values)),
  ];
  const label = fill(words.start, { provider: connect.providerName }).join('');
  const wanted = () =>
    connect.scopes.map(({ scope }) => scope).filter((scope) => boxes.get(scope)?.checked ?? true);
  return { parts, go: button(label, () => use.start(wanted()), { disabled: !verification.satisfied }) };
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
  /** @type {(title: Child, scopes: string[]) => Child} */
  const list = (title, scopes) => [
    element('h2', {}, title),
    scopes.length > 0
      ? element(
          'ul',
          { class: 'rows' },
          scopes.map((scope) => element('li', {}, renderScope(scope))),
        )
      : paragraph(words.nothing),
  ];
  const parts = [
    element(
      'p',
      { class: 'headline' },
      accountLabel === null ? words.accountUnknown : fill(words.account, { account: name(accountLabel) }),
    ),
    replaces && paragraph(fill(words.replaces, { service: mention(connect.service) })),
    replaces && element('label', {}, box, element('span', {}, words.allowReplacing)),
    list(words.granted, scopesGranted),
    missing.length > 0 && list(fill(words.missing, { developer }), missing),
  ];
  return { parts, go: button(words.confirm, () => use.confirm(box.checked)) };
}
