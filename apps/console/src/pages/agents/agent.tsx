import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { api, query, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { Activity } from '../../parts/activity.tsx';
import { AgentStatus } from '../../parts/agents.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Evidence } from '../../parts/evidence.tsx';
import { Facts, Page, Panel } from '../../parts/page.tsx';
import { Loading, PageLoading, PageProblem, Problem } from '../../parts/states.tsx';
import { Stop } from '../../parts/stop.tsx';
import { Table } from '../../parts/table.tsx';
import { Id, Scopes, When } from '../../parts/text.tsx';
import { grantColumns } from '../grants/columns.tsx';
import { agentRoute } from '../routes.ts';

const say = sayer('agent');

/** The page is about one agent. */
const columns = grantColumns.filter(({ id }) => id !== 'agent' && id !== 'id');

export function Agent() {
  const { agentId } = agentRoute.useParams();
  const read = query.useQuery('get', '/v1/agents/{id}', { params: { path: { id: agentId } } });
  if (read.error) return <PageProblem error={read.error} reset={() => void read.refetch()} />;
  if (!read.data) return <PageLoading />;
  const { name, status, description } = read.data;
  return (
    <Page
      trail={<Link to="/agents">{say('all')}</Link>}
      title={name}
      lead={
        <>
          <AgentStatus status={status} /> <Id id={agentId} of={say('id')} />
        </>
      }
      actions={
        <>
          <Evidence of={{ agentId }} />
          <Actions agent={read.data} />
        </>
      }
    >
      {status === 'suspended' && <p className="note">{say('stoppedText')}</p>}
      <Panel title={say('about')}>
        <Facts
          facts={[
            [say('description'), description || say('none')],
            [say('scopes'), <Scopes key="scopes" scopes={read.data.scopes} most={100} />],
            ['DID', <Id key="did" id={read.data.did} of="DID" />],
            [say('origin'), say(read.data.origin)],
            [say('registered'), <When key="created" at={read.data.createdAt} />],
          ]}
        />
      </Panel>
      <Grants agentId={agentId} isStopped={status === 'suspended'} />
    </Page>
  );
}

/** And below them what the agent did, which would move if it came first. */
function Grants({ agentId, isStopped }: { readonly agentId: string; readonly isStopped: boolean }) {
  const { data, error } = query.useQuery('get', '/v1/grants', {
    params: { query: { agentId, status: 'active', limit: 20 } },
  });
  const panel = (
    <Panel
      title={say(isStopped ? 'stoppedGrants' : 'grants')}
      actions={
        <Link to="/grants" search={{ agentId }}>
          {say('allGrants')}
        </Link>
      }
    >
      {error && <Problem error={error} />}
      {!data && !error && <Loading />}
      {data && (
        <Table
          name="grants-of-agent"
          label={say('grants')}
          rows={data.grants}
          columns={columns}
          rowId={({ grantId }) => grantId}
          link={({ grantId }) => ({ to: '/grants/$grantId', params: { grantId } })}
          empty={<p className="aside">{say('noGrants')}</p>}
        />
      )}
    </Panel>
  );
  return (
    <>
      {panel}
      {(data || error) && <Activity title={say('activity')} filter={{ agentId }} />}
    </>
  );
}

function Actions({ agent: { agentId, name, status } }: { readonly agent: Schemas['Agent'] }) {
  const [isRevoking, ask] = useState(false);
  const queries = useQueryClient();
  const params = { path: { id: agentId } };
  const refresh = () => queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === 'get' });
  if (status === 'revoked') return null;
  return (
    <>
      {status === 'suspended' && (
        <Button
          className="button strong"
          onPress={() =>
            void api.PATCH('/v1/agents/{id}', { params, body: { status: 'active' } }).then(refresh)
          }
        >
          {say('resume')}
        </Button>
      )}
      <Button className="button" onPress={() => ask(true)}>
        {say('revoke')}
      </Button>
      {status === 'active' && <Stop target={{ kind: 'agent', id: agentId, name }} />}
      <Confirm
        isOpen={isRevoking}
        close={() => ask(false)}
        title={say('revokeTitle', { name })}
        action={say('revokeAction')}
        run={async () => {
          await api.DELETE('/v1/agents/{id}', { params });
          await refresh();
        }}
      >
        <p>{say('revokeText')}</p>
      </Confirm>
    </>
  );
}
