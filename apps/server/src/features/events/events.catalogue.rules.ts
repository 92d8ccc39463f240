/**
 * Every action that the service writes to the audit log by itself, in this release or a later one. The names
 * are reserved from the first day on: an entry under one of them was written by the service, because a
 * developer never could. A name that is not here is not written.
 */
const serviceActions: ReadonlySet<string> = new Set(
  `
  developer.created developer.updated developer.email_verified developer.closed
  apikey.created apikey.rotated apikey.revoked
  agent.created agent.updated agent.suspended agent.resumed agent.revoked
  authorization.requested authorization.approved authorization.denied authorization.cancelled
  authorization.expired authorization.blocked
  grant.created grant.revoked token.issued token.revoked token.reuse_detected token.exchanged
  budget.allocated budget.debited budget.threshold budget.exhausted budget.debit_blocked
  principal.session_created principal.offboarded consent.verification_failed
  fido.registered fido.assertion fido.removed fido.clone_suspected
  policy.created policy.updated policy.deleted policy.bundle_activated policy.sync_requested policy.denied
  policy.secret_rotated
  anomaly.detected anomaly.acknowledged anomaly.resolved anomaly.auto_revoked anomaly.rule_changed
  anomaly.channel_changed compliance.exported
  vc.issued vc.revoked sd-jwt.issued passport.issued passport.revoked
  wallet.authorization.issued wallet.authorization.consumed wallet.authorization.revoked
  vault.credential.stored vault.credential.deleted vault.credential.exchanged vault.credential.refreshed
  vault.credential.refresh_failed vault.exchange_blocked vault.key.rotated
  decision.requested decision.granted decision.denied decision.cancelled decision.consumed
  manifest.updated manifest.deleted tool.enforce case.closed
  sso.login sso.login_failed sso.connection.created sso.connection.updated sso.connection.deleted
  sso.enforcement_changed sso.session.revoked sso.user_linked
  scim.token.created scim.token.deleted scim.user.created scim.user.updated scim.user.deactivated
  scim.user.reactivated scim.user.deleted scim.group.created scim.group.updated scim.group.deleted
  resource.created resource.updated resource.deleted
  domain.created domain.verified domain.lapsed domain.deleted
  webhook.created webhook.updated webhook.deleted
  billing.plan_changed billing.checkout_created billing.portal_created`
    .split(/\s+/)
    .filter(Boolean),
);

export const isServiceAction = (action: string): boolean => serviceActions.has(action);

export const allServiceActions = (): string[] => [...serviceActions];
