import type pg from 'pg';

/** The facts of a migrated database that decide how it can be distributed. */
export interface Catalogue {
  readonly tables: readonly { readonly name: string; readonly columns: readonly string[] }[];
  /** Indexes that hold rows apart, those of primary keys included. */
  readonly uniques: readonly {
    readonly name: string;
    readonly table: string;
    readonly columns: readonly string[];
  }[];
  readonly foreignKeys: readonly ForeignKey[];
  readonly triggers: readonly {
    readonly name: string;
    readonly table: string;
    readonly definition: string;
  }[];
  readonly functions: readonly SqlFunction[];
}

interface ForeignKey {
  readonly name: string;
  readonly table: string;
  readonly columns: readonly string[];
  readonly target: string;
  readonly targetColumns: readonly string[];
}

export interface SqlFunction {
  readonly name: string;
  /** Types only, as a reference to the function needs them. */
  readonly signature: string;
  readonly argumentNames: readonly string[];
  readonly body: string;
}

export async function catalogueOf(db: pg.Client): Promise<Catalogue> {
  const list = async <Row>(statement: string) =>
    (await db.query<{ row: Row }>(statement)).rows.map(({ row }) => row);
  return {
    tables: await list(TABLES),
    uniques: await list(UNIQUES),
    foreignKeys: await list(FOREIGN_KEYS),
    triggers: await list(TRIGGERS),
    functions: await list(FUNCTIONS),
  };
}

const TABLES = `
  select json_build_object('name', c.relname, 'columns', (select json_agg(a.attname order by a.attnum)
    from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped)) as row
  from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' order by c.relname`;

const UNIQUES = `
  select json_build_object('name', i.relname, 'table', c.relname, 'columns', (select json_agg(a.attname)
    from pg_attribute a where a.attrelid = c.oid and a.attnum = any (x.indkey))) as row
  from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class c on c.oid = x.indrelid
  where c.relnamespace = 'public'::regnamespace and x.indisunique order by i.relname`;

const FOREIGN_KEYS = `
  select json_build_object('name', k.conname, 'table', c.relname, 'target', t.relname,
    'columns', (select json_agg(a.attname order by n) from unnest(k.conkey) with ordinality u (num, n)
      join pg_attribute a on a.attrelid = c.oid and a.attnum = num),
    'targetColumns', (select json_agg(a.attname order by n) from unnest(k.confkey) with ordinality u (num, n)
      join pg_attribute a on a.attrelid = t.oid and a.attnum = num)) as row
  from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_class t on t.oid = k.confrelid
  where k.contype = 'f' and c.relnamespace = 'public'::regnamespace order by k.conname`;

const TRIGGERS = `
  select json_build_object('name', t.tgname, 'table', c.relname, 'definition', pg_get_triggerdef(t.oid)) as row
  from pg_trigger t join pg_class c on c.oid = t.tgrelid
  where not t.tgisinternal and c.relnamespace = 'public'::regnamespace order by t.tgname`;

const FUNCTIONS = `
  select json_build_object('name', p.proname, 'signature', p.oid::regprocedure::text,
    'argumentNames', coalesce(p.proargnames[1:p.pronargs], '{}'), 'body', p.prosrc) as row
  from pg_proc p where p.pronamespace = 'public'::regnamespace order by p.proname`;
