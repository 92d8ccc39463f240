-- What a developer says about the scopes of a resource, by scope: `{"title", "description", "titles"}`.
alter table resources add column scope_words jsonb not null default '{}';

-- The words under which a person approved, by scope: `{"title", "sha256"}`, of 8 KiB at most. Null where the page had none to show.
alter table auth_requests add column scope_words jsonb;
