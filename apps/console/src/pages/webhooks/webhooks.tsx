import { lazy, Suspense, useState } from 'react';
import { query, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { AllowedButton } from '../../parts/allowed-button.tsx';
import { Snippets } from '../../parts/code.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, Loading, Problem } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Id, Scopes, Status, When } from '../../parts/text.tsx';
import { webhooksRoute } from '../routes.ts';

const say = sayer('webhooks');

type Webhook = Schemas['Webhook'];

const columns: readonly Column<Webhook>[] = [
  { id: 'url', header: say('url'), isFixed: true, cell: ({ url }) => <bdi className="url">{url}</bdi> },
  { id: 'status', header: say('status'), cell: ({ status }) => <Status status={status} /> },
  { id: 'events', header: say('events'), cell: ({ events }) => <Scopes scopes={events} /> },
  { id: 'last', header: say('lastDelivery'), cell: ({ lastDeliveryAt }) => <When at={lastDeliveryAt} /> },
  {
    id: 'about',
    header: say('description'),
    isExtra: true,
    cell: ({ description }) => <bdi>{description}</bdi>,
  },
  { id: 'id', header: say('id'), isExtra: true, cell: ({ id }) => <Id id={id} of={say('id')} /> },
];

/** Where the service sends the events of the account. */
export function Webhooks() {
  const { cursor } = webhooksRoute.useSearch();
  const list = query.useQuery('get', '/v1/webhooks', {
    params: { query: { limit: 50, ...(cursor && { cursor }) } },
  });
  return (
    <Page title={say('title')} lead={say('lead')} actions={<Add />}>
      {list.error && <Problem error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <Loading />}
      {list.data && (
        <Table
          name="webhooks"
          label={say('title')}
          rows={list.data.webhooks}
          columns={columns}
          rowId={({ id }) => id}
          link={({ id: webhookId }) => ({ to: '/webhooks/$webhookId', params: { webhookId } })}
          paging={{ cursor, nextCursor: list.data.nextCursor }}
          empty={
            <Empty title={say('none')}>
              <p>{say('noneText')}</p>
              <Snippets label={say('listen')} snippets={snippets(location.origin)} />
            </Empty>
          }
        />
      )}
    </Page>
  );
}

const EndpointDialog = lazy(() => import('./endpoint-dialog.tsx'));

function Add() {
  const [isOpen, open] = useState(false);
  return (
    <>
      <AllowedButton needs="configure" className="button strong" onPress={() => open(true)}>
        {say('add')}
      </AllowedButton>
      {isOpen && (
        <Suspense>
          <EndpointDialog close={() => open(false)} />
        </Suspense>
      )}
    </>
  );
}

const snippets = (origin: string) => ({
  CLI: 'behest webhooks listen --forward http://localhost:3000/webhooks --types grant.*',
  curl: `curl ${origin}/v1/webhooks \\
  -H "authorization: Bearer $BEHEST_API_KEY" \\
  -H 'content-type: application/json' \\
  -d '{"url":"https://hooks.example.com/behest","events":["grant.*"]}'`,
});
