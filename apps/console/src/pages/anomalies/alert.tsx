import { Link } from '@tanstack/react-router';
import { query } from '../../api/client.ts';
import { number, sayer } from '../../messages/language.ts';
import { AgentName } from '../../parts/agents.tsx';
import { Code } from '../../parts/code.tsx';
import { Facts, Page, Panel } from '../../parts/page.tsx';
import { PageLoading, PageProblem } from '../../parts/states.tsx';
import { Stop } from '../../parts/stop.tsx';
import { Id, Status, When } from '../../parts/text.tsx';
import { alertRoute } from '../routes.ts';
import { AlertActs } from './alert-acts.tsx';

const say = sayer('anomalies');

/** What a rule saw, about whom, and what was done about it. */
export function Alert() {
  const { alertId } = alertRoute.useParams();
  const read = query.useQuery('get', '/v1/anomaly/alerts/{alertId}', { params: { path: { alertId } } });
  if (read.error) return <PageProblem error={read.error} reset={() => void read.refetch()} />;
  if (!read.data) return <PageLoading />;
  const alert = read.data;
  const { ruleName, severity, status, description, agentId, grantId, principalId, note } = alert;
  return (
    <Page
      trail={<Link to="/anomalies">{say('title')}</Link>}
      title={ruleName}
      lead={
        <>
          <Status status={severity} /> <Status status={status} /> <Id id={alertId} of={say('id')} />
        </>
      }
      actions={
        <>
          <AlertActs alert={alert} isLarge />
          {agentId !== null && <Stop target={{ kind: 'agent', id: agentId, name: agentId }} />}
        </>
      }
    >
      <Panel title={say('about')}>
        <p>{description}</p>
        <Facts
          facts={[
            [
              say('agent'),
              agentId ? (
                <Link key="agent" to="/agents/$agentId" params={{ agentId }}>
                  <AgentName id={agentId} />
                </Link>
              ) : (
                say('noNote')
              ),
            ],
            [
              say('person'),
              principalId ? (
                <Link key="person" to="/people/$principalId" params={{ principalId }}>
                  <bdi>{principalId}</bdi>
                </Link>
              ) : (
                say('noNote')
              ),
            ],
            [
              say('grant'),
              grantId ? (
                <Link key="grant" to="/grants/$grantId" params={{ grantId }}>
                  {grantId}
                </Link>
              ) : (
                say('noNote')
              ),
            ],
            [say('times'), number(alert.occurrences)],
            [say('detected'), <When key="detected" at={alert.detectedAt} />],
            [say('seen'), <When key="seen" at={alert.lastSeenAt} />],
            [say('acknowledged'), <When key="acknowledged" at={alert.acknowledgedAt} />],
            [say('resolved'), <When key="resolved" at={alert.resolvedAt} />],
            [say('note'), <bdi key="note">{note ?? say('noNote')}</bdi>],
          ]}
        />
        <Code text={JSON.stringify(alert.context, null, 2)} label={say('context')} />
      </Panel>
    </Page>
  );
}
