import type { Declared } from '../../../platform/acts.ts';

/**
 * Names that features of later releases will write. No developer may use them, from the first release on, so
 * the service wrote every audit entry under such a name. A name moves to the `<noun>.acts.ts` of its feature
 * when the feature is built.
 */
const acts = `
  developer.email_verified developer.closed budget.allocated budget.debited budget.threshold
  budget.exhausted principal.offboarded fido.registered fido.assertion fido.removed fido.clone_suspected
  policy.created policy.updated policy.deleted policy.bundle_activated policy.sync_requested
  anomaly.detected anomaly.acknowledged anomaly.resolved anomaly.auto_revoked compliance.exported
  vc.issued vc.revoked sd-jwt.issued passport.issued passport.revoked wallet.authorization.issued
  wallet.authorization.consumed wallet.authorization.revoked vault.credential.stored
  vault.credential.deleted vault.credential.exchanged vault.credential.refreshed
  vault.credential.refresh_failed decision.requested decision.granted decision.denied decision.cancelled
  decision.consumed manifest.updated manifest.deleted sso.login sso.connection.created
  sso.connection.updated sso.connection.deleted sso.enforcement_changed sso.session.revoked
  sso.user_linked scim.token.created scim.token.deleted scim.user.created scim.user.updated
  scim.user.deactivated scim.user.reactivated scim.user.deleted scim.group.created scim.group.updated
  scim.group.deleted resource.created resource.updated resource.deleted domain.created domain.verified
  domain.lapsed domain.deleted billing.plan_changed`;

const announcements = `
  sd-jwt.presented enforcement.denied`;

const entries = `
  authorization.blocked policy.denied vault.exchange_blocked budget.debit_blocked token.exchanged
  tool.enforce case.closed policy.secret_rotated anomaly.rule_changed anomaly.channel_changed
  vault.key.rotated sso.login_failed billing.checkout_created billing.portal_created`;

export const reservedActs: Readonly<Record<string, Declared>> = {
  ...declared(acts, { isEvent: true, isEntry: true }),
  ...declared(announcements, { isEvent: true, isEntry: false }),
  ...declared(entries, { isEvent: false, isEntry: true }),
};

function declared(names: string, kind: Declared) {
  const each = names.split(/\s+/).filter(Boolean);
  return Object.fromEntries(each.map((name) => [name, kind]));
}
