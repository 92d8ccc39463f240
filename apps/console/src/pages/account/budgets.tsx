import { useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { query, type Schemas } from '../../api/client.ts';
import { money, percent, sayer } from '../../messages/language.ts';
import { AgentName } from '../../parts/agents.tsx';
import { Bar } from '../../parts/bar.tsx';
import { Choice } from '../../parts/filters.tsx';
import { Panel } from '../../parts/page.tsx';
import { Loading, Problem } from '../../parts/states.tsx';

const say = sayer('usage');
const sayOfChart = sayer('chart');

type Allocation = Schemas['BudgetAllocation'];

/** The newest budgets that are read, of which those with the largest share spent are shown. */
const READ = 500;
const SHOWN = 10;

/** What is spent of the budgets of grants that have not ended, against what they allow. */
export default function Budgets({ by }: { readonly by: 'agent' | undefined }) {
  const reads = useQueries({
    queries: (['active', 'exhausted'] as const).map((status) =>
      query.queryOptions('get', '/v1/budget/allocations', { params: { query: { status, limit: READ } } }),
    ),
  });
  const error = reads.find((read) => read.error)?.error;
  const pages = reads.flatMap(({ data }) => data ?? []);
  const isWhole = pages.every(({ nextCursor }) => nextCursor === null);
  const spent = mostSpent(
    pages.flatMap(({ allocations }) => allocations),
    by,
  );
  return (
    <Panel
      title={say('budgets')}
      actions={
        <Choice
          name="by"
          label={say('by')}
          value={by}
          none={say('byGrant')}
          choices={[['agent', say('byAgent')]]}
        />
      }
    >
      {error && <Problem error={error} retry={() => reads.forEach((read) => void read.refetch())} />}
      {reads.some(({ isPending }) => isPending) ? (
        <Loading />
      ) : (
        !error && (spent.length === 0 ? <p className="aside">{say('noBudgets')}</p> : <Plot spent={spent} />)
      )}
      {!isWhole && <p className="aside">{say('newestBudgets', { count: READ })}</p>}
      {spent.length > SHOWN && (
        <p className="aside">{say('mostBudgets', { shown: SHOWN, count: spent.length })}</p>
      )}
    </Panel>
  );
}

interface Spent {
  readonly key: string;
  readonly agentId: string;
  /** Absent where the budgets of an agent are added up. */
  readonly grantId?: string;
  readonly currency: string;
  readonly used: number;
  readonly limit: number;
}

/** Those with the largest share spent first. Amounts of different currencies are not added up. */
function mostSpent(allocations: readonly Allocation[], by: 'agent' | undefined): Spent[] {
  const found = new Map<string, Spent>();
  for (const { agentId, grantId, currency, spent, initialBudget } of allocations) {
    const key = by === 'agent' ? `${agentId} ${currency}` : grantId;
    const { used, limit } = found.get(key) ?? { used: 0, limit: 0 };
    found.set(key, {
      ...{ key, agentId, currency, ...(by === undefined && { grantId }) },
      used: used + Number(spent),
      limit: limit + Number(initialBudget),
    });
  }
  return [...found.values()].sort((one, other) => shareOf(other) - shareOf(one));
}

const shareOf = ({ used, limit }: Spent) => used / limit;

function Plot({ spent }: { readonly spent: readonly Spent[] }) {
  const shown = spent.slice(0, SHOWN);
  return (
    <figure className="chart budgets">
      {shown.map((one) => (
        <Bar
          key={one.key}
          label={<Name spent={one} />}
          used={one.used}
          limit={one.limit}
          value={say('spentOf', { used: amount(one, one.used), limit: amount(one, one.limit) })}
        />
      ))}
      <details>
        <summary>{sayOfChart('table')}</summary>
        <table>
          <caption className="unseen">{say('budgets')}</caption>
          <thead>
            <tr>
              <th scope="col">{say('whose')}</th>
              {(['spent', 'limit', 'left', 'share'] as const).map((name) => (
                <th key={name} scope="col" className="number">
                  {say(name)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((one) => (
              <tr key={one.key}>
                <th scope="row">
                  <Whose spent={one} />
                </th>
                <td className="number">{amount(one, one.used)}</td>
                <td className="number">{amount(one, one.limit)}</td>
                <td className="number">{amount(one, one.limit - one.used)}</td>
                <td className="number">{percent(shareOf(one))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}

const amount = ({ currency }: Spent, value: number) => money(String(value), currency);

/** A budget belongs to a grant. A name that leads somewhere cannot stand in a meter, so the plot has none. */
const Name = ({ spent: { agentId, grantId } }: { readonly spent: Spent }) => (
  <>
    <AgentName id={agentId} /> {grantId !== undefined && <code>{`…${grantId.slice(-6)}`}</code>}
  </>
);

const Whose = ({ spent }: { readonly spent: Spent }) =>
  spent.grantId === undefined ? (
    <Link to="/agents/$agentId" params={{ agentId: spent.agentId }}>
      <Name spent={spent} />
    </Link>
  ) : (
    <Link to="/grants/$grantId" params={{ grantId: spent.grantId }}>
      <Name spent={spent} />
    </Link>
  );
