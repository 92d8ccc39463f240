-- Distributes the database of the service with Citus. Made from the catalogue by `npm run generate`.
-- Run it once on the coordinator, after the first start of a release and before there is traffic. The service connects
-- to the coordinator alone.
create extension if not exists citus;

-- Refused by Citus, each with what holds in its place.
-- unique over all developers. Only SEED_API_KEY needs it, and its start takes a lock first.
drop index developers_seeded;
-- from a copied table to a distributed one. Both are deleted only with the account, the index first.
alter table agent_index drop constraint agent_index_developer_id_agent_id_fkey;
-- from a copied table to a distributed one. Both are deleted only with the account, the index first.
alter table api_key_index drop constraint api_key_index_developer_id_key_id_fkey;
-- from a copied table to a distributed one. The erasure of an account deletes the row first.
alter table billing_customers drop constraint billing_customers_developer_id_fkey;
-- from a copied table to a distributed one. Both are deleted together, the index first.
alter table email_verification_index drop constraint email_verification_index_developer_id_verification_id_fkey;
-- from a copied table to a distributed one. Both are deleted together, the index first.
alter table resource_index drop constraint resource_index_developer_id_resource_id_fkey;
-- from a copied table to a distributed one. Both are deleted together, the index first.
alter table scim_token_index drop constraint scim_token_index_developer_id_token_id_fkey;
-- from a copied table to a distributed one. The erasure of an account deletes the row first.
alter table ssf_receivers drop constraint ssf_receivers_developer_id_fkey;
-- from a copied table to a distributed one. Both are deleted together, the index first.
alter table verified_domains drop constraint verified_domains_developer_id_domain_id_fkey;
-- from a copied table to a distributed one. Closing an account deletes the row first.
alter table verified_emails drop constraint verified_emails_developer_id_fkey;

-- Citus takes no trigger on a distributed table. Those of the shards follow below.
drop trigger append_only on audit_entries;
drop trigger append_only on operator_entries;
drop trigger append_only on audit_erased;
drop trigger erase_only on audit_entries;

