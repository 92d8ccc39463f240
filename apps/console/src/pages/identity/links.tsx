import { lazy, Suspense, useState } from 'react';
import { api, query, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { Act } from '../../parts/act.tsx';
import { AllowedButton } from '../../parts/allowed-button.tsx';
import { Panel } from '../../parts/page.tsx';
import { Loading, Problem } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Status, When } from '../../parts/text.tsx';

const say = sayer('identity');

type SetupLink = Schemas['SetupLink'];

const LinkDialog = lazy(() => import('./link-dialog.tsx'));

export interface ByLinkProps {
  /** The connection that the other person changes. Without one they make one. */
  readonly connectionId?: string;
  readonly name?: string;
}

/** Makes a link by which somebody else enters their provider. It is shown once. */
export function ByLink(props: ByLinkProps) {
  const [isOpen, open] = useState(false);
  return (
    <>
      <AllowedButton needs="configure" onPress={() => open(true)}>
        {say('byLink')}
      </AllowedButton>
      {isOpen && (
        <Suspense>
          <LinkDialog {...props} close={() => open(false)} />
        </Suspense>
      )}
    </>
  );
}

const columns: readonly Column<SetupLink>[] = [
  { id: 'name', header: say('organisation'), isFixed: true, cell: ({ name }) => <bdi>{name}</bdi> },
  { id: 'status', header: say('status'), cell: ({ status }) => <Status status={status} /> },
  { id: 'for', header: say('purposes'), cell: ({ purposes }) => purposes.map((one) => say(one)).join(', ') },
  { id: 'opened', header: say('opened'), cell: ({ openedAt }) => <When at={openedAt} /> },
  { id: 'expires', header: say('expires'), cell: ({ expiresAt }) => <When at={expiresAt} /> },
  { id: 'end', header: say('actions'), isFixed: true, cell: (link) => <Revoke link={link} /> },
];

/** The links that were made, until a month after their end. */
export function Links() {
  const { data, error, refetch } = query.useQuery('get', '/v1/sso/setup-links', {
    params: { query: { limit: 50 } },
  });
  return (
    <Panel title={say('links')} actions={<ByLink />}>
      {error && <Problem error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && (
        <Table
          name="setup-links"
          label={say('links')}
          rows={data.links}
          columns={columns}
          rowId={({ id }) => id}
          empty={<p className="aside">{say('noLink')}</p>}
        />
      )}
    </Panel>
  );
}

function Revoke({ link: { id, name, status } }: { readonly link: SetupLink }) {
  if (status === 'finished' || status === 'expired') return null;
  return (
    <Act
      text={say('revoke')}
      label={say('revokeLink', { name })}
      title={say('revokeLink', { name })}
      needs="configure"
      run={() => api.DELETE('/v1/sso/setup-links/{id}', { params: { path: { id } } })}
    >
      <p>{say('revokeLinkText')}</p>
    </Act>
  );
}
