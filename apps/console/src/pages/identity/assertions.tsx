import { lazy, Suspense, useState } from 'react';
import { api, query, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { Act } from '../../parts/act.tsx';
import { AgentName, useAgentNames } from '../../parts/agents.tsx';
import { AllowedButton } from '../../parts/allowed-button.tsx';
import { Facts, Panel } from '../../parts/page.tsx';
import { Loading, Problem } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Scopes, Status, When } from '../../parts/text.tsx';
import { isUnset } from './providers.ts';

const say = sayer('assertions');
const AddClient = lazy(() => import('./client-dialog.tsx'));

type Rule = Schemas['IdJagClientRule'];

interface OfConnection {
  readonly connectionId: string;
}

/** Whether the provider decides in place of its people, and for which clients it may speak. */
export default function Assertions({ connectionId }: OfConnection) {
  const params = { path: { id: connectionId } };
  const trust = query.useQuery('get', '/v1/sso/connections/{id}/id-jag', { params });
  const isOn = !trust.error && trust.data?.enabled === true;
  if (trust.error && !isUnset(trust.error))
    return <Problem error={trust.error} retry={() => void trust.refetch()} />;
  if (trust.isPending) return <Loading />;
  return (
    <>
      <Panel
        title={say('title')}
        actions={isOn ? <AskAgain connectionId={connectionId} /> : <Believe connectionId={connectionId} />}
      >
        <p>{isOn ? say('on') : say('off')}</p>
        {isOn && trust.data && (
          <Facts
            facts={[
              [say('tenant'), trust.data.tenant ?? say('none')],
              [say('longest'), say('seconds', { count: trust.data.maxAssertionSeconds })],
              [say('since'), <When key="since" at={trust.data.createdAt} />],
            ]}
          />
        )}
      </Panel>
      {isOn && <Clients connectionId={connectionId} />}
    </>
  );
}

const Believe = ({ connectionId }: OfConnection) => (
  <Act
    text={say('believe')}
    label={say('believe')}
    title={say('believeTitle')}
    needs="configure"
    isLarge
    isHarmless
    run={() =>
      api.PUT('/v1/sso/connections/{id}/id-jag', {
        params: { path: { id: connectionId } },
        body: { enabled: true, acknowledge: 'no personal consent', tenant: null, maxAssertionSeconds: 900 },
      })
    }
  >
    <p>{say('believeText')}</p>
  </Act>
);

const AskAgain = ({ connectionId }: OfConnection) => (
  <Act
    text={say('askAgain')}
    label={say('askAgain')}
    title={say('askAgainTitle')}
    needs="configure"
    isLarge
    run={() => api.DELETE('/v1/sso/connections/{id}/id-jag', { params: { path: { id: connectionId } } })}
  >
    <p>{say('askAgainText')}</p>
  </Act>
);

const columns: readonly Column<Rule>[] = [
  { id: 'agent', header: say('client'), isFixed: true, cell: ({ agentId }) => <AgentName id={agentId} /> },
  { id: 'status', header: say('status'), cell: ({ status }) => <Status status={status} /> },
  { id: 'scopes', header: say('scopes'), cell: ({ scopes }) => <Scopes scopes={scopes} /> },
  {
    id: 'ttl',
    header: say('tokenLasts'),
    cell: ({ tokenTtlSeconds }) => say('seconds', { count: tokenTtlSeconds }),
  },
  { id: 'end', header: say('actions'), isFixed: true, cell: (rule) => <Remove rule={rule} /> },
];

function Clients({ connectionId }: OfConnection) {
  const [isAdding, add] = useState(false);
  const { data, error, refetch } = query.useQuery('get', '/v1/sso/connections/{id}/clients', {
    params: { path: { id: connectionId }, query: { limit: 50 } },
  });
  return (
    <Panel
      title={say('clients')}
      actions={
        <AllowedButton needs="configure" onPress={() => add(true)}>
          {say('add')}
        </AllowedButton>
      }
    >
      {isAdding && (
        <Suspense>
          <AddClient connectionId={connectionId} close={() => add(false)} />
        </Suspense>
      )}
      {error && <Problem error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && (
        <Table
          name="assertion-clients"
          label={say('clients')}
          rows={data.clients}
          columns={columns}
          rowId={({ id }) => id}
          empty={<p className="aside">{say('noClient')}</p>}
        />
      )}
    </Panel>
  );
}

function Remove({ rule: { id: clientRuleId, connectionId: id, agentId } }: { readonly rule: Rule }) {
  const name = useAgentNames().get(agentId) ?? agentId;
  return (
    <Act
      text={say('remove')}
      label={say('removeOne', { name })}
      title={say('removeOne', { name })}
      needs="configure"
      run={() =>
        api.DELETE('/v1/sso/connections/{id}/clients/{clientRuleId}', {
          params: { path: { id, clientRuleId } },
        })
      }
    >
      <p>{say('removeText')}</p>
    </Act>
  );
}
