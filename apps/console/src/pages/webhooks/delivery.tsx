import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, query, type Schemas } from '../../api/client.ts';
import { number, sayer } from '../../messages/language.ts';
import { AllowedButton } from '../../parts/allowed-button.tsx';
import { Code } from '../../parts/code.tsx';
import { Facts, Page, Panel } from '../../parts/page.tsx';
import { PageLoading, PageProblem, Problem } from '../../parts/states.tsx';
import { Id, Status, When } from '../../parts/text.tsx';
import { deliveryRoute } from '../routes.ts';

const say = sayer('webhooks');

type Detail = Schemas['WebhookDeliveryDetail'];

const ASKED_AGAIN = 3000; // milliseconds, while something is to come

/** Every attempt at one delivery, what was sent, and when it is sent next. */
export function Delivery() {
  const { webhookId, deliveryId } = deliveryRoute.useParams();
  const read = query.useQuery(
    'get',
    '/v1/webhooks/{id}/deliveries/{deliveryId}',
    {
      params: { path: { id: webhookId, deliveryId } },
      headers: { 'behest-background': '1' }, // reading it again and again is no use of the session
    },
    { refetchInterval: ({ state }) => (state.data?.status === 'pending' ? ASKED_AGAIN : false) },
  );
  if (read.error) return <PageProblem error={read.error} reset={() => void read.refetch()} />;
  if (!read.data) return <PageLoading />;
  const delivery = read.data;
  const { eventType, status, eventId, url, attempts, maxAttempts, nextAttemptAt } = delivery;
  const reason = delivery.lastError && reasonOf(delivery.lastError);
  return (
    <Page
      trail={
        <>
          <Link to="/webhooks">{say('title')}</Link> ›{' '}
          <Link to="/webhooks/$webhookId" params={{ webhookId }}>
            <bdi>{url}</bdi>
          </Link>
        </>
      }
      title={eventType}
      lead={
        <>
          <Status status={status} /> <Id id={deliveryId} of={say('deliveryId')} />
        </>
      }
      actions={<Resend key={deliveryId} delivery={delivery} />}
    >
      {reason && status !== 'delivered' && <p className="verdict bad">{reason}</p>}
      <Panel title={say('attempts')}>
        <Facts
          facts={[
            [say('at'), <When key="made" at={delivery.createdAt} />],
            [say('attempts'), say('attemptsOf', { attempts, maxAttempts })],
            [say('next'), nextAttemptAt ? <When key="next" at={nextAttemptAt} /> : say('noNext')],
            [say('eventId'), <Id key="event" id={eventId} of={say('eventId')} />],
          ]}
        />
        <Timeline attempts={delivery.attemptLog} />
      </Panel>
      <Panel title={say('sent')}>
        <p className="aside">{say('sentText')}</p>
        <div className="exact">
          <Code text={delivery.payload} label={say('payload')} />
        </div>
        <Code text={headersOf(delivery)} label={say('headers')} />
      </Panel>
    </Page>
  );
}

const headersOf = ({ headers }: Detail) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');

function Timeline({ attempts }: { readonly attempts: Detail['attemptLog'] }) {
  if (attempts.length === 0) return <p className="aside">{say('noAttempt')}</p>;
  return (
    <ol className="rows even" aria-label={say('timeline')}>
      {attempts.map(({ n, at, statusCode, error, durationMs }) => (
        <li key={`${n} ${at}`}>
          <span>{say('attempt', { n })}</span>
          <Status status={error === null ? 'delivered' : 'failed'} />
          <span>
            <code>{statusCode ?? error}</code>{' '}
            {durationMs !== null && <span className="aside">{`${number(durationMs)} ms`}</span>}
          </span>
          <When at={at} />
        </li>
      ))}
    </ol>
  );
}

/** The same event once more, as a delivery of its own, whose page then opens. */
function Resend({ delivery: { id: deliveryId, webhookId } }: { readonly delivery: Detail }) {
  const navigate = useNavigate();
  const [state, set] = useState<{ readonly isBusy?: true; readonly error?: unknown }>({});
  const resend = async () => {
    set({ isBusy: true });
    try {
      const call = { params: { path: { id: webhookId, deliveryId } }, body: {} };
      const { data } = await api.POST('/v1/webhooks/{id}/deliveries/{deliveryId}/redeliver', call);
      if (!data) return;
      await navigate({
        to: '/webhooks/$webhookId/$deliveryId',
        params: { webhookId, deliveryId: data.id },
      });
    } catch (error) {
      set({ error });
    }
  };
  return (
    <>
      <AllowedButton
        needs="operate"
        className="button strong"
        isPending={state.isBusy === true}
        onPress={() => void resend()}
      >
        {say('resend')}
      </AllowedButton>
      {state.error !== undefined && <Problem error={state.error} />}
    </>
  );
}

const KNOWN = [
  'redirect_refused',
  'timeout',
  'connection_failed',
  'dns_failed',
  'tls_failed',
  'blocked_address',
  'endpoint_deleted',
] as const;

/** @returns why an attempt failed, and what mends it, in a sentence */
function reasonOf(error: string): string {
  const known = KNOWN.find((each) => each === error);
  if (known) return say(`reason-${known}`);
  const status = error.startsWith('http_') ? error.slice('http_'.length) : error;
  return say(status === '410' ? 'reason-gone' : 'reason-status', { status });
}
