import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { api, query } from '../../api/client.ts';
import { dateTime, sayer } from '../../messages/language.ts';
import { Act } from '../../parts/act.tsx';
import { Facts, Page, Panel } from '../../parts/page.tsx';
import { PageLoading, PageProblem } from '../../parts/states.tsx';
import { Id, Status, When } from '../../parts/text.tsx';
import { connectionRoute } from '../routes.ts';
import { Arrivals } from './arrivals.tsx';
import { Change } from './change.tsx';
import { ConsoleAccess } from './console-access.tsx';
import { Values } from './fields.tsx';
import { ByLink } from './links.tsx';
import { type Connection, redirectUri } from './providers.ts';
import { Trial, Use } from './trial.tsx';

const say = sayer('identity');
const Assertions = lazy(() => import('./assertions.tsx'));
const Signals = lazy(() => import('./signals.tsx'));

/** Assertions and signals are read when they are opened, because most connections have none. */
const PARTS = [undefined, 'assertions', 'signals'] as const;

/** One connection: what is set, what arrives, who is asked, and how it ends. */
export function OneConnection() {
  const { connectionId: id } = connectionRoute.useParams();
  const { part } = connectionRoute.useSearch();
  const read = query.useQuery('get', '/v1/sso/connections/{id}', { params: { path: { id } } });
  if (read.error) return <PageProblem error={read.error} reset={() => void read.refetch()} />;
  if (!read.data) return <PageLoading />;
  const connection = read.data;
  return (
    <Page
      trail={<Link to="/identity">{say('all')}</Link>}
      title={connection.name}
      actions={
        <>
          <ByLink connectionId={id} name={connection.name} />
          <Use connection={connection} />
          <Delete connection={connection} />
        </>
      }
    >
      <nav className="views" aria-label={say('parts')}>
        {PARTS.map((one) => (
          <Link
            key={one ?? 'settings'}
            to="/identity/$connectionId"
            params={{ connectionId: id }}
            search={one ? { part: one } : {}}
            activeOptions={{ exact: true }}
          >
            {say(`part-${one ?? 'settings'}`)}
          </Link>
        ))}
      </nav>
      <Suspense>
        {part === 'assertions' && <Assertions connectionId={id} />}
        {part === 'signals' && <Signals connectionId={id} />}
      </Suspense>
      {part === undefined && (
        <>
          <div className="columns">
            <Settings connection={connection} />
            <Trial connection={connection} />
          </div>
          <Arrivals connection={connection} />
          <Change key={connection.updatedAt} connection={connection} />
          <ConsoleAccess key={`console ${connection.updatedAt}`} connection={connection} />
        </>
      )}
    </Page>
  );
}

function Settings({ connection }: { readonly connection: Connection }) {
  const { protocol, status, domains, idpCertificates, spAcsUrl, spEntityId } = connection;
  const at = connection.issuerUrl ?? connection.idpEntityId ?? connection.ldapUrl;
  const given: readonly (readonly [string, string])[] =
    protocol === 'oidc'
      ? [[say('redirectUri'), redirectUri()]]
      : protocol === 'saml'
        ? [
            [say('acsUrl'), spAcsUrl ?? ''],
            [say('entityId'), spEntityId ?? ''],
          ]
        : [];
  return (
    <Panel title={say('settings')}>
      <Facts
        facts={[
          [say('status'), <Status key="status" status={status} />],
          [say('protocol'), say(protocol)],
          [say('providerAt'), <code key="at">{at}</code>],
          ...(connection.clientId ? ([[say('clientId'), connection.clientId]] as const) : []),
          ...(idpCertificates ?? []).map(
            ({ fingerprintSha256, notAfter }) =>
              [
                say('certificate'),
                <span key={fingerprintSha256} title={fingerprintSha256}>
                  {say('until', { date: dateTime(notAfter) })}
                </span>,
              ] as const,
          ),
          [say('domains'), domains.join(', ') || say('anyDomain')],
          [say('lastLogin'), <When key="login" at={connection.lastLoginAt} />],
          [say('id'), <Id key="id" id={connection.id} of={say('id')} />],
        ]}
      />
      {given.length > 0 && <h3>{say('given')}</h3>}
      <Values values={given} />
    </Panel>
  );
}

function Delete({ connection: { id, name } }: { readonly connection: Connection }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  return (
    <Act
      text={say('delete')}
      label={say('deleteOne', { name })}
      title={say('deleteOne', { name })}
      needs="configure"
      isLarge
      run={() => api.DELETE('/v1/sso/connections/{id}', { params: { path: { id } } })}
      after={() => {
        void navigate({ to: '/identity' });
        void queries.invalidateQueries({ queryKey: ['get', '/v1/sso/connections'] });
      }}
    >
      <p>{say('deleteText')}</p>
    </Act>
  );
}
