import { Link } from '@tanstack/react-router';
import { api, query, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { Act } from '../../parts/act.tsx';
import { AgentName } from '../../parts/agents.tsx';
import { Code } from '../../parts/code.tsx';
import { Evidence } from '../../parts/evidence.tsx';
import { Facts, Page, Panel } from '../../parts/page.tsx';
import { PageLoading, PageProblem } from '../../parts/states.tsx';
import { Copy, Id, Status, When } from '../../parts/text.tsx';
import { decisionRoute } from '../routes.ts';

const say = sayer('decisions');

type Decision = Schemas['Decision'];

/** What an agent wants to do, who has approved it so far, and until when it waits. */
export function Decision() {
  const { decisionId } = decisionRoute.useParams();
  const read = query.useQuery('get', '/v1/decisions/{id}', { params: { path: { id: decisionId } } });
  if (read.error) return <PageProblem error={read.error} reset={() => void read.refetch()} />;
  if (!read.data) return <PageLoading />;
  const decision = read.data;
  const { connector, tool, status, agentId, grantId, principalId, caseId, caseVersion, url } = decision;
  return (
    <Page
      trail={<Link to="/decisions">{say('title')}</Link>}
      title={`${connector}.${tool}`}
      lead={
        <>
          <Status status={status} /> <Id id={decisionId} of={say('id')} />
        </>
      }
      actions={
        <>
          {caseId !== null && <Evidence of={{ caseId }} label={say('evidence')} />}
          {status === 'pending' && <Cancel decision={decision} />}
        </>
      }
    >
      <Quorum decision={decision} />
      <Panel title={say('about')}>
        <Facts
          facts={[
            [
              say('agent'),
              <Link key="agent" to="/agents/$agentId" params={{ agentId }}>
                <AgentName id={agentId} />
              </Link>,
            ],
            [
              say('person'),
              <Link key="person" to="/people/$principalId" params={{ principalId }}>
                <bdi>{principalId}</bdi>
              </Link>,
            ],
            [
              say('grant'),
              <Link key="grant" to="/grants/$grantId" params={{ grantId }}>
                {grantId}
              </Link>,
            ],
            [
              say('case'),
              caseId === null ? say('noCase') : say('caseOf', { caseId, version: caseVersion ?? '' }),
            ],
            [say('asked'), <When key="asked" at={decision.createdAt} />],
            [say('ends'), <When key="ends" at={decision.expiresAt} />],
            [say('hash'), <code key="hash">{groupsOf(decision.actionHash)}</code>],
          ]}
        />
        <Code text={JSON.stringify(decision.arguments, null, 2)} label={say('arguments')} />
      </Panel>
      {status === 'pending' && (
        <Panel title={say('page')}>
          <p className="aside">{say('pageText')}</p>
          <p>
            <code>{url}</code> <Copy text={url} of={say('page')} />
          </p>
        </Panel>
      )}
    </Page>
  );
}

/** In fours, as approvers see it, so that two people can compare it aloud. */
const groupsOf = (hash: string) =>
  Array.from({ length: Math.ceil(hash.length / 4) }, (_, at) => hash.slice(4 * at, 4 * at + 4)).join(' ');

function Quorum({ decision: { approvals, quorum, status } }: { readonly decision: Decision }) {
  return (
    <Panel title={say('approvals')}>
      <p>
        {say(status === 'pending' ? 'waiting' : 'quorum')}{' '}
        {say('approvalsOf', { count: approvals.length, quorum })}
      </p>
      <ul className="rows">
        {approvals.map(({ approver, at, position, onBehalfOf, relaxed }) => (
          <li key={position}>
            <code>{approver}</code>
            {onBehalfOf !== undefined && <span>{say('onBehalfOf', { name: onBehalfOf })}</span>}
            {relaxed && <span className="aside">{say('relaxed')}</span>}
            <When at={at} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

const Cancel = ({ decision: { decisionId } }: { readonly decision: Decision }) => (
  <Act
    text={say('cancel')}
    label={say('cancel')}
    title={say('cancelTitle')}
    needs="operate"
    isLarge
    run={() => api.POST('/v1/decisions/{id}/cancel', { params: { path: { id: decisionId } }, body: {} })}
  >
    <p>{say('cancelText')}</p>
  </Act>
);
