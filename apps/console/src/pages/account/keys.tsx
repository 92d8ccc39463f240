import { useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { Button } from 'react-aria-components';
import { api, query, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, Loading, Problem } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Id, Status, When } from '../../parts/text.tsx';
import { keysRoute } from '../routes.ts';

const say = sayer('keys');

type Key = Schemas['ApiKey'];

const columns: readonly Column<Key>[] = [
  {
    id: 'name',
    header: say('name'),
    isFixed: true,
    cell: ({ name, current }) => (
      <>
        <bdi>{name}</bdi> {current && <span className="aside">{say('current')}</span>}
      </>
    ),
  },
  { id: 'role', header: say('role'), cell: ({ role }) => say(role) },
  { id: 'prefix', header: say('prefix'), cell: ({ prefix }) => <code>{prefix}…</code> },
  { id: 'status', header: say('status'), cell: ({ status }) => <Status status={status} /> },
  { id: 'used', header: say('used'), cell: ({ lastUsedAt }) => <When at={lastUsedAt} /> },
  { id: 'created', header: say('created'), cell: ({ createdAt }) => <When at={createdAt} /> },
  {
    id: 'expires',
    header: say('expires'),
    cell: ({ expiresAt }) =>
      expiresAt ? <When at={expiresAt} /> : <span className="aside">{say('never')}</span>,
  },
  {
    id: 'id',
    header: say('id'),
    isExtra: true,
    cell: ({ keyId }) => <Id id={keyId} of={say('id')} />,
  },
  { id: 'revoke', header: say('actions'), isFixed: true, cell: (key) => <Revoke apiKey={key} /> },
];

export function Keys() {
  const { cursor } = keysRoute.useSearch();
  const list = query.useQuery('get', '/v1/keys', {
    params: { query: { limit: 50, ...(cursor && { cursor }) } },
  });
  return (
    <Page title={say('title')} lead={say('lead')} actions={<Create />}>
      {list.error && <Problem error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <Loading />}
      {list.data && (
        <Table
          name="keys"
          label={say('title')}
          rows={list.data.keys}
          columns={columns}
          rowId={({ keyId }) => keyId}
          paging={{ cursor, nextCursor: list.data.nextCursor }}
          empty={<Empty title={say('none')}>{null}</Empty>}
        />
      )}
    </Page>
  );
}

function Revoke({ apiKey: { keyId, name, status } }: { readonly apiKey: Key }) {
  const [isOpen, open] = useState(false);
  const queries = useQueryClient();
  if (status === 'revoked' || status === 'expired') return null;
  return (
    <>
      <Button className="stop small" aria-label={say('revokeOne', { name })} onPress={() => open(true)}>
        {say('revoke')}
      </Button>
      <Confirm
        isOpen={isOpen}
        close={() => open(false)}
        title={say('revokeTitle', { name })}
        action={say('revokeAction')}
        run={async () => {
          await api.DELETE('/v1/keys/{id}', { params: { path: { id: keyId } } });
          await queries.invalidateQueries({ queryKey: ['get', '/v1/keys'] });
        }}
      >
        <p>{say('revokeText')}</p>
      </Confirm>
    </>
  );
}

const CreateKey = lazy(() => import('./create-key.tsx'));

function Create() {
  const [isOpen, open] = useState(false);
  return (
    <>
      <Button className="button strong" onPress={() => open(true)}>
        {say('create')}
      </Button>
      {isOpen && (
        <Suspense>
          <CreateKey close={() => open(false)} />
        </Suspense>
      )}
    </>
  );
}
