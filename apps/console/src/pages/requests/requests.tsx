import { Link } from '@tanstack/react-router';
import { query, type Schemas } from '../../api/client.ts';
import { sayer, statusWord } from '../../messages/language.ts';
import { AgentName } from '../../parts/agents.tsx';
import { Snippets } from '../../parts/code.tsx';
import { Choice, ClearFilters, TextFilter, useKept } from '../../parts/filters.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, Loading, Problem } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Id, Scopes, Status, When } from '../../parts/text.tsx';
import { requestsRoute } from '../routes.ts';

const say = sayer('requests');

type Request = Schemas['AuthorizationRequest'];

const columns: readonly Column<Request>[] = [
  { id: 'agent', header: say('agent'), cell: ({ agentId }) => <AgentName id={agentId} />, isFixed: true },
  { id: 'person', header: say('person'), cell: ({ principalId }) => <bdi>{principalId}</bdi> },
  { id: 'status', header: say('status'), cell: ({ status }) => <Status status={status} /> },
  { id: 'scopes', header: say('scopes'), cell: ({ scopes }) => <Scopes scopes={scopes} /> },
  { id: 'asked', header: say('asked'), cell: ({ createdAt }) => <When at={createdAt} /> },
  {
    id: 'took',
    header: say('took'),
    isNumber: true,
    cell: ({ createdAt, decidedAt }) => decidedAt && took(Date.parse(decidedAt) - Date.parse(createdAt)),
  },
  { id: 'id', header: say('id'), cell: ({ authRequestId }) => <Id id={authRequestId} of={say('id')} /> },
];

const took = (milliseconds: number) => {
  const seconds = Math.round(milliseconds / 1000);
  return seconds < 120 ? say('seconds', { seconds }) : say('minutes', { minutes: Math.round(seconds / 60) });
};

const STATUSES = ['pending', 'approved', 'denied', 'cancelled', 'consumed', 'expired'] as const;

export function Requests() {
  const { cursor, ...filters } = requestsRoute.useSearch();
  const { status, agentId, principalId } = filters;
  const list = useKept(
    query.useQuery('get', '/v1/authorize', {
      params: { query: { ...filters, limit: 50, ...(cursor && { cursor }) } },
    }),
  );
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <Page
      title={say('title')}
      lead={say('lead')}
      actions={
        <>
          <Link className="button" to="/audit" search={{ action: 'authorization.blocked' }}>
            {say('stopped')}
          </Link>
          <Link className="button" to="/audit" search={{ action: 'authorization.scope_refused' }}>
            {say('beyond')}
          </Link>
        </>
      }
    >
      {list.error && <Problem error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <Loading />}
      {list.data && (
        <Table
          name="requests"
          label={say('title')}
          rows={list.data.requests}
          columns={columns}
          rowId={({ authRequestId }) => authRequestId}
          live={{
            types: ['authorization.*'],
            about: { agentId, principalId },
            readAt: list.dataUpdatedAt,
            load: () => void list.refetch(),
          }}
          paging={{ cursor, nextCursor: list.data.nextCursor }}
          filters={
            <>
              <Choice
                name="status"
                label={say('status')}
                value={status}
                choices={STATUSES.map((each) => [each, statusWord(each)])}
              />
              <TextFilter
                name="principalId"
                label={say('person')}
                value={principalId}
                placeholder="user_42"
              />
              <TextFilter name="agentId" label={say('agentId')} value={agentId} placeholder="ag_…" />
              {isFiltered && <ClearFilters names={['status', 'principalId', 'agentId']} />}
            </>
          }
          empty={
            <NoRequests
              isFiltered={isFiltered || cursor !== undefined}
              goesOn={list.data.nextCursor !== null}
            />
          }
        />
      )}
    </Page>
  );
}

/** A page looks at so many requests only, so it may be empty while the list goes on. */
function NoRequests({ isFiltered, goesOn }: { readonly isFiltered: boolean; readonly goesOn: boolean }) {
  if (goesOn) return <Empty title={say('noneSoFar')}>{<p>{say('goOn')}</p>}</Empty>;
  if (isFiltered) return <Empty title={say('noneOfFilter')}>{null}</Empty>;
  return (
    <Empty title={say('none')}>
      <p>{say('noneText')}</p>
      <Snippets label={say('ask')} snippets={snippets(location.origin)} />
    </Empty>
  );
}

const snippets = (origin: string) => ({
  curl: `curl ${origin}/v1/authorize \\
  -H "authorization: Bearer $BEHEST_API_KEY" \\
  -H 'content-type: application/json' \\
  -d '{"agentId":"<agent id>","principalId":"user_42","scopes":["calendar:read"]}'`,
  CLI: `behest authorize --agent-id <agent id> --principal-id user_42 --scopes calendar:read`,
});
