import { sql } from 'kysely';
import type { Executor } from '../../src/platform/db/db.ts';
import type { Possessions } from '../app/every-route.ts';
import { NAMESAKES } from '../app/namesakes.ts';
import type { Developer } from '../app/start-app.ts';

const NEW = 'new_1';

/**
 * A call of each SQL function by its name, and by a word more where a function is called twice. The rows of the writes are made of the
 * rows that the developer has.
 */
export async function callsOf(db: Executor, acme: Developer, its: Possessions, now: Date) {
  const { developerId } = acme;
  const {
    agentId = '',
    grantId = '',
    tokenId = '',
    webhookId = '',
    deliveryId = '',
    code = '',
    credentialId = '',
  } = its;
  if (!code) throw new Error('The samples hold no approved request.');
  const stated = await rowOf(db, 'verifiable_credentials', developerId, 'true');
  const credential = { ...stated, id: NEW, status_list_idx: (Number(stated.status_list_idx) + 1) % 131_072 };
  const exchanged = await rowOf(db, 'auth_requests', developerId, `status = 'approved'`);
  const grant = await rowOf(db, 'grants', developerId, `id = '${grantId}'`);
  const token = await rowOf(db, 'tokens', developerId, `id = '${tokenId}'`);
  const refresh = await rowOf(db, 'refresh_tokens', developerId, 'true');
  const receiver = await rowOf(db, 'ssf_receivers', developerId, 'true');
  const issued = await rowOf(db, 'ssf_tokens', developerId, `receiver_id = '${receiver.id}'`);
  const leased = `'${now.toISOString()}'::timestamptz + interval '1 minute'`;
  await sql
    .raw(
      `update webhook_deliveries set is_prompt = true, leased_until = ${leased} where id = '${deliveryId}'`,
    )
    .execute(db);
  await sql
    .raw(`insert into webhook_deliveries select (jsonb_populate_record(one, '{"id": "whd_2", "leased_until": null}')).*
    from webhook_deliveries one where id = '${deliveryId}'`)
    .execute(db);
  await sql
    .raw(
      `insert into idempotent_answers values ('${developerId}', '\\x01', '\\x02', 200, '\\x03', 'infinity')`,
    )
    .execute(db);

  const [dev, at] = [`'${developerId}'`, `'${now.toISOString()}'`];
  const json = (value: unknown) => `'${JSON.stringify(value).replaceAll("'", "''")}'::jsonb`;
  const later = { issued_at: now, expires_at: '2030-01-01T00:00:00Z' };
  const nextToken = { ...token, ...later, id: NEW, grant_id: NEW };
  const nextRefresh = { ...refresh, ...later, id: NEW, grant_id: NEW, predecessor_id: null };
  const redemption = {
    grant: { ...grant, id: NEW, root_grant_id: NEW, auth_request_id: exchanged.id },
    ...{ token: nextToken, refresh: nextRefresh, maxWrongVerifiers: 5, grantLimit: 10 },
    policiesVersion: '1',
  };
  const delegation = {
    grant: {
      ...{ ...grant, id: NEW, auth_request_id: null, parent_grant_id: grantId },
      ...{ root_grant_id: grantId, delegation_depth: 1, delegated_by: ['did:a'] },
    },
    ...{ parentTokenId: tokenId, token: nextToken, refresh: nextRefresh, grantLimit: 10 },
    policiesVersion: '1',
  };
  const rotation = {
    refresh: { ...refresh, ...later, id: NEW, predecessor_id: refresh.id },
    token: { ...nextToken, grant_id: grantId },
    policiesVersion: '1',
  };
  const request = { ...exchanged, id: NEW, policies_version: '1' };
  const line = { id: 'alog_1', developerId, action: 'a', metadata: {} };
  const acts = [
    { prefix: `${JSON.stringify(line).slice(0, -1)},"timestamp":"`, suffix: ',"status":"success"}' },
    { eventId: 'evt_1', type: 'grant.revoked', envelope: '{}', patterns: ['grant.*'] },
  ];
  const part = {
    ...{ developerId, at: now, wantedIds: ['alog_1'], locks: [{ name: 'share_agents', ids: [agentId] }] },
    ...{ writes: [{ name: 'write_request', at: now, values: request }], acts: [acts] },
  };
  const [allocation, debit] = [
    await rowOf(db, 'budget_allocations', developerId, 'true'),
    await rowOf(db, 'budget_transactions', developerId, 'true'),
  ];
  const movement = { units: '1', description: '', metadata: {} };
  const step = { id: allocation.id, stands: 'x', transactionId: 'btx_2' };
  const debiting = { ...movement, chain: [grantId], allocations: [{ ...step, debited: 0, shares: {} }] };
  const refunding = {
    ...{ ...movement, refundOf: debit.id, stands: 'y' },
    allocations: [{ ...step, transactionId: 'btx_3', refundOf: debit.id }],
  };
  const proxied = {
    ...{ callId: NEW, tokenId, agentId, grantId, credentialId, credentialVersion: '1', profileVersion: 1 },
    ...{ service: its.service, upstream: 'api', method: 'GET', rule: 'read' },
  };
  const call = (name: string, ...values: string[]) => `select * from ${name}(${values.join(', ')})`;
  const lane = (isPrompt: boolean) => [`'${webhookId}'`, String(isPrompt)];
  const id = (text: unknown) => `'${text}'`;
  const ids = (...texts: unknown[]) => `'{${texts.join(',')}}'`;

  const counter = { key: 'a', limit: 9, units: 1, windowMs: 3_600_000, grainMs: 1 };
  const reserve = (callId: string, counters: unknown[], ...others: string[]) =>
    call('caps_reserve', dev, id(callId), "'f'", json(counters), ...others);
  const anyTime = ["'e1'", 'true', String(now.getTime())];

  return {
    caps_reserve: reserve('call_1', [counter, { ...counter, key: 'b', windowMs: 0 }], ...anyTime),
    'caps_reserve of a full counter': reserve('call_2', [{ ...counter, limit: 1 }], ...anyTime),
    'caps_reserve of a call that was held': reserve('call_1', [counter], ...anyTime),
    caps_expire: call('caps_expire', dev, ids('a'), '0'),
    caps_used: call('caps_used', dev, ids('a')),
    caps_usage: call('caps_usage', dev, json([counter, { ...counter, limit: 1 }]), String(now.getTime())),
    caps_frees_at: call('caps_frees_at', dev, "'a'", '0', '1'),
    caps_refund: call('caps_refund', dev, id('call_1')),
    caps_sent: call('caps_sent', dev, id('call_1')),
    caps_prune: call('caps_prune', dev, '0', '10', '9000000000000'),
    caps_reset: call('caps_reset', dev, "'e2'"),
    find_asker: call('find_asker', dev, id(agentId)),
    write_request: call('write_request', dev, at, json(request)),
    count_active_grants: call('count_active_grants', dev, at),
    find_active_tree: call('find_active_tree', dev, ids(grantId)),
    find_grant: call('find_grant', dev, id(grantId)),
    pair_needs_renewal: call('pair_needs_renewal', dev, id(agentId), "'user_42'", at),
    renewal_causes: call('renewal_causes', dev, id(grantId), at),
    details_above: call('details_above', dev, id(grantId)),
    grant_tree: call('grant_tree', dev, ids(grantId)),
    lock_delegation: call('lock_delegation', dev),
    share_delegation: call('share_delegation', dev),
    lock_account: call('lock_account', dev),
    account_runs: call('account_runs', dev),
    standing: call('standing', dev, "'active'", at),
    agent_standing: call('agent_standing', dev, id(agentId)),
    hold_standing: call('hold_standing', dev, id(agentId)),
    lock_policies: call('lock_policies', dev),
    policies_hold: call('policies_hold', dev, "'1'"),
    policies_version: call('policies_version', dev),
    count_policies: call('count_policies', dev, at),
    count_manifests: call('count_manifests', dev, at),
    count_scim_groups: call('count_scim_groups', dev, at),
    count_scim_people: call('count_scim_people', dev, at),
    lock_directory: call('lock_directory', dev),
    add_scim_user: call(
      'add_scim_user',
      ...[
        dev,
        at,
        json({
          user: { id: NEW, userName: 'new', active: true, at: '2030-01-01', attributes: {} },
          addresses: ['new@acme.test'],
          ids: [{ id: 'new', isFolded: true }],
        }),
      ],
    ),
    principal_user: call('principal_user', dev, "'grace@acme.test'"),
    principal_active: call('principal_active', dev, "'grace@acme.test'"),
    hold_principal: call('hold_principal', dev, "'grace@acme.test'"),
    share_principals: call('share_principals', dev, ids('grace@acme.test')),
    count_bundles: call('count_bundles', dev, at),
    count_approvers: call('count_approvers', dev, at),
    count_proxy_profiles: call('count_proxy_profiles', dev, at),
    count_resources: call('count_resources', dev, at),
    count_sso_connections: call('count_sso_connections', dev, at),
    count_vault_providers: call('count_vault_providers', dev, at),
    revoke_credentials: call('revoke_credentials', dev, at, ids(its.verifiableCredentialId)),
    hold_credentials: call('hold_credentials', dev, ids(its.verifiableCredentialId)),
    credentials_beside: call('credentials_beside', dev, ids(grantId)),
    revoke_credentials_of: call('revoke_credentials_of', dev, at, ids(grantId)),
    // The place in the list is one of chance.
    free_status_place: `select list_id from free_status_place(${dev})`,
    hold_status_place: call('hold_status_place', dev, at, json(credential)),
    keep_credential: call('keep_credential', dev, json(credential)),
    revoke_branch: call(
      'revoke_branch',
      ...[dev, at, json({ ids: [grantId], rootIds: [grantId], reason: 'developer' })],
    ),
    revoke_tree: call(
      'revoke_tree',
      ...[dev, at, json({ rootIds: [grantId], expectedIds: [grantId], reason: 'developer' })],
    ),
    find_delegable: call('find_delegable', dev, id(tokenId), id(agentId)),
    find_redeemable: call('find_redeemable', dev, id(exchanged.id)),
    'find_redeemable of a used code': call('find_redeemable', dev, id(grant.auth_request_id)),
    find_replaced: call('find_replaced', dev, id(grantId), at),
    find_refreshable: call('find_refreshable', dev, id(refresh.id)),
    use_grant_token: call('use_grant_token', dev, id(tokenId), at),
    count_vault_credentials: call('count_vault_credentials', dev, at),
    write_vault_exchange: call(
      'write_vault_exchange',
      ...[dev, at, json({ tokenId, credentialId, version: 1, dataKey: 'v1', keyId: 'k' })],
    ),
    is_proxy_token_live: call('is_proxy_token_live', dev, id(tokenId), at),
    write_vault_proxy_call: call('write_vault_proxy_call', dev, at, json(proxied)),
    hold_token: call('hold_token', dev, id(tokenId), at),
    use_token: call('use_token', dev, id(tokenId), at),
    as_revoked: `select (as_revoked(${dev}, g)).id from grants g where g.developer_id = ${dev} and g.id = ${id(grantId)}`,
    as_subject: `select (as_subject(${dev}, t)).id from tokens t where t.developer_id = ${dev} and t.id = ${id(tokenId)}`,
    is_use_due: `select is_use_due(${dev}, g, t, 'active', ${at}) from grants g, tokens t
      where g.developer_id = ${dev} and g.id = ${id(grantId)} and t.developer_id = ${dev} and t.id = ${id(tokenId)}`,
    note_use: call('note_use', dev, id(grantId), at),
    use_tokens: call('use_tokens', ids(developerId), ids(tokenId), `array[${at}::timestamptz]`),
    find_enforceable: call('find_enforceable', dev, id(tokenId), at, "'acme_mail'"),
    write_enforced_call: call('write_enforced_call', dev, at, json({ callId: NEW, agentId, grantId })),
    write_delegation: call('write_delegation', dev, at, json(delegation)),
    find_assertable: call('find_assertable', dev, id(agentId)),
    write_assertion: call('write_assertion', dev, at, json({ ...delegation, isNew: true })),
    write_resource_exchange: call(
      'write_resource_exchange',
      ...[dev, at, json({ token: { ...nextToken, subject_token_id: tokenId, grant_id: grantId } })],
    ),
    write_receiver_token: call(
      'write_receiver_token',
      ...[dev, at, json({ token: { ...issued, hash: '\\x01' }, shown_hash: receiver.secret_hash })],
    ),
    write_redemption: call('write_redemption', dev, at, json(redemption)),
    write_rotation: call('write_rotation', dev, at, json(rotation)),
    write_together: call('write_together', json([part]), "'1s'"),
    write_part: call('write_part', dev, json(part), "'1s'", "'0'"),
    count_open_requests: call('count_open_requests', dev, at),
    recount_quota: call('recount_quota', dev, "'active_grants'", at),
    count_token_exchanges: call('count_token_exchanges', dev, at),
    count_authorizations: call('count_authorizations', dev, at),
    count_agents: call('count_agents', dev, at),
    share_agents: call('share_agents', dev, ids(agentId)),
    exact_use: call('exact_use', dev, "'webhooks'", at),
    release_quota: call('release_quota', dev, "'active_grants'", '1'),
    take_quota: call('take_quota', dev, "'active_grants'", '10', at),
    'take_quota at the limit': call('take_quota', dev, "'active_grants'", '1', at),
    audit_append: call('audit_append', dev, at, json(acts)),
    extend_chain: call('extend_chain', dev, at, json(acts)),
    insert_chained: `select insert_chained(made.entries, made.events) from extend_chain(${dev}, ${at}, ${json(acts)}) made`,
    entry_time: call('entry_time', at),
    deliver_events_of: call(
      'deliver_events_of',
      ids(developerId),
      `array[${at}::timestamptz]`,
      `array[${json(acts)}]`,
    ),
    audit_first_seq: call('audit_first_seq', dev, "'infinity'"),
    'audit_first_seq of a time': call('audit_first_seq', dev, at),
    record_acts: call('record_acts', dev, at, json(acts)),
    events_first_seq: call('events_first_seq', dev, "'infinity'"),
    'events_first_seq of a time': call('events_first_seq', dev, at),
    claim_delivery_shares: call(
      'claim_delivery_shares',
      ...[at, "'1 minute'", 'true', ids(developerId), '\'{""}\'', "'{5}'"],
    ),
    count_anomaly_entries: call(
      'count_anomaly_entries',
      ...[dev, '0', '1000', json([{ measure: 'hour', sign: 1, scopes: ['calendar:read'] }]), "'{}'"],
    ),
    next_anomaly_seq: call('next_anomaly_seq', dev, '0', at, '1000'),
    count_anomaly_sightings: call('count_anomaly_sightings', dev, '0', '1000', "'2020-01-01'"),
    count_domains: call('count_domains', dev, at),
    count_webhooks: call('count_webhooks', dev, at),
    deliver_events: call('deliver_events', dev, at, json(acts)),
    due_webhook_developers: call('due_webhook_developers', at, 'true', ids(...NAMESAKES), "''", '1'),
    fail_webhook_deliveries: call('fail_webhook_deliveries', dev, ...lane(true), 'null'),
    free_webhook_leases: call('free_webhook_leases', dev, ...lane(true), at, at),
    move_webhook_deliveries: call('move_webhook_deliveries', dev, ...lane(false)),
    settle_webhook_delivery: call(
      'settle_webhook_delivery',
      ...[
        dev,
        id(webhookId),
        id(deliveryId),
        leased,
        at,
        "'delivered'",
        'null',
        'null',
        '204',
        "'u'",
        'true',
        at,
        '40',
      ],
    ),
    requeue_failed_deliveries: call(
      'requeue_failed_deliveries',
      ...[dev, id(webhookId), "''", "'whe'", at, '1000'],
    ),
    claim_polled_sets: call('claim_polled_sets', dev, id(webhookId), at, '10'),
    has_waiting_set: call('has_waiting_set', dev, id(webhookId), at),
    drop_sets: call('drop_sets', dev, id(webhookId), "'2020-01-01'", '10'),
    may_send_set: call(
      'may_send_set',
      dev,
      id(webhookId),
      "'open'",
      "'grant.revoked'",
      "'s'",
      '1',
      "'whd_1'",
    ),
    set_subject: call('set_subject', dev, json({ principalId: 'user_42' })),
    lock_receivers: call('lock_receivers', dev),
    slow_webhook: call('slow_webhook', dev, id(webhookId)),
    webhook_has_work: call('webhook_has_work', dev, ...lane(true), at),
    budget_chain: call('budget_chain', dev, id(grantId)),
    grant_budget: call('grant_budget', dev, id(grantId)),
    amount_text: call('amount_text', '45000'),
    allocated_units: call('allocated_units', json({ initial_units: '1' })),
    allocation_refusal: call('allocation_refusal', dev, json(allocation), id(grantId)),
    open_allocation: call('open_allocation', dev, json({ ...allocation, id: NEW })),
    write_allocation: call('write_allocation', dev, at, json({ ...allocation, id: NEW })),
    write_debit: call('write_debit', dev, at, json(debiting)),
    write_refund: call('write_refund', dev, at, json(refunding)),
    find_budget_faults: call('find_budget_faults', dev),
    hold_open: call('hold_open', dev, id('user_42')),
    close_person: call('close_person', dev, id('user_42'), ids('user_42'), 'array[false]', at),
    close_ids: call('close_ids', dev, id('user_42'), ids('user_42'), 'array[false]', at),
    close_new_ids: call('close_new_ids', dev, id(its.scimUserId), at),
    offboarded_as: call('offboarded_as', dev, id('user_42')),
    principal_closed: call('principal_closed', dev, id('user_42')),
    party_lock: call('party_lock', dev, id('agent'), id(agentId)),
    share_callers: call('share_callers', dev, ids(agentId)),
    share_persons: call('share_persons', dev, ids('user_42')),
    is_ended: call('is_ended', dev, json({ principalId: 'user_42', agentId })),
    usable_of: call('usable_of', dev, id('principal'), ids('user_42'), ids('ada'), ids(grantId), at),
    'usable_of an agent': call('usable_of', dev, id('agent'), ids(agentId), ids(), ids(grantId), at),
    claim_idempotent_answer: call('claim_idempotent_answer', dev, "'\\x01'", at),
  };
}

async function rowOf(db: Executor, table: string, developerId: string, which: string) {
  const { rows } = await sql
    .raw<{ row: Record<string, unknown> }>(
      `select to_jsonb(t) as row from ${table} t where developer_id = '${developerId}' and ${which} limit 1`,
    )
    .execute(db);
  const [first] = rows;
  if (!first) throw new Error(`The samples hold no row of ${table}.`);
  return first.row;
}
