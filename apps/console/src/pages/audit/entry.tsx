import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { query } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { Code } from '../../parts/code.tsx';
import { Facts, Page, Panel } from '../../parts/page.tsx';
import { PageLoading, PageProblem } from '../../parts/states.tsx';
import { At, Id, Status } from '../../parts/text.tsx';
import { entryRoute } from '../routes.ts';
import { actorOf, CheckMark, useChecked } from './check.tsx';

const say = sayer('audit');

/** Answers to calls, and refused requests of consent and delegations. */
const EXPLAINED = ['tool.enforce', 'authorization.blocked', 'policy.denied', 'authorization.scope_refused'];

/** Everything that the hash of an entry is made of, and what stands beside it. */
export function Entry() {
  const { entryId } = entryRoute.useParams();
  const read = query.useQuery('get', '/v1/audit/{id}', { params: { path: { id: entryId } } });
  const entries = useMemo(() => read.data && [read.data], [read.data]);
  const checked = useChecked(entries);
  if (read.error) return <PageProblem error={read.error} reset={() => void read.refetch()} />;
  if (!read.data) return <PageLoading />;
  const {
    action,
    status,
    agentId,
    grantId,
    principalId,
    requestId,
    prevHash,
    hash,
    purpose,
    seq,
    actorName,
    actorEmail,
  } = read.data;
  const actor = actorOf(read.data);
  return (
    <Page
      trail={<Link to="/audit">{say('title')}</Link>}
      title={action}
      lead={
        <>
          <Status status={status} /> <CheckMark verdict={checked.get(entryId)} /> <Id id={entryId} />
        </>
      }
      actions={
        EXPLAINED.includes(action) && (
          <Link className="button" to="/denials/$entryId" params={{ entryId }}>
            {say('why')}
          </Link>
        )
      }
    >
      <Panel title={say('hashed')}>
        <Facts
          facts={[
            [say('seq'), seq],
            [say('at'), <At key="at" at={read.data.timestamp} />],
            [
              say('agent'),
              agentId && (
                <Link key="agent" to="/agents/$agentId" params={{ agentId }}>
                  {agentId}
                </Link>
              ),
            ],
            [
              say('grant'),
              grantId && (
                <Link key="grant" to="/grants/$grantId" params={{ grantId }}>
                  {grantId}
                </Link>
              ),
            ],
            [
              say('person'),
              principalId && (
                <Link key="person" to="/people/$principalId" params={{ principalId }}>
                  {principalId}
                </Link>
              ),
            ],
            [say('purpose'), purpose],
            [
              say('actor'),
              actor && (
                <span key="actor">
                  <Link to="/audit" search={{ actor }}>
                    {actor}
                  </Link>{' '}
                  {actorName && (
                    <span className="aside">
                      <bdi>
                        {say('actorNow', { name: [actorName, actorEmail].filter(Boolean).join(', ') })}
                      </bdi>
                    </span>
                  )}
                </span>
              ),
            ],
            [
              say('requestId'),
              requestId && (
                <Link key="request" to="/audit" search={{ requestId }}>
                  {requestId}
                </Link>
              ),
            ],
            [say('hash'), <code key="hash">{hash}</code>],
            [say('prevHash'), <code key="before">{prevHash}</code>],
          ]}
        />
        <Code text={JSON.stringify(read.data.metadata, null, 2)} label={say('metadata')} />
      </Panel>
    </Page>
  );
}
