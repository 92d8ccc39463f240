/** What is told to subscribers and also written to the audit log. */
const recordedEvents = `
  developer.created developer.updated developer.email_verified developer.closed
  apikey.created apikey.rotated apikey.revoked
  agent.created agent.updated agent.suspended agent.resumed agent.revoked
  authorization.requested authorization.approved authorization.denied authorization.cancelled
  authorization.expired
  grant.created grant.revoked token.issued token.revoked token.reuse_detected
  budget.allocated budget.debited budget.threshold budget.exhausted
  principal.session_created principal.offboarded
  fido.registered fido.assertion fido.removed fido.clone_suspected
  policy.created policy.updated policy.deleted policy.bundle_activated policy.sync_requested
  anomaly.detected anomaly.acknowledged anomaly.resolved anomaly.auto_revoked compliance.exported
  vc.issued vc.revoked sd-jwt.issued passport.issued passport.revoked
  wallet.authorization.issued wallet.authorization.consumed wallet.authorization.revoked
  vault.credential.stored vault.credential.deleted vault.credential.exchanged vault.credential.refreshed
  vault.credential.refresh_failed
  decision.requested decision.granted decision.denied decision.cancelled decision.consumed
  manifest.updated manifest.deleted
  sso.login sso.connection.created sso.connection.updated sso.connection.deleted
  sso.enforcement_changed sso.session.revoked sso.user_linked
  scim.token.created scim.token.deleted scim.user.created scim.user.updated scim.user.deactivated
  scim.user.reactivated scim.user.deleted scim.group.created scim.group.updated scim.group.deleted
  resource.created resource.updated resource.deleted
  domain.created domain.verified domain.lapsed domain.deleted
  webhook.created webhook.updated webhook.deleted billing.plan_changed`;

/** What is told to subscribers only. */
const passingEvents = 'grant.expired sd-jwt.presented enforcement.denied webhook.test';

/** What is written to the audit log and told to nobody. */
const unannouncedActions = `
  authorization.blocked policy.denied vault.exchange_blocked budget.debit_blocked
  consent.verification_failed token.exchanged tool.enforce case.closed
  policy.secret_rotated anomaly.rule_changed anomaly.channel_changed vault.key.rotated sso.login_failed
  billing.checkout_created billing.portal_created`;

const namesIn = (text: string) => text.split(/\s+/).filter(Boolean);

/**
 * Every action that the service writes to the audit log by itself, in this release or a later one. The names
 * are reserved from the first day on: an entry under one of them was written by the service, because a
 * developer never could. A name that is not here is not written.
 */
const serviceActions: ReadonlySet<string> = new Set(namesIn(`${recordedEvents} ${unannouncedActions}`));

export const isServiceAction = (action: string): boolean => serviceActions.has(action);

export const allServiceActions = (): string[] => [...serviceActions];

/** Every type of event that may be subscribed to, in this release or a later one. */
const eventTypes = namesIn(`${recordedEvents} ${passingEvents}`);

/** What a subscriber may name: a type, `*`, or all that begins alike, as `vault.*` or `vault.credential.*`. */
const eventPatterns: ReadonlySet<string> = new Set([
  '*',
  ...eventTypes.flatMap((type) => [type, ...areasOf(type)]),
]);

/** The areas that a type lies in, each as the pattern that names it. */
function areasOf(type: string): string[] {
  const names = type.split('.').slice(0, -1);
  return names.map((_, at) => `${names.slice(0, at + 1).join('.')}.*`);
}

export const isKnownEventPattern = (pattern: string): boolean => eventPatterns.has(pattern);

/** One for each payment: who subscribes to everything does not mean them. */
const onlyWhenNamed: ReadonlySet<string> = new Set(['budget.debited']);

/**
 * The patterns by which a type of event is subscribed to. Each recorded event carries them to the webhooks, so that a
 * release that adds a type says by itself who is told of it.
 */
export const patternsOf = (type: string): string[] => [
  type,
  ...areasOf(type),
  ...(onlyWhenNamed.has(type) ? [] : ['*']),
];

/** Whether who subscribed to `patterns` is told of an event of this type. */
export function matchesEvent(patterns: Iterable<string>, type: string): boolean {
  const matching = patternsOf(type);
  for (const pattern of patterns) if (matching.includes(pattern)) return true;
  return false;
}

/** The types that `patterns` stand for, for a query. */
export function typesOf(patterns: readonly string[]): string[] {
  return eventTypes.filter((type) => matchesEvent(patterns, type));
}
