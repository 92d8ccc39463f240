import { errorCodes } from '@behest/protocol/errors';
import { Link } from '@tanstack/react-router';
import { query, type Schemas } from '../../api/client.ts';
import { number, sayer } from '../../messages/language.ts';
import { AgentName } from '../../parts/agents.tsx';
import { Facts, Page, Panel } from '../../parts/page.tsx';
import { PageLoading, PageProblem } from '../../parts/states.tsx';
import { Id, ShortId, When } from '../../parts/text.tsx';
import { failedRequestRoute } from '../routes.ts';
import { Words } from './change.tsx';

const say = sayer('denials');

const meanings: Readonly<Record<string, { readonly meaning: string }>> = errorCodes;

/** One refused request: what it was, and what to do. */
export function FailedRequest() {
  const { requestId } = failedRequestRoute.useParams();
  const read = query.useQuery('get', '/v1/requests/{requestId}', { params: { path: { requestId } } });
  if (read.error) return <PageProblem error={read.error} reset={() => void read.refetch()} />;
  if (!read.data) return <PageLoading />;
  const { code, at, operationId } = read.data;
  const meaning = meanings[code]?.meaning;
  return (
    <Page
      trail={
        <Link to="/denials" search={{ show: 'failed' }}>
          {say('failed')}
        </Link>
      }
      title={code}
      lead={
        <>
          <When at={at} /> <Id id={requestId} of={say('requestId')} />
        </>
      }
    >
      <Panel title={say('whatToDo')}>
        <p>{meaning === undefined ? say('noMeaning') : <Words text={meaning} />}</p>
        <p className="row-of-links">
          <a href="/docs">{say('reference', { operation: operationId })}</a>
          <Link to="/denials" search={{ show: 'failed', code, operationId }}>
            {say('alike')}
          </Link>
          <Link to="/audit" search={{ requestId }}>
            {say('entriesOf')}
          </Link>
        </p>
      </Panel>
      <Panel title={say('request')}>
        <Facts facts={factsOf(read.data)} />
      </Panel>
    </Page>
  );
}

function factsOf(request: Schemas['FailedRequest']) {
  const { method, route, operationId, status, subReason, agentId, keyId, durationMs } = request;
  return [
    [say('route'), <code key="route">{`${method} ${route}`}</code>],
    [say('operation'), <code key="operation">{operationId}</code>],
    [say('status'), status],
    [say('subReason'), subReason === null ? say('noneGiven') : <code key="reason">{subReason}</code>],
    [
      say('agent'),
      agentId === null ? (
        say('noneGiven')
      ) : (
        <Link key="agent" to="/agents/$agentId" params={{ agentId }}>
          <AgentName id={agentId} />
        </Link>
      ),
    ],
    [
      say('key'),
      keyId === null ? (
        say('noneGiven')
      ) : (
        <Link key="key" to="/keys">
          <ShortId id={keyId} />
        </Link>
      ),
    ],
    [say('took'), say('milliseconds', { count: number(durationMs) })],
  ] as const;
}