-- The rows of a developer are on one node, whatever their table.
select create_distributed_table('developers', 'id');
select create_distributed_table('activity_counts', 'developer_id', colocate_with => 'developers');
select create_distributed_table('activity_starts', 'developer_id', colocate_with => 'developers');
select create_distributed_table('agents', 'developer_id', colocate_with => 'developers');
select create_distributed_table('agent_workloads', 'developer_id', colocate_with => 'developers');
select create_distributed_table('anomalies', 'developer_id', colocate_with => 'developers');
select create_distributed_table('anomaly_channels', 'developer_id', colocate_with => 'developers');
select create_distributed_table('anomaly_counts', 'developer_id', colocate_with => 'developers');
select create_distributed_table('anomaly_messages', 'developer_id', colocate_with => 'developers');
select create_distributed_table('anomaly_rules', 'developer_id', colocate_with => 'developers');
select create_distributed_table('anomaly_sightings', 'developer_id', colocate_with => 'developers');
select create_distributed_table('anomaly_states', 'developer_id', colocate_with => 'developers');
select create_distributed_table('api_keys', 'developer_id', colocate_with => 'developers');
select create_distributed_table('approvers', 'developer_id', colocate_with => 'developers');
select create_distributed_table('approver_sessions', 'developer_id', colocate_with => 'developers');
select create_distributed_table('approver_subscriptions', 'developer_id', colocate_with => 'developers');
select create_distributed_table('sso_connections', 'developer_id', colocate_with => 'developers');
select create_distributed_table('assertion_clients', 'developer_id', colocate_with => 'developers');
select create_distributed_table('assertion_grants', 'developer_id', colocate_with => 'developers');
select create_distributed_table('assertion_trusts', 'developer_id', colocate_with => 'developers');
select create_distributed_table('assertion_uses', 'developer_id', colocate_with => 'developers');
select create_distributed_table('audit_checkpoints', 'developer_id', colocate_with => 'developers');
select create_distributed_table('audit_checks', 'developer_id', colocate_with => 'developers');
select create_distributed_table('audit_entries', 'developer_id', colocate_with => 'developers');
select create_distributed_table('audit_erased', 'developer_id', colocate_with => 'developers');
select create_distributed_table('audit_erasures', 'developer_id', colocate_with => 'developers');
select create_distributed_table('audit_heads', 'developer_id', colocate_with => 'developers');
select create_distributed_table('auth_requests', 'developer_id', colocate_with => 'developers');
select create_distributed_table('billing_events', 'developer_id', colocate_with => 'developers');
select create_distributed_table('blocked_attempts', 'developer_id', colocate_with => 'developers');
select create_distributed_table('grants', 'developer_id', colocate_with => 'developers');
select create_distributed_table('budget_allocations', 'developer_id', colocate_with => 'developers');
select create_distributed_table('budget_entries', 'developer_id', colocate_with => 'developers');
select create_distributed_table('budget_transactions', 'developer_id', colocate_with => 'developers');
select create_distributed_table('caps_call', 'developer_id', colocate_with => 'developers');
select create_distributed_table('caps_counter', 'developer_id', colocate_with => 'developers');
select create_distributed_table('caps_epoch', 'developer_id', colocate_with => 'developers');
select create_distributed_table('caps_slot', 'developer_id', colocate_with => 'developers');
select create_distributed_table('changes', 'developer_id', colocate_with => 'developers');
select create_distributed_table('closed_principals', 'developer_id', colocate_with => 'developers');
select create_distributed_table('connect_sessions', 'developer_id', colocate_with => 'developers');
select create_distributed_table('consent_mails', 'developer_id', colocate_with => 'developers');
select create_distributed_table('consent_records', 'developer_id', colocate_with => 'developers');
select create_distributed_table('members', 'developer_id', colocate_with => 'developers');
select create_distributed_table('console_sessions', 'developer_id', colocate_with => 'developers');
select create_distributed_table('custom_domains', 'developer_id', colocate_with => 'developers');
select create_distributed_table('decisions', 'developer_id', colocate_with => 'developers');
select create_distributed_table('decision_approvals', 'developer_id', colocate_with => 'developers');
select create_distributed_table('decision_cases', 'developer_id', colocate_with => 'developers');
select create_distributed_table('decision_channels', 'developer_id', colocate_with => 'developers');
select create_distributed_table('decision_notices', 'developer_id', colocate_with => 'developers');
select create_distributed_table('email_verifications', 'developer_id', colocate_with => 'developers');
select create_distributed_table('enforced_calls', 'developer_id', colocate_with => 'developers');
select create_distributed_table('failed_request_counts', 'developer_id', colocate_with => 'developers');
select create_distributed_table('failed_requests', 'developer_id', colocate_with => 'developers');
select create_distributed_table('grant_renewals', 'developer_id', colocate_with => 'developers');
select create_distributed_table('idempotent_answers', 'developer_id', colocate_with => 'developers');
select create_distributed_table('legal_holds', 'developer_id', colocate_with => 'developers');
select create_distributed_table('logos', 'developer_id', colocate_with => 'developers');
select create_distributed_table('manifest_versions', 'developer_id', colocate_with => 'developers');
select create_distributed_table('manifests', 'developer_id', colocate_with => 'developers');
select create_distributed_table('member_invitations', 'developer_id', colocate_with => 'developers');
select create_distributed_table('member_recovery_codes', 'developer_id', colocate_with => 'developers');
select create_distributed_table('oauth_clients', 'developer_id', colocate_with => 'developers');
select create_distributed_table('offboardings', 'developer_id', colocate_with => 'developers');
select create_distributed_table('outbox_events', 'developer_id', colocate_with => 'developers');
select create_distributed_table('passkey_challenges', 'developer_id', colocate_with => 'developers');
select create_distributed_table('passkey_evidence', 'developer_id', colocate_with => 'developers');
select create_distributed_table('passkey_users', 'developer_id', colocate_with => 'developers');
select create_distributed_table('passkeys', 'developer_id', colocate_with => 'developers');
select create_distributed_table('passports', 'developer_id', colocate_with => 'developers');
select create_distributed_table('policies', 'developer_id', colocate_with => 'developers');
select create_distributed_table('policy_bundles', 'developer_id', colocate_with => 'developers');
select create_distributed_table('policy_revisions', 'developer_id', colocate_with => 'developers');
select create_distributed_table('policy_sync_secrets', 'developer_id', colocate_with => 'developers');
select create_distributed_table('policy_versions', 'developer_id', colocate_with => 'developers');
select create_distributed_table('principal_addresses', 'developer_id', colocate_with => 'developers');
select create_distributed_table('principal_pseudonyms', 'developer_id', colocate_with => 'developers');
select create_distributed_table('principal_sessions', 'developer_id', colocate_with => 'developers');
select create_distributed_table('quota_counters', 'developer_id', colocate_with => 'developers');
select create_distributed_table('refresh_tokens', 'developer_id', colocate_with => 'developers');
select create_distributed_table('resources', 'developer_id', colocate_with => 'developers');
select create_distributed_table('revocation_statements', 'developer_id', colocate_with => 'developers');
select create_distributed_table('scim_groups', 'developer_id', colocate_with => 'developers');
select create_distributed_table('scim_users', 'developer_id', colocate_with => 'developers');
select create_distributed_table('scim_members', 'developer_id', colocate_with => 'developers');
select create_distributed_table('scim_principals', 'developer_id', colocate_with => 'developers');
select create_distributed_table('scim_tokens', 'developer_id', colocate_with => 'developers');
select create_distributed_table('scim_user_emails', 'developer_id', colocate_with => 'developers');
select create_distributed_table('setup_links', 'developer_id', colocate_with => 'developers');
select create_distributed_table('signal_sources', 'developer_id', colocate_with => 'developers');
select create_distributed_table('signal_receipts', 'developer_id', colocate_with => 'developers');
select create_distributed_table('ssf_streams', 'developer_id', colocate_with => 'developers');
select create_distributed_table('sso_assertions', 'developer_id', colocate_with => 'developers');
select create_distributed_table('sso_connection_domains', 'developer_id', colocate_with => 'developers');
select create_distributed_table('sso_identities', 'developer_id', colocate_with => 'developers');
select create_distributed_table('sso_sessions', 'developer_id', colocate_with => 'developers');
select create_distributed_table('status_lists', 'developer_id', colocate_with => 'developers');
select create_distributed_table('subscriptions', 'developer_id', colocate_with => 'developers');
select create_distributed_table('tlog_checkpoints', 'developer_id', colocate_with => 'developers');
select create_distributed_table('tlog_logs', 'developer_id', colocate_with => 'developers');
select create_distributed_table('tlog_tiles', 'developer_id', colocate_with => 'developers');
select create_distributed_table('tlog_witnesses', 'developer_id', colocate_with => 'developers');
select create_distributed_table('tokens', 'developer_id', colocate_with => 'developers');
select create_distributed_table('usage_daily', 'developer_id', colocate_with => 'developers');
select create_distributed_table('vault_providers', 'developer_id', colocate_with => 'developers');
select create_distributed_table('vault_credentials', 'developer_id', colocate_with => 'developers');
select create_distributed_table('vault_proxy_calls', 'developer_id', colocate_with => 'developers');
select create_distributed_table('vault_proxy_profiles', 'developer_id', colocate_with => 'developers');
select create_distributed_table('verifiable_credentials', 'developer_id', colocate_with => 'developers');
select create_distributed_table('verifiers', 'developer_id', colocate_with => 'developers');
select create_distributed_table('wallet_authorizations', 'developer_id', colocate_with => 'developers');
select create_distributed_table('webhook_deliveries', 'developer_id', colocate_with => 'developers');
select create_distributed_table('webhook_endpoints', 'developer_id', colocate_with => 'developers');

