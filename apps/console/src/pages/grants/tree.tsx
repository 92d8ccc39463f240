import { useRouter } from '@tanstack/react-router';
import { Button, Collection, Tree, TreeItem, TreeItemContent } from 'react-aria-components';
import { query, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { AgentName } from '../../parts/agents.tsx';
import { Panel } from '../../parts/page.tsx';
import { Loading, Problem } from '../../parts/states.tsx';
import { Status } from '../../parts/text.tsx';

const say = sayer('grant');

type Grant = Schemas['Grant'];

const MOST = 200;

/** The grants that come from the same consent, each with what it lost against the one above it. */
export function Delegations({ grant }: { readonly grant: Grant }) {
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
  readonly children: readonly Node[];
}

interface GrantTreeProps {
  readonly root: Grant;
  readonly others: readonly Grant[];
  readonly current: string;
}

function GrantTree({ root, others, current }: GrantTreeProps) {
  const router = useRouter();
  const node = nodeOf(root, undefined, others);
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
      {function draw({ grant, lost, children }) {
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
                  <Status status={grant.status} />
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

function nodeOf(grant: Grant, parent: Grant | undefined, others: readonly Grant[]): Node {
  return {
    grant,
    lost: parent ? parent.scopes.filter((scope) => !grant.scopes.includes(scope)) : [],
    children: others
      .filter(({ parentGrantId }) => parentGrantId === grant.grantId)
      .map((child) => nodeOf(child, grant, others)),
  };
}
