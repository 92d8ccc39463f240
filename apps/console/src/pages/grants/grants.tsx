import { Link } from '@tanstack/react-router';
import { query } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { Snippets } from '../../parts/code.tsx';
import { Choice, ClearFilters, TextFilter, useKept } from '../../parts/filters.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, Loading, Problem } from '../../parts/states.tsx';
import { Stop } from '../../parts/stop.tsx';
import { Table } from '../../parts/table.tsx';
import { grantsRoute } from '../routes.ts';
import { grantColumns } from './columns.tsx';

const say = sayer('grants');

export function Grants() {
  const { cursor, ...filters } = grantsRoute.useSearch();
  const { status, agentId, principalId, purpose } = filters;
  const list = useKept(
    query.useQuery('get', '/v1/grants', {
      params: { query: { ...filters, limit: 50, ...(cursor && { cursor }) } },
    }),
  );
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <Page
      title={say('title')}
      lead={say('lead')}
      actions={principalId && <Stop target={{ kind: 'person', id: principalId, name: principalId }} />}
    >
      {list.error && <Problem error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <Loading />}
      {list.data && (
        <Table
          name="grants"
          label={say('title')}
          rows={list.data.grants}
          columns={grantColumns}
          rowId={({ grantId }) => grantId}
          link={({ grantId }) => ({ to: '/grants/$grantId', params: { grantId } })}
          live={{
            types: ['grant.*'],
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
                choices={[
                  ['active', say('active')],
                  ['revoked', say('revoked')],
                  ['expired', say('expired')],
                ]}
              />
              <TextFilter
                name="principalId"
                label={say('person')}
                value={principalId}
                placeholder="user_42"
              />
              <TextFilter name="agentId" label={say('agentId')} value={agentId} placeholder="ag_…" />
              <TextFilter name="purpose" label={say('purpose')} value={purpose} />
              {isFiltered && <ClearFilters names={['status', 'principalId', 'agentId', 'purpose']} />}
            </>
          }
          empty={isFiltered ? <Empty title={say('noneOfFilter')}>{null}</Empty> : <NoGrants />}
        />
      )}
    </Page>
  );
}

function NoGrants() {
  return (
    <Empty title={say('none')}>
      <p>
        {say('noneText')} <Link to="/agents">{say('toAgents')}</Link>
      </p>
      <Snippets label={say('ask')} snippets={snippets(location.origin)} />
    </Empty>
  );
}

const snippets = (address: string) => ({
  curl: `curl ${address}/v1/authorize \\
  -H "authorization: Bearer $BEHEST_API_KEY" \\
  -H 'content-type: application/json' \\
  -d '{"agentId":"<agent id>","principalId":"user_42","scopes":["calendar:read"]}'`,
  TypeScript: `const { consentUrl } = await behest.authorize({
  agentId: '<agent id>',
  principalId: 'user_42',
  scopes: ['calendar:read'],
});
// Send the person to consentUrl.`,
  CLI: `behest authorize --agent-id <agent id> --principal-id user_42 --scopes calendar:read`,
});
