import { useRouter } from '@tanstack/react-router';
import { Button, Collection, Tree, TreeItem, TreeItemContent } from 'react-aria-components';
import { query, type Schemas } from '../../api/client.ts';
import { money, sayer } from '../../messages/language.ts';
import { AgentName, GrantStatus } from '../../parts/agents.tsx';
import { Panel } from '../../parts/page.tsx';
import { Loading, Problem } from '../../parts/states.tsx';

const say = sayer('grant');

type Grant = Schemas['Grant'];
type Budget = NonNullable<Grant['budget']>;

const MOST = 200;

/** The grants that come from the same consent, each with what it lost against the one above it. */
export default function Delegations({ grant }: { readonly grant: Grant }) {
  const { data, error, refetch } = query.useQuery('get', '/v1/grants', {
    params: { query: { rootGrantId: grant.rootGrantId, limit: MOST } },
  });
  const root = query.useQuery(
    'get',
    '/v1/grants/{id}',
    { params: { path: { id: grant.rootGrantId } } },
    { enabled: grant.rootGrantId !== grant.grantId },
  );
  const top = grant.rootGrantId === grant.grantId ? grant : root.data;
  if (error || root.error)
    return <Problem error={error ?? root.error} title={say('noTree')} retry={() => void refetch()} />;
  if (!data || !top) return <Loading />;
  const others = data.grants.filter(({ grantId }) => grantId !== top.grantId);
  return (
    <Panel title={say('delegations')}>
      {others.length === 0 ? (
        <p className="aside">{say('noDelegations')}</p>
      ) : (
        <GrantTree root={top} others={others} current={grant.grantId} />
      )}
      {data.nextCursor && <p className="aside">{say('manyDelegations', { count: MOST })}</p>}
    </Panel>
  );
}

interface Node {
  readonly grant: Grant;
  readonly lost: readonly string[];
  /** The least that is left of the budgets above it. */
  readonly above: Budget | undefined;
  readonly children: readonly Node[];
}

interface GrantTreeProps {
  readonly root: Grant;
  readonly others: readonly Grant[];
  readonly current: string;
}

function GrantTree({ root, others, current }: GrantTreeProps) {
  const router = useRouter();
  const node = nodeOf(root, undefined, { others, above: undefined });
  return (
    <Tree
      className="grant-tree"
      aria-label={say('delegations')}
      items={[node]}
      defaultExpandedKeys={[root, ...others].map(({ grantId }) => grantId)}
      onAction={(grantId) =>
        void router.navigate({ to: '/grants/$grantId', params: { grantId: String(grantId) } })
      }
    >
      {function draw({ grant, lost, above, children }) {
        return (
          <TreeItem id={grant.grantId} textValue={grant.agentId}>
            <TreeItemContent>
              {({ level, hasChildItems, isExpanded }) => (
                <div
                  className={grant.grantId === current ? 'node current' : 'node'}
                  ref={(line) => line?.style.setProperty('--level', String(level - 1))}
                >
                  {hasChildItems ? (
                    <Button slot="chevron" className="chevron">
                      {isExpanded ? '▾' : '▸'}
                    </Button>
                  ) : (
                    <span className="chevron" />
                  )}
                  <strong>
                    <AgentName id={grant.agentId} />
                  </strong>
                  <GrantStatus {...grant} />
                  <span className="scopes">
                    {grant.scopes.map((scope) => (
                      <code key={scope}>{scope}</code>
                    ))}
                    {lost.map((scope) => (
                      <del key={scope} title={say('lost')}>
                        <span className="unseen">{say('lost')} </span>
                        <code>{scope}</code>
                      </del>
                    ))}
                  </span>
                  <span className="node-money">{moneyOf(grant.budget, above)}</span>
                </div>
              )}
            </TreeItemContent>
            <Collection items={children}>{draw}</Collection>
          </TreeItem>
        );
      }}
    </Tree>
  );
}

/** What is left of the money, where a debit takes it from the grant and from all above it. */
function moneyOf(own: Budget | undefined, above: Budget | undefined): string {
  const left = ({ remaining, currency }: Budget) => money(remaining, currency);
  if (!own) return above ? say('moneyAbove', { left: left(above) }) : say('noMoney');
  const limit = money(own.amount, own.currency);
  const isLess = above !== undefined && Number(above.remaining) < Number(own.remaining);
  return isLess
    ? say('moneyLess', { left: left(own), limit, above: left(above) })
    : say('money', { left: left(own), limit });
}

function nodeOf(grant: Grant, parent: Grant | undefined, { others, above }: Rest): Node {
  const { budget } = grant;
  const isLeast = budget && (!above || Number(budget.remaining) < Number(above.remaining));
  const rest = { others, above: isLeast ? budget : above };
  return {
    grant,
    lost: parent ? parent.scopes.filter((scope) => !grant.scopes.includes(scope)) : [],
    above,
    children: others
      .filter(({ parentGrantId }) => parentGrantId === grant.grantId)
      .map((child) => nodeOf(child, grant, rest)),
  };
}

interface Rest {
  readonly others: readonly Grant[];
  readonly above: Budget | undefined;
}
