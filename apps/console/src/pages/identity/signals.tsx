import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { api, query, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { Act } from '../../parts/act.tsx';
import { Facts, Panel } from '../../parts/page.tsx';
import { Loading, Problem } from '../../parts/states.tsx';
import { Copy, When } from '../../parts/text.tsx';
import { useRoleNeeded } from '../../session/roles.ts';
import { Field, Values } from './fields.tsx';
import { entered, isUnset, present } from './providers.ts';

const say = sayer('signals');

interface OfConnection {
  readonly connectionId: string;
}

/** How the service hears of ended sessions and disabled people from the provider at once. */
export default function Signals({ connectionId }: OfConnection) {
  const [made, show] = useState<string>();
  const params = { path: { id: connectionId } };
  const { data, error, isPending, refetch } = query.useQuery('get', '/v1/sso/connections/{id}/signals', {
    params,
  });
  if (error && !isUnset(error)) return <Problem error={error} retry={() => void refetch()} />;
  if (isPending) return <Loading />;
  const source = error ? undefined : data;
  return (
    <Panel title={say('title')} actions={source && <Stop connectionId={connectionId} />}>
      <p>{say('text')}</p>
      {made !== undefined && (
        <>
          <p>{say('once')}</p>
          <p className="secret">
            <code>{made}</code> <Copy text={made} of={say('header')} />
          </p>
        </>
      )}
      {source ? <Source source={source} /> : <Listen connectionId={connectionId} show={show} />}
    </Panel>
  );
}

const Source = ({ source }: { readonly source: Schemas['SsoSignals'] }) => (
  <>
    <Values
      values={[
        [say('endpoint'), source.endpointUrl],
        [say('audience'), source.audience],
      ]}
    />
    <Facts
      facts={[
        [say('transmitter'), source.transmitter],
        [say('delivery'), say(source.delivery)],
        [say('last'), <When key="last" at={source.lastSignalAt} />],
        [say('verified'), <When key="verified" at={source.verifiedAt} />],
        ...(source.silentSince ? ([[say('silent'), <When key="s" at={source.silentSince} />]] as const) : []),
        ...(source.lastError ? ([[say('error'), <code key="error">{source.lastError}</code>]] as const) : []),
      ]}
    />
  </>
);

interface ListenProps extends OfConnection {
  /** Told the header that the provider sends. It is shown once. */
  readonly show: (header: string | undefined) => void;
}

function Listen({ connectionId, show }: ListenProps) {
  const [error, fail] = useState<unknown>();
  const queries = useQueryClient();
  const role = useRoleNeeded('configure');
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    try {
      const { data } = await api.PUT('/v1/sso/connections/{id}/signals', {
        params: { path: { id: connectionId } },
        body: { delivery: 'push', ...present({ transmitter: entered(form, 'transmitter') }) },
      });
      show(data?.authorizationHeader);
      await queries.invalidateQueries({ queryKey: ['get', '/v1/sso/connections/{id}/signals'] });
    } catch (failure) {
      fail(failure);
    }
  };
  return (
    <Form className="form" onSubmit={(event) => void submit(event)}>
      <Field name="transmitter" label={say('transmitter')} note={say('transmitterText')} type="url" />
      {error !== undefined && <Problem error={error} />}
      <Button className="button strong" type="submit" isDisabled={role !== undefined}>
        {say('listen')} {role !== undefined && `(${role})`}
      </Button>
    </Form>
  );
}

const Stop = ({ connectionId }: OfConnection) => (
  <Act
    text={say('stop')}
    label={say('stop')}
    title={say('stopTitle')}
    needs="configure"
    isLarge
    run={() => api.DELETE('/v1/sso/connections/{id}/signals', { params: { path: { id: connectionId } } })}
  >
    <p>{say('stopText')}</p>
  </Act>
);
