-- Owner: platform. Where Postgres takes a table for nearly empty (it has no statistics, or was analysed before it was
-- filled), all indexes that begin with the developer cost the same, and it looks a row up by its key in the newest one,
-- which reads all rows of the developer. The look-ups of foreign keys do so too, and no text of a statement changes that.
-- So each index beside the primary key demands that its second column is not null: a search by that column implies this,
-- and a look-up by the key does not, so that only the primary key serves it.
do $$
declare
  it record;
begin
  for it in
    select i.relname as name, t.relname as table_name, c.oid is not null as is_constraint,
        pg_get_indexdef(x.indexrelid) as definition, x.indpred is not null as is_partial,
        pg_get_indexdef(x.indexrelid, 2, true) as searched
      from pg_index x
        join pg_class i on i.oid = x.indexrelid
        join pg_class t on t.oid = x.indrelid
        left join pg_constraint c on c.conindid = x.indexrelid and c.contype = 'u'
      where t.relnamespace = 'public'::regnamespace and not x.indisprimary and x.indnkeyatts > 1
        and pg_get_indexdef(x.indexrelid, 1, true) = 'developer_id'
        -- Statements of the release before name these by their columns (`on conflict`), which a predicate would stop.
        and i.relname not in ('anomalies_unresolved', 'approver_passkeys_credential', 'approvers_mailbox',
          'assertion_grants_standing', 'custom_domains_developer_id_domain_key', 'decisions_open',
          'passkeys_credential', 'vault_credentials_named')
        -- This one serves the order of all rows of a developer.
        and i.relname <> 'policies_order'
      order by i.relname
  loop
    continue when it.definition like '%' || it.searched || ' IS NOT NULL%';
    -- A partial index on the key's own columns serves a look-up by the key as well as the primary key does.
    continue when it.is_partial and it.searched = 'id';
    if it.is_constraint then
      execute format('alter table %I drop constraint %I', it.table_name, it.name);
    else
      execute format('drop index %I', it.name);
    end if;
    execute it.definition || case when it.is_partial then ' and ' else ' where ' end
      || '(' || it.searched || ') is not null';
  end loop;
end
$$;
