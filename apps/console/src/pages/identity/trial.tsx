import { skipToken, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { api, type Schemas } from '../../api/client.ts';
import { dateTime, sayer } from '../../messages/language.ts';
import { Act } from '../../parts/act.tsx';
import { AllowedButton } from '../../parts/allowed-button.tsx';
import { announce } from '../../parts/announcer.tsx';
import { Facts, Panel } from '../../parts/page.tsx';
import { Problem } from '../../parts/states.tsx';
import { When } from '../../parts/text.tsx';
import type { Connection } from './providers.ts';

const say = sayer('identity');

type Outcome = Schemas['SsoTest'];

/** What the last test of this visit said. It is kept beside the page's reads, because the service keeps only successes. */
const keyOf = (id: string) => ['sso-test', id];
const useOutcome = (id: string) => useQuery<Outcome>({ queryKey: keyOf(id), queryFn: skipToken }).data;

interface TrialProps {
  readonly connection: Connection;
  /** Whether the test runs without being asked for, as after a connection was entered. */
  readonly isDue?: boolean;
}

/** Asks the service to try the provider, and shows what its answer says. */
export function Trial({ connection, isDue = false }: TrialProps) {
  const [state, set] = useState<{ readonly error?: unknown; readonly isBusy?: true }>({});
  const queries = useQueryClient();
  const { id, lastTestedAt } = connection;
  const outcome = useOutcome(id);
  const run = async () => {
    set({ isBusy: true });
    queries.removeQueries({ queryKey: keyOf(id) });
    try {
      const params = { path: { id } };
      const { data: outcome } = await api.POST('/v1/sso/connections/{id}/test', { params, body: {} });
      if (!outcome) return;
      queries.setQueryData(keyOf(id), outcome);
      set({});
      announce(outcome.success ? say('works') : say('fails'));
      await queries.invalidateQueries({ queryKey: ['get', '/v1/sso/connections/{id}'] });
    } catch (error) {
      set({ error });
    }
  };
  const begun = useRef(false);
  useEffect(() => {
    if (!isDue || begun.current) return;
    begun.current = true;
    void run();
  });
  return (
    <Panel
      title={say('test')}
      actions={
        <AllowedButton needs="configure" onPress={() => void run()} isPending={state.isBusy === true}>
          {say('runTest')}
        </AllowedButton>
      }
    >
      {state.error !== undefined && <Problem error={state.error} retry={() => void run()} />}
      {state.isBusy && <p className="aside">{say('testing')}</p>}
      {outcome ? (
        <>
          <p className={outcome.success ? 'verdict good' : 'verdict bad'}>
            {outcome.success ? say('works') : say('fails')}
          </p>
          {outcome.message !== undefined && <p>{outcome.message}</p>}
          <Facts facts={factsOf(outcome)} />
        </>
      ) : (
        <p className="aside">
          {say('lastTested')} <When at={lastTestedAt} />
        </p>
      )}
    </Panel>
  );
}

/** What the provider published or answered, by the names of the API. */
function factsOf({ success, protocol, message, ...found }: Outcome) {
  const shown = Object.entries(found).filter(([, value]) => value !== undefined);
  return shown.map(([name, value]) => {
    const text = name === 'certificateExpiresAt' ? dateTime(String(value)) : String(value);
    return [name, <code key={name}>{text}</code>] as const;
  });
}

/** Whether the last test passed, as far as it is known here. */
export function usePasses({ id, lastTestedAt }: Connection): boolean {
  const outcome = useOutcome(id);
  return lastTestedAt !== null && outcome?.success !== false;
}

/** Pauses a connection, or activates it. Where no test has passed, the question says so and what failed. */
export function Use({ connection }: { readonly connection: Connection }) {
  const { id, name, status } = connection;
  const isOn = status === 'active';
  const passes = usePasses(connection);
  const outcome = useOutcome(id);
  return (
    <Act
      text={isOn ? say('pause') : say('activate')}
      label={say(isOn ? 'pauseOne' : 'activateOne', { name })}
      title={say(isOn ? 'pauseOne' : 'activateOne', { name })}
      needs="configure"
      isLarge
      isHarmless={!isOn}
      run={() =>
        api.PATCH('/v1/sso/connections/{id}', {
          params: { path: { id } },
          body: { status: isOn ? 'inactive' : 'active' },
        })
      }
    >
      {!isOn && !passes && (
        <>
          <p className="verdict bad">{say(outcome?.success === false ? 'fails' : 'untested')}</p>
          {outcome?.message !== undefined && <p>{outcome.message}</p>}
        </>
      )}
      <p>{say(isOn ? 'pauseText' : passes ? 'activateText' : 'activateFailing')}</p>
    </Act>
  );
}
