import { lazy, Suspense, useState } from 'react';
import { api, query, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { Act } from '../../parts/act.tsx';
import { AllowedButton } from '../../parts/allowed-button.tsx';
import { Page, Panel } from '../../parts/page.tsx';
import { Empty, Loading, Problem } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Copy, Id, Scopes, Status, When } from '../../parts/text.tsx';
import { connectionsRoute } from '../routes.ts';

const say = sayer('connections');
const ProviderDialog = lazy(() => import('./provider-dialog.tsx'));

type Provider = Schemas['Provider'];
type Account = Schemas['VaultCredential'];

const columns: readonly Column<Provider>[] = [
  { id: 'name', header: say('name'), isFixed: true, cell: ({ name }) => <bdi>{name}</bdi> },
  { id: 'service', header: say('service'), cell: ({ service }) => <code>{service}</code> },
  { id: 'status', header: say('status'), cell: ({ status }) => <Status status={status} /> },
  {
    id: 'callback',
    header: say('callback'),
    cell: ({ redirectUri, name }) => (
      <span>
        <code>{redirectUri}</code> <Copy text={redirectUri} of={say('callbackOf', { name })} />
      </span>
    ),
  },
  { id: 'error', header: say('lastError'), cell: ({ lastError }) => lastError ?? '' },
  { id: 'id', header: say('id'), isExtra: true, cell: ({ id }) => <Id id={id} of={say('id')} /> },
  { id: 'end', header: say('actions'), isFixed: true, cell: (provider) => <Delete provider={provider} /> },
];

const accountColumns: readonly Column<Account>[] = [
  { id: 'person', header: say('person'), isFixed: true, cell: ({ principalId }) => <bdi>{principalId}</bdi> },
  { id: 'service', header: say('service'), cell: ({ service }) => <code>{service}</code> },
  {
    id: 'account',
    header: say('account'),
    cell: ({ connection }) => connection?.account?.label ?? connection?.account?.id ?? say('byApi'),
  },
  {
    id: 'status',
    header: say('status'),
    cell: ({ connection }) => connection && <Status status={connection.status} />,
  },
  {
    id: 'missing',
    header: say('missing'),
    cell: ({ connection }) => connection && <Scopes scopes={connection.missingScopes} />,
  },
  { id: 'used', header: say('used'), cell: ({ lastExchangedAt }) => <When at={lastExchangedAt} /> },
];

/** The upstreams at which people connect accounts that agents then use, and how those connections are. */
export function Connections() {
  const { cursor } = connectionsRoute.useSearch();
  const [isAdding, add] = useState(false);
  const providers = query.useQuery('get', '/v1/vault/providers', { params: { query: { limit: 100 } } });
  const accounts = query.useQuery('get', '/v1/vault/credentials', {
    params: { query: { limit: 50, ...(cursor && { cursor }) } },
  });
  return (
    <Page
      title={say('title')}
      lead={say('lead')}
      actions={
        <AllowedButton needs="configure" className="button strong" onPress={() => add(true)}>
          {say('add')}
        </AllowedButton>
      }
    >
      {isAdding && (
        <Suspense>
          <ProviderDialog close={() => add(false)} />
        </Suspense>
      )}
      {providers.error && <Problem error={providers.error} retry={() => void providers.refetch()} />}
      {providers.isPending && <Loading />}
      {providers.data && (
        <Table
          name="providers"
          label={say('providers')}
          rows={providers.data.providers}
          columns={columns}
          rowId={({ id }) => id}
          empty={
            <Empty title={say('none')}>
              <p>{say('noneText')}</p>
            </Empty>
          }
        />
      )}
      <Panel title={say('accounts')}>
        {accounts.error && <Problem error={accounts.error} retry={() => void accounts.refetch()} />}
        {accounts.data && (
          <Table
            name="accounts"
            label={say('accounts')}
            rows={accounts.data.credentials}
            columns={accountColumns}
            rowId={({ id }) => id}
            link={({ principalId }) => ({ to: '/people/$principalId', params: { principalId } })}
            paging={{ cursor, nextCursor: accounts.data.nextCursor }}
            empty={<p className="aside">{say('noAccount')}</p>}
          />
        )}
      </Panel>
    </Page>
  );
}

const Delete = ({ provider: { id, name } }: { readonly provider: Provider }) => (
  <Act
    text={say('delete')}
    label={say('deleteOne', { name })}
    title={say('deleteOne', { name })}
    needs="configure"
    run={() => api.DELETE('/v1/vault/providers/{id}', { params: { path: { id } } })}
  >
    <p>{say('deleteText')}</p>
  </Act>
);
