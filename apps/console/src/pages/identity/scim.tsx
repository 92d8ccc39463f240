import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Button } from 'react-aria-components';
import { api, query, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { Act } from '../../parts/act.tsx';
import { AllowedButton } from '../../parts/allowed-button.tsx';
import { Panel } from '../../parts/page.tsx';
import { Loading, Problem } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Copy, Status, When } from '../../parts/text.tsx';
import { LOOK_EVERY_MS, useWaiting } from './arrivals.tsx';
import { Steps, Values } from './fields.tsx';
import { type Provider, scimUrl, walkthroughOf } from './providers.ts';

const say = sayer('identity');

type Token = Schemas['ScimToken'];

/** How the provider sends its people: the steps there, a token that is shown once, and what has come with it. */
export function Provisioning({ provider }: { readonly provider: Provider }) {
  const [made, show] = useState<Schemas['CreatedScimToken']>();
  const [error, fail] = useState<unknown>();
  const queries = useQueryClient();
  const walkthrough = walkthroughOf(provider);
  const label = walkthrough?.label ?? say('directory');
  const make = async () => {
    try {
      show((await api.POST('/v1/scim/tokens', { body: { label } })).data);
      await queries.invalidateQueries({ queryKey: ['get', '/v1/scim/tokens'] });
    } catch (failure) {
      fail(failure);
    }
  };
  return (
    <>
      <Panel title={say('peopleTitle', { provider: label })}>
        <p>{say('peopleText')}</p>
        {walkthrough && <Steps steps={walkthrough.scim} />}
        <Values values={[[say('scimUrl'), scimUrl()]]} />
        {error !== undefined && <Problem error={error} />}
        {made ? (
          <>
            <p>{say('tokenOnce')}</p>
            <p className="secret">
              <code>{made.token}</code> <Copy text={made.token} of={say('token')} />
            </p>
          </>
        ) : (
          <div className="actions">
            <AllowedButton needs="configure" className="button strong" onPress={() => void make()}>
              {say('makeToken')}
            </AllowedButton>
          </div>
        )}
      </Panel>
      {made && <Provisioned tokenId={made.id} />}
    </>
  );
}

/** What a provider has sent with a token. */
function Provisioned({ tokenId }: { readonly tokenId: string }) {
  const [isLooking, look] = useState(false);
  const { data, error } = query.useQuery(
    'get',
    '/v1/audit/entries',
    { params: { query: { actor: `scim:${tokenId}`, order: 'desc', limit: 10 } } },
    { refetchInterval: isLooking ? LOOK_EVERY_MS : false },
  );
  const entries = data?.entries ?? [];
  const { isWaiting, wait } = useWaiting(String(entries[0]?.entryId));
  const [isBegun, begin] = useState(false);
  useEffect(() => {
    if (isBegun || !data) return;
    begin(true);
    wait();
  }, [isBegun, data, wait]);
  useEffect(() => look(isWaiting), [isWaiting]);
  return (
    <Panel
      title={say('sent')}
      actions={
        <Button className="button" onPress={wait}>
          {say('watch')}
        </Button>
      }
    >
      {error && <Problem error={error} />}
      <p className="aside" role="status">
        {isWaiting ? say('waitingForPeople') : entries.length === 0 ? say('nothingSent') : say('sentText')}
      </p>
      <ul className="rows even">
        {entries.map(({ entryId, action, status, principalId, timestamp }) => (
          <li key={entryId}>
            <code>{action}</code>
            <Status status={status} />
            <bdi>{principalId}</bdi>
            <When at={timestamp} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

const columns: readonly Column<Token>[] = [
  { id: 'label', header: say('tokenFor'), isFixed: true, cell: ({ label }) => <bdi>{label}</bdi> },
  { id: 'used', header: say('used'), cell: ({ lastUsedAt }) => <When at={lastUsedAt} /> },
  { id: 'created', header: say('created'), cell: ({ createdAt }) => <When at={createdAt} /> },
  {
    id: 'expires',
    header: say('expires'),
    cell: ({ expiresAt }) =>
      expiresAt ? <When at={expiresAt} /> : <span className="aside">{say('noEnd')}</span>,
  },
  { id: 'end', header: say('actions'), isFixed: true, cell: (token) => <End token={token} /> },
];

/** The tokens by which providers write people. */
export function Tokens() {
  const { data, error, refetch } = query.useQuery('get', '/v1/scim/tokens', {
    params: { query: { limit: 50 } },
  });
  return (
    <Panel title={say('tokens')}>
      {error && <Problem error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && (
        <Table
          name="scim-tokens"
          label={say('tokens')}
          rows={data.tokens}
          columns={columns}
          rowId={({ id }) => id}
          empty={<p className="aside">{say('noToken')}</p>}
        />
      )}
    </Panel>
  );
}

const End = ({ token: { id, label } }: { readonly token: Token }) => (
  <Act
    text={say('delete')}
    label={say('deleteToken', { label })}
    title={say('deleteToken', { label })}
    needs="configure"
    run={() => api.DELETE('/v1/scim/tokens/{id}', { params: { path: { id } } })}
  >
    <p>{say('deleteTokenText')}</p>
  </Act>
);
