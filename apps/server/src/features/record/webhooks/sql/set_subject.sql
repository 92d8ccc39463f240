-- The name under which the signals about one subject wait for each other: a grant, a session, a token, a person or an
-- agent. A person has one name, whether an act names the user or one of the user's principals.
create or replace function set_subject(p_developer_id text, p_facts jsonb) returns text language sql stable as
$$
  select coalesce(p_facts ->> 'sessionId', p_facts ->> 'tokenId',
    case when not p_facts ? 'credentialId' then p_facts ->> 'grantId' end, p_facts ->> 'userId',
    principal_user(p_developer_id, p_facts ->> 'principalId'), p_facts ->> 'principalId', p_facts ->> 'agentId')
$$;