-- Each node has a copy.
-- finds the developer of a key, so it cannot be found by its developer
select create_reference_table('api_key_index');
-- finds the developer of an agent, so it cannot be found by its developer
select create_reference_table('agent_index');
-- finds the developer of a mailed link, so it cannot be found by its developer
select create_reference_table('email_verification_index');
-- holds each address once over all developers
select create_reference_table('verified_emails');
-- finds the developer of a customer of the payment provider
select create_reference_table('billing_customers');
-- holds each domain once over all developers
select create_reference_table('verified_domains');
-- finds the developer of a SCIM token, so it cannot be found by its developer
select create_reference_table('scim_token_index');
-- holds each audience once over all developers, and finds the developer of a client
select create_reference_table('ssf_receivers');
-- finds the developer of a token, so it cannot be found by its developer
select create_reference_table('ssf_tokens');
-- finds the developer of a log, so it cannot be found by its developer
select create_reference_table('tlog_index');
-- holds each URI once over all developers, and finds the developer of a credential
select create_reference_table('resource_index');

-- These stay on the coordinator.
-- schema_migrations: the journal of the migrations, which run on the coordinator
-- schema_functions: the journal of the functions, which are replaced on the coordinator
-- dynamic_clients: clients that have registered themselves, which belong to no developer
-- signing_keys: the few keys of the whole service, which belong to no developer
-- service_did_documents: the times of the service’s own documents, which belong to no developer
-- operator_head: the end of the chain of the operator, who is no developer
-- operator_entries: the chain of the operator, who is no developer

