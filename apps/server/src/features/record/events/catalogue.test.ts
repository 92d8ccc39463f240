import { globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { grantTo } from '../../../../test/app/flow.ts';
import { startApp } from '../../../../test/app/start-app.ts';
import { catalogue } from '../../../features.ts';
import { act, type DeclaredActs } from '../../../platform/acts.ts';
import { catalogueOf } from './index.ts';

describe('a pattern that subscribers may name', () => {
  test.each([
    'grant.revoked',
    'grant.expired',
    'webhook.test',
    'vault.*',
    'vault.credential.*',
    'sd-jwt.*',
    '*',
  ])('is %s', (pattern) => expect(catalogue.isKnownPattern(pattern)).toBe(true));

  test.each([
    'grant',
    'grant.',
    'grant.*.*',
    '*.revoked',
    'grant.made',
    'Grant.revoked',
    'authorization.blocked',
    '',
  ])('is not %j', (pattern) => expect(catalogue.isKnownPattern(pattern)).toBe(false));
});

describe('an event reaches a subscriber', () => {
  test.each([
    ['of its type', ['agent.created', 'grant.revoked'], 'grant.revoked', true],
    ['of its area', ['grant.*'], 'grant.revoked', true],
    ['of an area around its area', ['vault.*'], 'vault.credential.stored', true],
    ['of all events', ['*'], 'grant.revoked', true],
    ['of all events, when this release does not know the type', ['*'], 'grant.renamed', true],
    ['of a neighbouring type: no', ['grant.created'], 'grant.revoked', false],
    ['of an area that only begins alike: no', ['vault.key.*'], 'vault.credential.stored', false],
    ['of no events: no', [], 'grant.revoked', false],
  ])('%s', (_, patterns, type, isMatched) => expect(catalogue.matches(patterns, type)).toBe(isMatched));

  test.each([
    [['*'], false],
    [['*', 'budget.*'], true],
    [['budget.debited'], true],
  ])('only by name when it is a debit: %j', (patterns, isMatched) => {
    expect(catalogue.matches(patterns, 'budget.debited')).toBe(isMatched);
  });

  test.each([
    [['*'], false],
    [['vault.*'], true],
    [['vault.proxy.*'], true],
  ])('only by name or area when it is a call through the proxy: %j', (patterns, isMatched) => {
    expect(catalogue.matches(patterns, 'vault.proxy.called')).toBe(isMatched);
  });
});

const folder = join(import.meta.dirname, '../..');
const declarations = globSync('**/*.acts.ts', { cwd: folder }).sort();

test.each(declarations)('the acts of %s are in the catalogue', async (file) => {
  const declared: Record<string, DeclaredActs> = await import(join(folder, file));
  const acts = Object.values(declared).flatMap((each) => Object.entries(each));

  const known = acts.map(([name, each]) => [
    name,
    catalogue.isReserved(name) && { isEvent: catalogue.isKnownPattern(name), isEntry: each.isEntry },
  ]);

  expect(known).toEqual(acts);
  expect(acts).not.toEqual([]);
});

/** Every name that subscribers and readers of the audit log may rely on, by what the service makes of it. */
const promised = {
  eventAndEntry: `
    account.stopped account.resumed developer.created developer.updated developer.email_verified developer.closed apikey.created apikey.rotated
    apikey.revoked agent.created agent.updated agent.suspended agent.resumed agent.revoked authorization.requested
    authorization.approved authorization.denied authorization.cancelled authorization.expired grant.created
    grant.revoked grant.reconsent_required token.issued token.revoked token.reuse_detected budget.allocated
    budget.debited budget.refunded budget.threshold budget.exhausted principal.session_created principal.address_proved principal.address_removed principal.session_ended principal.offboarded principal.admitted fido.registered
    fido.assertion fido.removed fido.clone_suspected policy.created policy.updated policy.deleted
    policy.bundle_activated policy.bundle_deleted policy.sync_requested anomaly.detected anomaly.acknowledged anomaly.resolved
    anomaly.auto_revoked anomaly.channel_disabled compliance.exported setup.finished setup.link.created
    setup.link.opened setup.link.revoked signal.received signal.stream_silent vc.issued vc.revoked sd-jwt.issued passport.issued passport.revoked
    wallet.authorization.issued wallet.authorization.consumed wallet.authorization.revoked vault.credential.stored
    vault.credential.deleted vault.credential.exchanged vault.credential.refreshed vault.credential.refresh_failed
    vault.connection.requested vault.connection.connected vault.connection.failed
    vault.connection.reauthorization_required vault.connection.disconnected vault.provider.created
    vault.provider.updated vault.provider.deleted vault.provider.failed
    vault.proxy.called vault.proxy_profile.updated vault.proxy_profile.deleted decision.requested
    decision.first_approval decision.granted decision.denied decision.cancelled decision.superseded decision.expired
    decision.consumed decision.channel_removed manifest.updated manifest.deleted sso.login sso.connection.created sso.connection.updated
    sso.connection.deleted sso.enforcement_changed sso.session.revoked sso.user_linked sso.identity.moved sso.id_jag.updated
    sso.client.created sso.client.updated sso.client.deleted sso.stop.deleted agent.workload.created
    agent.workload.deleted scim.token.created
    scim.token.deleted scim.user.created scim.user.updated scim.user.deactivated scim.user.reactivated
    scim.user.deleted scim.group.created scim.group.updated scim.group.deleted member.invited member.uninvited member.joined
    member.recovery_requested change.proposed change.approved change.withdrawn change.expired
    member.updated member.removed approver.enrolled approver.confirmed approver.updated approver.removed
    approver.recovery_requested approver.recovery_cancelled
    console.recovery_used audit.erased transparency.halted transparency.contradicted resource.created resource.updated resource.deleted
    domain.created domain.verified domain.lapsed domain.deleted webhook.created webhook.updated webhook.disabled webhook.deleted
    ssf.receiver.created ssf.receiver.updated ssf.receiver.deleted ssf.stream.created ssf.stream.updated ssf.stream.deleted
    ssf.stream.paused
    billing.plan_changed verifier.registered revocation.stated`,
  eventOnly:
    'revocation.confirmation_requested grant.expired sd-jwt.presented enforcement.denied decision.reminder webhook.test',
  entryOnly: `
    authorization.blocked authorization.scope_refused policy.denied vault.connection.blocked vault.provider_key.rotated vault.exchange_blocked vault.proxy_blocked budget.debit_blocked
    decision.approval_refused console.sign_in_failed member.passkey_added member.passkey_removed member.clone_suspected consent.verification_failed fido.sign_in_failed approver.sign_in_failed fido.registration_failed fido.updated billing.checkout_created
    compliance.hold_changed idjag.refused signal.ignored signal.refused billing.portal_created tool.enforce tool.refunded case.caps_reset token.exchanged sso.login_failed sso.connection_key.rotated vault.key.rotated policy.secret_rotated
    anomaly.rule_changed anomaly.channel_changed case.closed transparency.restarted console.signed_in
    console.session_ended console.stepped_up member.recovery_codes_made approver.invited approver.passkey_added approver.passkey_removed approver.clone_suspected
    approver.notifications_changed decision.channel_changed
    developer.plan_changed signing_key.rotated`,
};
const namesIn = (text: string) => text.trim().split(/\s+/);
const events = namesIn(`${promised.eventAndEntry} ${promised.eventOnly}`);
const all = [...events, ...namesIn(promised.entryOnly)];

describe('A6: the catalogue', () => {
  test('holds the names that are promised, and no other', () => {
    expect([...catalogue.reserved].sort()).toEqual([...all].sort());
    expect(catalogue.typesOf(events).sort()).toEqual([...events].sort());
    expect(catalogue.typesOf(namesIn(promised.entryOnly))).toEqual([]);
  });

  test('low 9: lets no developer append an entry under any of them', async () => {
    const { asDeveloper } = await startApp({ isShared: true });
    const acme = await asDeveloper({ mode: 'sandbox' });
    const { agentId, did, grantId } = await grantTo(acme);
    const entry = { agentId, agentDid: did, grantId, principalId: 'user_42' };
    const append = (action: string) => acme('POST', '/v1/audit/log', { ...entry, action });

    const refusals = await Promise.all(all.map(append));

    expect(refusals.map((answer) => [answer.statusCode, answer.json().details?.action])).toEqual(
      all.map((action) => [400, action]),
    );
    expect(refusals.every((answer) => answer.json().code === 'RESERVED_ACTION')).toBe(true);
    expect((await append('grant.renamed')).statusCode).toBe(201);
  });
});

test('a name is declared once, and is then no longer reserved', () => {
  const made = { 'vase.made': act() };

  expect(() => catalogueOf([made])).not.toThrow();
  expect(() => catalogueOf([made, made])).toThrow('The act vase.made is declared twice.');
  expect(() => catalogueOf([{ 'signing_key.rotated': act() }])).toThrow('signing_key.rotated');
});
