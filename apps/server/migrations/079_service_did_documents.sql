-- Owner: keys. When the service first had each of its DID documents, for the metadata of their resolution. A document is
-- known by its digest, so instances that start with the same keys agree.
create table service_did_documents (
  did           text not null,
  sha256        text not null, -- base64url
  first_made_at timestamptz not null,
  primary key (did, sha256)
);
