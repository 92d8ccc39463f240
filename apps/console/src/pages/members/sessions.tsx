import { useMemo } from 'react';
import { api, query, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { Act } from '../../parts/act.tsx';
import { Panel } from '../../parts/page.tsx';
import { Loading, Problem } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { When } from '../../parts/text.tsx';
import { membersRoute } from '../routes.ts';
import type { Member } from './rights.ts';

const say = sayer('members');

type Open = Schemas['SessionPage']['sessions'][number];

/** The reader's open sessions; an owner's page has those of everybody. */
export function Sessions({ members }: { readonly members: readonly Member[] }) {
  const { cursor } = membersRoute.useSearch();
  const { data, error, refetch } = query.useQuery('get', '/v1/console/sessions', {
    params: { query: { limit: 50, ...(cursor && { cursor }) } },
  });
  const columns = useMemo(() => columnsOf(members), [members]);
  return (
    <Panel title={say('sessions')}>
      {error && <Problem error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && (
        <Table
          name="sessions"
          label={say('sessions')}
          rows={data.sessions}
          columns={columns}
          rowId={({ id }) => id}
          paging={{ cursor, nextCursor: data.nextCursor }}
          empty={<p className="aside">{say('noSession')}</p>}
        />
      )}
    </Panel>
  );
}

const columnsOf = (members: readonly Member[]): readonly Column<Open>[] => {
  const nameOf = (id: string) => members.find(({ memberId }) => memberId === id)?.displayName ?? id;
  return [
    {
      id: 'member',
      header: say('name'),
      isFixed: true,
      cell: ({ memberId, current }) => (
        <>
          <bdi>{nameOf(memberId)}</bdi> {current && <span className="aside">{say('current')}</span>}
        </>
      ),
    },
    { id: 'by', header: say('openedBy'), cell: ({ openedBy }) => say(`by-${openedBy}`) },
    { id: 'ip', header: say('ip'), cell: ({ ip }) => <code>{ip}</code> },
    { id: 'seen', header: say('seen'), cell: ({ lastSeenAt }) => <When at={lastSeenAt} /> },
    { id: 'expires', header: say('expires'), cell: ({ expiresAt }) => <When at={expiresAt} /> },
    {
      id: 'end',
      header: say('actions'),
      isFixed: true,
      cell: ({ id, memberId, current }) =>
        !current && (
          <Act
            text={say('end')}
            label={say('endOne', { name: nameOf(memberId) })}
            title={say('endOne', { name: nameOf(memberId) })}
            run={() => api.DELETE('/v1/console/sessions/{id}', { params: { path: { id } } })}
          >
            <p>{say('endText')}</p>
          </Act>
        ),
    },
  ];
};
