import { useNavigate } from '@tanstack/react-router';
import { api, query, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { Act } from '../../parts/act.tsx';
import { AllowedButton } from '../../parts/allowed-button.tsx';
import { Page, Panel } from '../../parts/page.tsx';
import { Empty, Loading, Problem } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Id, Status, When } from '../../parts/text.tsx';
import { identityRoute } from '../routes.ts';
import { Links } from './links.tsx';
import type { Connection } from './providers.ts';
import { Tokens } from './scim.tsx';

const say = sayer('identity');

const columns: readonly Column<Connection>[] = [
  { id: 'name', header: say('name'), isFixed: true, cell: ({ name }) => <bdi>{name}</bdi> },
  { id: 'protocol', header: say('protocol'), cell: ({ protocol }) => say(protocol) },
  { id: 'status', header: say('status'), cell: ({ status }) => <Status status={status} /> },
  { id: 'domains', header: say('domains'), cell: ({ domains }) => domains.join(', ') || say('anyDomain') },
  { id: 'tested', header: say('lastTested'), cell: ({ lastTestedAt }) => <When at={lastTestedAt} /> },
  { id: 'login', header: say('lastLogin'), cell: ({ lastLoginAt }) => <When at={lastLoginAt} /> },
  { id: 'id', header: say('id'), isExtra: true, cell: ({ id }) => <Id id={id} of={say('id')} /> },
];

/** Where people of organisations sign in and come from, and what is still to be set up by somebody else. */
export function Identity() {
  const { cursor } = identityRoute.useSearch();
  const navigate = useNavigate();
  const begin = () => void navigate({ to: '/identity/new' });
  const list = query.useQuery('get', '/v1/sso/connections', {
    params: { query: { limit: 50, ...(cursor && { cursor }) } },
  });
  const connect = (
    <AllowedButton needs="configure" className="button strong" onPress={begin}>
      {say('connect')}
    </AllowedButton>
  );
  return (
    <Page title={say('title')} lead={say('lead')} actions={connect}>
      {list.error && <Problem error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <Loading />}
      {list.data && (
        <Table
          name="sso-connections"
          label={say('title')}
          rows={list.data.connections}
          columns={columns}
          rowId={({ id }) => id}
          link={({ id }) => ({ to: '/identity/$connectionId', params: { connectionId: id } })}
          paging={{ cursor, nextCursor: list.data.nextCursor }}
          empty={
            <Empty title={say('none')}>
              <p>{say('noneText')}</p>
            </Empty>
          }
        />
      )}
      <Tokens />
      <Links />
      <SignedIn />
    </Page>
  );
}

type Session = Schemas['SsoSession'];

const sessionColumns: readonly Column<Session>[] = [
  {
    id: 'person',
    header: say('person'),
    isFixed: true,
    cell: ({ principalId, email, idpSubject }) => <bdi>{principalId ?? email ?? idpSubject}</bdi>,
  },
  { id: 'groups', header: say('groups'), cell: ({ groups }) => groups.join(', ') },
  { id: 'since', header: say('when'), cell: ({ createdAt }) => <When at={createdAt} /> },
  { id: 'expires', header: say('expires'), cell: ({ expiresAt }) => <When at={expiresAt} /> },
  { id: 'end', header: say('actions'), isFixed: true, cell: (session) => <EndSession session={session} /> },
];

/** The newest sign-ons that have not ended. */
function SignedIn() {
  const { data, error, refetch } = query.useQuery('get', '/v1/sso/sessions', {
    params: { query: { limit: 20 } },
  });
  return (
    <Panel title={say('signedIn')}>
      {error && <Problem error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && (
        <Table
          name="sso-sessions"
          label={say('signedIn')}
          rows={data.sessions}
          columns={sessionColumns}
          rowId={({ id }) => id}
          empty={<p className="aside">{say('nobodySignedIn')}</p>}
        />
      )}
    </Panel>
  );
}

const EndSession = ({ session: { id, principalId, idpSubject } }: { readonly session: Session }) => (
  <Act
    text={say('endSession')}
    label={say('endSessionOf', { person: principalId ?? idpSubject })}
    title={say('endSessionOf', { person: principalId ?? idpSubject })}
    needs="operate"
    run={() => api.DELETE('/v1/sso/sessions/{id}', { params: { path: { id } } })}
  >
    <p>{say('endSessionText')}</p>
  </Act>
);