-- A call with nothing but constants runs on the node of its developer. Advisory locks are known to one node only, so
-- functions that take one are not sent anywhere: all of their callers have to meet on the coordinator.
select create_distributed_function('account_runs(text)');
select create_distributed_function('add_scim_user(text,timestamp with time zone,jsonb)');
select create_distributed_function('agent_standing(text,text)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('allocated_units(jsonb)');
select create_distributed_function('allocation_refusal(text,jsonb,text)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('amount_text(numeric)');
select create_distributed_function('as_revoked(text,grants)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('as_subject(text,tokens)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('audit_append(text,timestamp with time zone,jsonb)');
select create_distributed_function('audit_first_seq(text,timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('budget_chain(text,text)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('caps_expire(text,text[],bigint)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('caps_frees_at(text,text,bigint,bigint)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('caps_prune(text,bigint,integer,bigint)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('caps_refund(text,text)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('caps_reserve(text,text,text,jsonb,text,boolean,bigint)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('caps_reset(text,text)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('caps_sent(text,text)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('caps_usage(text,jsonb,bigint)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('caps_used(text,text[])', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('claim_delivery_shares(timestamp with time zone,interval,boolean,text[],text[],integer[])');
select create_distributed_function('claim_idempotent_answer(text,bytea,timestamp with time zone)');
select create_distributed_function('claim_polled_sets(text,text,timestamp with time zone,integer)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('close_ids(text,text,text[],boolean[],timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('close_new_ids(text,text,timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('close_person(text,text,text[],boolean[],timestamp with time zone)');
select create_distributed_function('count_active_grants(text,timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('count_agents(text,timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('count_anomaly_entries(text,bigint,bigint,jsonb,text[])', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('count_anomaly_sightings(text,bigint,bigint,timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('count_approvers(text,timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('count_authorizations(text,timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('count_bundles(text,timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('count_domains(text,timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('count_manifests(text,timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('count_open_requests(text,timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('count_policies(text,timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('count_proxy_profiles(text,timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('count_resources(text,timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('count_scim_groups(text,timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('count_scim_people(text,timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('count_sso_connections(text,timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('count_token_exchanges(text,timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('count_vault_credentials(text,timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('count_vault_providers(text,timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('count_webhooks(text,timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('credentials_beside(text,text[])', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('deliver_events(text,timestamp with time zone,jsonb)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('deliver_events_of(text[],timestamp with time zone[],jsonb[])');
select create_distributed_function('details_above(text,text)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('drop_sets(text,text,timestamp with time zone,bigint)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('due_webhook_developers(timestamp with time zone,boolean,text[],text,integer)');
select create_distributed_function('entry_time(timestamp with time zone)');
select create_distributed_function('erase_only()');
select create_distributed_function('events_first_seq(text,timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('exact_use(text,text,timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('extend_chain(text,timestamp with time zone,jsonb)');
select create_distributed_function('fail_webhook_deliveries(text,text,boolean,text)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('find_active_tree(text,text[])', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('find_asker(text,text)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('find_assertable(text,text)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('find_budget_faults(text)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('find_delegable(text,text,text)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('find_enforceable(text,text,timestamp with time zone,text)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('find_grant(text,text)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('find_redeemable(text,text)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('find_refreshable(text,text)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('find_replaced(text,text,timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('free_status_place(text)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('free_webhook_leases(text,text,boolean,timestamp with time zone,timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('grant_budget(text,text)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('grant_tree(text,text[])', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('has_waiting_set(text,text,timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('hold_credentials(text,text[])', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('hold_open(text,text)');
select create_distributed_function('hold_principal(text,text)');
select create_distributed_function('hold_standing(text,text)');
select create_distributed_function('hold_status_place(text,timestamp with time zone,jsonb)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('hold_token(text,text,timestamp with time zone)');
select create_distributed_function('insert_chained(audit_entries[],outbox_events[])');
select create_distributed_function('is_ended(text,jsonb)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('is_proxy_token_live(text,text,timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('is_use_due(text,grants,tokens,agent_status,timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('keep_credential(text,jsonb)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('lock_account(text)');
select create_distributed_function('lock_delegation(text,text[])');
select create_distributed_function('lock_directory(text)');
select create_distributed_function('lock_policies(text)');
select create_distributed_function('lock_receivers(text)');
select create_distributed_function('may_send_set(text,text,stream_state,text,text,bigint,text)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('move_webhook_deliveries(text,text,boolean)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('next_anomaly_seq(text,bigint,timestamp with time zone,integer)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('note_use(text,text,timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('offboarded_as(text,text)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('open_allocation(text,jsonb)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('pair_needs_renewal(text,text,text,timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('party_lock(text,text,text)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('policies_hold(text,text)');
select create_distributed_function('policies_version(text)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('principal_active(text,text)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('principal_closed(text,text)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('principal_user(text,text)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('record_acts(text,timestamp with time zone,jsonb)');
select create_distributed_function('recount_quota(text,text,timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('refuse_change()');
select create_distributed_function('release_quota(text,text,bigint)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('renewal_causes(text,text,timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('requeue_failed_deliveries(text,text,text,text,timestamp with time zone,integer)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('revoke_branch(text,timestamp with time zone,jsonb)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('revoke_credentials(text,timestamp with time zone,text[])', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('revoke_credentials_of(text,timestamp with time zone,text[])', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('revoke_tree(text,timestamp with time zone,jsonb)');
select create_distributed_function('set_subject(text,jsonb)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('settle_webhook_delivery(text,text,text,timestamp with time zone,timestamp with time zone,webhook_delivery_status,timestamp with time zone,text,integer,text,boolean,timestamp with time zone,integer)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('share_agents(text,text[])', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('share_callers(text,text[])');
select create_distributed_function('share_delegation(text,text[])');
select create_distributed_function('share_persons(text,text[])');
select create_distributed_function('share_principals(text,text[])');
select create_distributed_function('slow_webhook(text,text)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('standing(text,agent_status,timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('take_quota(text,text,bigint,timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('ulid_time(timestamp with time zone)');
select create_distributed_function('usable_of(text,offboarded_kind,text[],text[],text[],timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('use_grant_token(text,text,timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('use_token(text,text,timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('use_tokens(text[],text[],timestamp with time zone[])');
select create_distributed_function('webhook_has_work(text,text,boolean,timestamp with time zone)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('write_allocation(text,timestamp with time zone,jsonb)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('write_assertion(text,timestamp with time zone,jsonb)');
select create_distributed_function('write_debit(text,timestamp with time zone,jsonb)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('write_delegation(text,timestamp with time zone,jsonb)');
select create_distributed_function('write_enforced_call(text,timestamp with time zone,jsonb)');
select create_distributed_function('write_part(text,jsonb,text,text)');
select create_distributed_function('write_receiver_token(text,timestamp with time zone,jsonb)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('write_redemption(text,timestamp with time zone,jsonb)');
select create_distributed_function('write_refund(text,timestamp with time zone,jsonb)', 'p_developer_id', colocate_with => 'developers');
select create_distributed_function('write_request(text,timestamp with time zone,jsonb)');
select create_distributed_function('write_resource_exchange(text,timestamp with time zone,jsonb)');
select create_distributed_function('write_rotation(text,timestamp with time zone,jsonb)');
select create_distributed_function('write_together(jsonb,text)');
select create_distributed_function('write_vault_exchange(text,timestamp with time zone,jsonb)');
select create_distributed_function('write_vault_proxy_call(text,timestamp with time zone,jsonb)');

-- After shards have moved, these have to be made again.
select run_command_on_shards('audit_entries', $$CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()$$);
select run_command_on_shards('operator_entries', $$CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()$$);
select run_command_on_shards('audit_erased', $$CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()$$);
select run_command_on_shards('audit_entries', $$CREATE TRIGGER erase_only BEFORE UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION erase_only()$$);
