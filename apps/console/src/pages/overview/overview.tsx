import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { Button } from 'react-aria-components';
import { api, query } from '../../api/client.ts';
import { number, sayer } from '../../messages/language.ts';
import { Page, Panel } from '../../parts/page.tsx';
import { Loading } from '../../parts/states.tsx';
import { Stop } from '../../parts/stop.tsx';
import { Status, When } from '../../parts/text.tsx';
import { HISTORY } from '../../queries.ts';
import { Card, Missing } from './card.tsx';
import { Chain } from './chain.tsx';

const say = sayer('overview');
const Verifications = lazy(() => import('./verifications.tsx'));

export function Overview() {
  return (
    <Page title={say('title')} lead={say('lead')} actions={<Stop target={{ kind: 'all' }} />}>
      <Stopped />
      <Begin />
      <Numbers />
      <div className="chart-place">
        <Suspense fallback={<Loading />}>
          <Verifications />
        </Suspense>
      </div>
      <div className="columns">
        <Anomalies />
        <Approvals />
        <Webhooks />
        <Chain />
      </div>
    </Page>
  );
}

/** The account's own switch, which says for how long nothing has worked. */
function Stopped() {
  const { data } = query.useQuery('get', '/v1/me');
  const queries = useQueryClient();
  if (!data?.stoppedAt) return null;
  const resume = async () => {
    await api.POST('/v1/me/resume', { body: {} });
    await queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === 'get' });
  };
  return (
    <section className="problem" role="alert">
      <h2>{say('stopped')}</h2>
      <p>
        {data.stopReason ?? say('noReason')} · <When at={data.stoppedAt} />
      </p>
      <Button className="button" onPress={() => void resume()}>
        {say('resume')}
      </Button>
    </section>
  );
}

/** For an account in which nothing has happened yet. */
function Begin() {
  const { data } = query.useQuery('get', '/v1/compliance/summary', { params: { query: { since: today() } } });
  if (data?.agents.total !== 0) return null;
  return (
    <section className="panel">
      <h2>
        <Link to="/tour">{say('begin')}</Link>
      </h2>
      <p>{say('beginText')}</p>
    </section>
  );
}

/** Counted by the calendar of UTC, as the service counts. */
const today = () => new Date().toISOString().slice(0, 10);

function Numbers() {
  const summary = query.useQuery('get', '/v1/compliance/summary', { params: { query: { since: today() } } });
  const history = query.useQuery('get', '/v1/usage/history', HISTORY);
  const grants = query.useQuery('get', '/v1/stops/preview');
  const active = grants.data && `${number(grants.data.grants)}${grants.data.truncated ? '+' : ''}`;
  const verifications = history.data?.entries.find(({ date }) => date === today())?.verifications ?? 0;
  return (
    <div className="cards">
      <Card
        name={say('agents')}
        to="/agents"
        search={{ status: 'active' }}
        value={summary.data && number(summary.data.agents.active)}
        error={summary.error}
      />
      <Card
        name={say('grants')}
        to="/grants"
        search={{ status: 'active' }}
        value={active}
        error={grants.error}
      />
      <Card
        name={say('verificationsToday')}
        value={history.data && number(verifications)}
        error={history.error}
      />
      <Card
        name={say('denialsToday')}
        to="/denials"
        value={summary.data && number(summary.data.auditEntries.blocked)}
        error={summary.error}
      />
    </div>
  );
}

function Anomalies() {
  const { data, error } = query.useQuery('get', '/v1/anomaly/alerts', {
    params: { query: { status: 'open', limit: 5 } },
  });
  return (
    <Panel title={say('anomalies')}>
      <Missing error={error} isPending={!data} />
      {data?.data.length === 0 && <p className="aside">{say('noAnomalies')}</p>}
      <ul className="rows">
        {data?.data.map(({ alertId, severity, description, lastSeenAt }) => (
          <li key={alertId}>
            <Status status={severity} />
            <span className="grow">{description}</span>
            <When at={lastSeenAt} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Approvals() {
  const { data, error } = query.useQuery('get', '/v1/decisions', {
    params: { query: { status: 'pending', limit: 5 } },
  });
  return (
    <Panel title={say('approvals')}>
      <Missing error={error} isPending={!data} />
      {data?.decisions.length === 0 && <p className="aside">{say('noApprovals')}</p>}
      <ul className="rows">
        {data?.decisions.map(({ decisionId, connector, tool, principalId, createdAt, approvals, quorum }) => (
          <li key={decisionId}>
            <code>{`${connector}:${tool}`}</code>
            <span className="grow">
              {say('approvalsOf', { count: approvals.length, quorum, person: principalId })}
            </span>
            <When at={createdAt} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Webhooks() {
  const { data, error } = query.useQuery('get', '/v1/webhooks', { params: { query: { limit: 100 } } });
  const disabled = data?.webhooks.filter(({ status }) => status === 'disabled');
  return (
    <Panel title={say('webhooks')}>
      <Missing error={error} isPending={!data} />
      {disabled?.length === 0 && (
        <p className="aside">
          {data?.webhooks.length ? say('noDisabled', { count: data.webhooks.length }) : say('noWebhooks')}
        </p>
      )}
      <ul className="rows">
        {disabled?.map(({ webhookId, url, lastDeliveryAt }) => (
          <li key={webhookId}>
            <Status status="disabled" />
            <span className="grow">{url}</span>
            <When at={lastDeliveryAt} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}
