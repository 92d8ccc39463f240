import { query, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { AgentName } from '../../parts/agents.tsx';
import { ClearFilters, TextFilter, useKept } from '../../parts/filters.tsx';
import { Empty, Loading, Problem } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { ShortId, When } from '../../parts/text.tsx';
import { denialsRoute } from '../routes.ts';
import { Groups } from './groups.tsx';

const say = sayer('denials');

type Failed = Schemas['FailedRequest'];

const columns: readonly Column<Failed>[] = [
  { id: 'code', header: say('code'), cell: ({ code }) => <code>{code}</code>, isFixed: true },
  {
    id: 'operation',
    header: say('operation'),
    cell: ({ method, route }) => <code>{`${method} ${route}`}</code>,
    isFixed: true,
  },
  { id: 'status', header: say('status'), cell: ({ status }) => status, isNumber: true },
  {
    id: 'agent',
    header: say('agent'),
    cell: ({ agentId }) => agentId !== null && <AgentName id={agentId} />,
  },
  {
    id: 'key',
    header: say('key'),
    cell: ({ keyId }) => keyId !== null && <ShortId id={keyId} />,
    isExtra: true,
  },
  { id: 'at', header: say('at'), cell: ({ at }) => <When at={at} /> },
];

/** Requests with keys of the account that were refused in the last 72 hours. */
export function FailedRequests() {
  const { code, operationId, agentId, cursor } = denialsRoute.useSearch();
  const filters = { ...(code && { code }), ...(operationId && { operationId }), ...(agentId && { agentId }) };
  const groups = query.useQuery('get', '/v1/requests/groups');
  const list = useKept(
    query.useQuery('get', '/v1/requests', {
      params: { query: { ...filters, limit: 50, ...(cursor && { cursor }) } },
    }),
  );
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <>
      {groups.data && (
        <Groups
          title={say('byCode')}
          groups={groups.data.groups.map((group) => ({
            chooses: { code: group.code, operationId: group.operationId },
            name: group.code,
            note: group.operationId,
            count: group.count,
            isChosen: code === group.code && operationId === group.operationId,
          }))}
        />
      )}
      {groups.data?.truncated && <p className="aside">{say('truncated')}</p>}
      {list.error && <Problem error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <Loading />}
      {list.data && (
        <Table
          name="failed"
          label={say('failed')}
          rows={list.data.requests}
          columns={columns}
          rowId={({ id }) => id}
          link={({ requestId }) => ({ to: '/denials/requests/$requestId', params: { requestId } })}
          paging={{ cursor, nextCursor: list.data.nextCursor }}
          filters={
            <>
              <TextFilter name="code" label={say('code')} value={code} placeholder="NOT_FOUND" />
              <TextFilter
                name="operationId"
                label={say('operation')}
                value={operationId}
                placeholder="agents.get"
              />
              <TextFilter name="agentId" label={say('agentId')} value={agentId} placeholder="ag_…" />
              {isFiltered && <ClearFilters names={['code', 'operationId', 'agentId']} />}
            </>
          }
          empty={
            <Empty title={isFiltered ? say('noneOfFilter') : say('noneFailed')}>
              {!isFiltered && <p>{say('noneFailedText')}</p>}
            </Empty>
          }
        />
      )}
    </>
  );
}
