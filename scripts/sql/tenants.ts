import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parsePlPgSQLSync, parseSync } from 'libpg-query';
import { tenantFaults } from './tenant-faults.ts';
import { all, isNode, lastText, statementsInPlpgsql, withoutEnums } from './uses.ts';

/** The parameter in which a function receives its developer. */
const PARAMETER = 'p_developer_id';

/** Functions that go from developer to developer, by the variable that holds the developer whose turn it is. */
const TURNS: Readonly<Record<string, string>> = {
  claim_delivery_shares: 'dev',
  due_webhook_developers: 'dev',
};

interface Ground {
  readonly sources: string;
  readonly migrations: string;
}

/** The tables with a tenant, by the column that holds the tenant. */
function tenantColumns(migrations: string): ReadonlyMap<string, string> {
  const columns = new Map([['developers', 'id']]);
  for (const path of globSync(`${migrations}/*.sql`)) {
    for (const { relation, tableElts } of all('CreateStmt', parseSync(readFileSync(path, 'utf8')))) {
      const names = [...all('ColumnDef', tableElts)].map(({ colname }) => colname);
      if (isNode(relation) && names.includes('developer_id'))
        columns.set(String(relation.relname), 'developer_id');
    }
  }
  return columns;
}

/**
 * Holds every statement in the SQL functions of a checkout against this rule: it compares the tenant of each table that
 * it names with the function's own developer, writes rows of that developer, and hands that developer on.
 * @returns a line for each breach, and a line again for each further one like it
 */
export function tenantProblems({ sources, migrations }: Ground, enums: ReadonlySet<string>): string[] {
  const columns = tenantColumns(migrations);
  const paths = globSync(`${sources}/**/sql/*.sql`).sort();
  const takers = new Set(paths.map((path) => basename(path, '.sql')).filter((name) => !(name in TURNS)));
  // These compute, and know no developer.
  for (const name of ['ulid_time', 'allocated_units', 'amount_text']) takers.delete(name);
  return paths.flatMap((path) => {
    const text = readFileSync(path, 'utf8');
    const tenant = TURNS[basename(path, '.sql')] ?? PARAMETER;
    const { statements, handedOn } = bodyOf(text, enums);
    const faults = statements.flatMap((sql) => tenantFaults(sql, { columns, takers, tenant }));
    const strange = handedOn.filter((given) => given !== tenant);
    return [
      ...faults,
      ...strange.map((given) => `hands ${given ?? 'nothing'} to a function in place of ${tenant}`),
    ].map((fault) => `${basename(path)} ${fault}`);
  });
}

/** The statements of a function, and the first value that each of its dynamic statements is given. */
function bodyOf(text: string, enums: ReadonlySet<string>) {
  const [definition] = all('CreateFunctionStmt', parseSync(text));
  const options = [...all('DefElem', definition?.options)];
  const textOf = (name: string) => lastText(options.find(({ defname }) => defname === name));
  if (textOf('language') === 'sql') return { statements: [textOf('as')], handedOn: [] };
  const dynamic = [...all('PLpgSQL_stmt_dynexecute', parsePlPgSQLSync(withoutEnums(text, enums)))];
  const handedOn = dynamic.map(({ params }) => {
    const [first] = all('PLpgSQL_expr', params);
    return first && String(first.query);
  });
  return { statements: statementsInPlpgsql(text, enums), handedOn };
}
