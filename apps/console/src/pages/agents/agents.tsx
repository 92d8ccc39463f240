import { query, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { AgentStatus } from '../../parts/agents.tsx';
import { Snippets } from '../../parts/code.tsx';
import { Choice } from '../../parts/filters.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, Loading, Problem } from '../../parts/states.tsx';
import { Stop } from '../../parts/stop.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Id, Scopes, When } from '../../parts/text.tsx';
import { agentsRoute } from '../routes.ts';

const say = sayer('agents');

type Agent = Schemas['Agent'];

const columns: readonly Column<Agent>[] = [
  { id: 'name', header: say('name'), cell: ({ name }) => <bdi>{name}</bdi>, isFixed: true },
  { id: 'status', header: say('status'), cell: ({ status }) => <AgentStatus status={status} /> },
  { id: 'scopes', header: say('scopes'), cell: ({ scopes }) => <Scopes scopes={scopes} /> },
  { id: 'id', header: say('id'), cell: ({ agentId }) => <Id id={agentId} of={say('id')} /> },
  { id: 'created', header: say('created'), cell: ({ createdAt }) => <When at={createdAt} /> },
  {
    id: 'stop',
    header: say('actions'),
    isFixed: true,
    cell: ({ agentId, name, status }) =>
      status === 'active' && <Stop size="small" target={{ kind: 'agent', id: agentId, name }} />,
  },
];

export function Agents() {
  const { status, cursor } = agentsRoute.useSearch();
  const list = query.useQuery('get', '/v1/agents', {
    params: { query: { limit: 50, ...(status && { status }), ...(cursor && { cursor }) } },
  });
  return (
    <Page title={say('title')} lead={say('lead')}>
      {list.error && <Problem error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <Loading />}
      {list.data && (
        <Table
          name="agents"
          label={say('title')}
          rows={list.data.agents}
          columns={columns}
          rowId={({ agentId }) => agentId}
          link={({ agentId }) => ({ to: '/agents/$agentId', params: { agentId } })}
          live={{ types: ['agent.*'], readAt: list.dataUpdatedAt, load: () => void list.refetch() }}
          paging={{ cursor, nextCursor: list.data.nextCursor }}
          filters={
            <Choice
              name="status"
              label={say('status')}
              value={status}
              choices={[
                ['active', say('active')],
                ['suspended', say('suspended')],
                ['revoked', say('revoked')],
              ]}
            />
          }
          empty={status === undefined ? <NoAgents /> : <Empty title={say('noneOfStatus')}>{null}</Empty>}
        />
      )}
    </Page>
  );
}

function NoAgents() {
  return (
    <Empty title={say('none')}>
      <p>{say('noneText')}</p>
      <Snippets label={say('register')} snippets={snippets(location.origin)} />
    </Empty>
  );
}

/** The key stays a placeholder: the console has none. */
const snippets = (address: string) => ({
  curl: `curl ${address}/v1/agents \\
  -H "authorization: Bearer $BEHEST_API_KEY" \\
  -H 'content-type: application/json' \\
  -d '{"name":"Travel agent","scopes":["calendar:read"]}'`,
  TypeScript: `import { Behest } from '@behest/sdk';

const behest = new Behest({ baseUrl: '${address}', apiKey: process.env.BEHEST_API_KEY });
await behest.agents.register({ name: 'Travel agent', scopes: ['calendar:read'] });`,
  CLI: `behest agents register --name 'Travel agent' --scopes calendar:read`,
});
