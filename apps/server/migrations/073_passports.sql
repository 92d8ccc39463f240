-- Owner: passports. Members of a passport beside those of its credential, whose id it has. `proof` is the Data Integrity
-- proof, null without an identity key.
create table passports (
  developer_id text not null,
  id           text not null,
  categories   text[] not null,
  amount       text not null, -- the decimal as it was asked
  currency     text not null,
  parent_id    text,
  proof        jsonb,
  primary key (developer_id, id)
);
-- The passports below another, which end with it.
create index passports_parent on passports (developer_id, parent_id) where parent_id is not null;

-- Owner: passports. The name of a principal in passports: 32 random bytes, so that merchants cannot tell who it is.
create table principal_pseudonyms (
  developer_id text not null,
  principal_id text not null,
  pseudonym    text not null,
  primary key (developer_id, principal_id)
);
