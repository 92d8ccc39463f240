import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { query, type Schemas } from '../../api/client.ts';
import { sayer, statusWord } from '../../messages/language.ts';
import { Choice, ClearFilters, TextFilter, useKept } from '../../parts/filters.tsx';
import { Panel } from '../../parts/page.tsx';
import { Empty, Loading, Problem } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Id, Status, When } from '../../parts/text.tsx';
import { webhookRoute } from '../routes.ts';
import { Recover } from './recover.tsx';

const say = sayer('webhooks');

type Delivery = Schemas['WebhookDelivery'];

const STATUSES = ['pending', 'delivered', 'failed'] as const;

const columns: readonly Column<Delivery>[] = [
  { id: 'event', header: say('event'), isFixed: true, cell: ({ eventType }) => <code>{eventType}</code> },
  { id: 'status', header: say('status'), cell: ({ status }) => <Status status={status} /> },
  { id: 'answer', header: say('answer'), cell: (delivery) => <code>{answerOf(delivery)}</code> },
  {
    id: 'attempts',
    header: say('attempts'),
    isNumber: true,
    cell: ({ attempts, maxAttempts }) => say('attemptsOf', { attempts, maxAttempts }),
  },
  { id: 'made', header: say('at'), cell: ({ createdAt }) => <When at={createdAt} /> },
  {
    id: 'next',
    header: say('next'),
    cell: ({ nextAttemptAt }) => nextAttemptAt && <When at={nextAttemptAt} />,
  },
  {
    id: 'id',
    header: say('deliveryId'),
    isExtra: true,
    cell: ({ id }) => <Id id={id} of={say('deliveryId')} />,
  },
];

/** What the receiver answered last, or why no answer came. */
const answerOf = ({ lastStatusCode, lastError }: Delivery) => lastStatusCode ?? lastError;

/** What was sent to an address, the newest first. */
export function Deliveries({ webhookId }: { readonly webhookId: string }) {
  const { cursor, status, eventType } = webhookRoute.useSearch();
  const filter = { ...(status && { status }), ...(eventType && { eventType }) };
  const list = useKept(
    query.useQuery('get', '/v1/webhooks/{id}/deliveries', {
      params: {
        path: { id: webhookId },
        query: { ...filter, limit: 50, ...(cursor && { cursor }) },
      },
    }),
    webhookId,
  );
  const isFiltered = Object.keys(filter).length > 0;
  const rows = list.data?.deliveries;
  const success = useMemo(() => successOf(rows ?? []), [rows]);
  return (
    <Panel
      title={say('deliveries')}
      actions={
        <span className="actions">
          <Link className="button" to="/webhooks/signature">
            {say('checkSignature')}
          </Link>
          <Recover webhookId={webhookId} />
        </span>
      }
    >
      {list.error && <Problem error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <Loading />}
      {rows && rows.length > 0 && !isFiltered && <p className="aside">{success}</p>}
      {rows && (
        <Table
          name="deliveries"
          label={say('deliveries')}
          rows={rows}
          columns={columns}
          rowId={({ id }) => id}
          link={({ id: deliveryId }) => ({
            to: '/webhooks/$webhookId/$deliveryId',
            params: { webhookId, deliveryId },
          })}
          paging={{ cursor, nextCursor: list.data?.nextCursor }}
          filters={
            <>
              <Choice
                name="status"
                label={say('status')}
                value={status}
                choices={STATUSES.map((each) => [each, statusWord(each)])}
              />
              <TextFilter
                name="eventType"
                label={say('event')}
                value={eventType}
                placeholder="grant.revoked"
              />
              {isFiltered && <ClearFilters names={['status', 'eventType']} />}
            </>
          }
          empty={
            <Empty title={say(isFiltered ? 'noneOfFilter' : 'noDelivery')}>
              {isFiltered ? null : <p>{say('noDeliveryText')}</p>}
            </Empty>
          }
        />
      )}
    </Panel>
  );
}

/** How those on the page went. */
function successOf(rows: readonly Delivery[]): string {
  const count = (status: Delivery['status']) => rows.filter((row) => row.status === status).length;
  return say('success', {
    count: rows.length,
    delivered: count('delivered'),
    failed: count('failed'),
    pending: count('pending'),
  });
}
