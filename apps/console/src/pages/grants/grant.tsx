import { Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { query, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { AgentName, GrantStatus, useAgentNames } from '../../parts/agents.tsx';
import { Facts, Page, Panel } from '../../parts/page.tsx';
import { Loading, PageLoading, PageProblem } from '../../parts/states.tsx';
import { Stop } from '../../parts/stop.tsx';
import { Id, Scopes, When } from '../../parts/text.tsx';
import { grantRoute } from '../routes.ts';
import { Limits } from './limits.tsx';
import { Tokens } from './tokens.tsx';

const say = sayer('grant');
const Delegations = lazy(() => import('./tree.tsx'));

export function Grant() {
  const { grantId } = grantRoute.useParams();
  const read = query.useQuery('get', '/v1/grants/{id}', { params: { path: { id: grantId } } });
  if (read.error) return <PageProblem error={read.error} reset={() => void read.refetch()} />;
  if (!read.data) return <PageLoading />;
  return <GrantPage grant={read.data} />;
}

function GrantPage({ grant }: { readonly grant: Schemas['Grant'] }) {
  const { grantId, agentId, principalId, status } = grant;
  const agent = useAgentNames().get(agentId) ?? agentId;
  return (
    <Page
      trail={<Link to="/grants">{say('all')}</Link>}
      title={say('title', { agent, person: principalId })}
      lead={
        <>
          <GrantStatus {...grant} /> <Id id={grantId} of={say('id')} />
        </>
      }
      actions={
        <>
          <a className="button" href={`/v1/grants/${grantId}/receipt?format=html`}>
            {say('receipt')}
          </a>
          {status === 'active' && <Stop target={{ kind: 'grant', id: grantId, name: say('this') }} />}
        </>
      }
    >
      <div className="columns">
        <Panel title={say('authority')}>
          <Facts facts={factsOf(grant)} />
        </Panel>
        <Limits grant={grant} />
      </div>
      <Suspense fallback={<Loading />}>
        <Delegations grant={grant} />
      </Suspense>
      <Tokens grant={grant} />
    </Page>
  );
}

function factsOf(grant: Schemas['Grant']) {
  const { agentId, principalId, scopes, purpose, audience, issuedAt, expiresAt, lastUsedAt } = grant;
  return [
    [
      say('agent'),
      <Link key="agent" to="/agents/$agentId" params={{ agentId }}>
        <AgentName id={agentId} />
      </Link>,
    ],
    [
      say('person'),
      <Link key="person" to="/grants" search={{ principalId }}>
        <bdi>{principalId}</bdi>
      </Link>,
    ],
    [say('scopes'), <Scopes key="scopes" scopes={scopes} most={100} />],
    [say('purpose'), purpose ?? say('none')],
    ...(audience ? [[say('audience'), <code key="audience">{audience}</code>] as const] : []),
    [say('consent'), grant.consentMethod],
    [say('issued'), <When key="issued" at={issuedAt} />],
    [say('expires'), <When key="expires" at={expiresAt} />],
    [say('used'), <When key="used" at={lastUsedAt} />],
    ...(grant.revokedAt
      ? [
          [
            say('revoked'),
            <span key="revoked">
              <When at={grant.revokedAt} /> {grant.revokedReason && `(${grant.revokedReason})`}
            </span>,
          ] as const,
        ]
      : []),
  ] as const;
}
