import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { api, type Schemas } from '../../api/client.ts';
import { dateTime, sayer } from '../../messages/language.ts';
import { AllowedButton } from '../../parts/allowed-button.tsx';
import { announce } from '../../parts/announcer.tsx';
import { Facts, Panel } from '../../parts/page.tsx';
import { Problem } from '../../parts/states.tsx';
import { When } from '../../parts/text.tsx';
import type { Connection } from './providers.ts';

const say = sayer('identity');

type Outcome = Schemas['SsoTest'];

interface TrialProps {
  readonly connection: Connection;
  /** Whether the test runs without being asked for, as after a connection was entered. */
  readonly isDue?: boolean;
  /** Told each outcome. */
  readonly tested?: (works: boolean) => void;
}

/** Asks the service to try the provider, and shows what its answer says. */
export function Trial({ connection, isDue = false, tested }: TrialProps) {
  const [state, set] = useState<{
    readonly outcome?: Outcome;
    readonly error?: unknown;
    readonly isBusy?: true;
  }>({});
  const queries = useQueryClient();
  const { id, lastTestedAt } = connection;
  const run = async () => {
    set({ isBusy: true });
    try {
      const params = { path: { id } };
      const { data: outcome } = await api.POST('/v1/sso/connections/{id}/test', { params, body: {} });
      if (!outcome) return;
      set({ outcome });
      announce(outcome.success ? say('works') : say('fails'));
      tested?.(outcome.success);
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
  const { outcome } = state;
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
