import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { AllowedButton } from '../../parts/allowed-button.tsx';
import { Confirm } from '../../parts/confirm.tsx';

const say = sayer('webhooks');

/** How far back, in hours. The service keeps deliveries for 30 days. */
const SPANS = { '1': 'hour', '24': 'day', '168': 'week', '720': 'all' } as const;

/** Sends again what failed since a time, once the receiver is mended. */
export function Recover({ webhookId }: { readonly webhookId: string }) {
  const [isOpen, open] = useState(false);
  const [hours, choose] = useState('24');
  const [done, tell] = useState<{ readonly requeued: number; readonly complete: boolean }>();
  const queries = useQueryClient();
  const recover = async () => {
    // A minute less than 30 days, because the service's clock may be ahead of the browser's.
    const since = new Date(Date.now() - Number(hours) * 3_600_000 + 60_000).toISOString();
    const call = { params: { path: { id: webhookId } }, body: { since } };
    const { data } = await api.POST('/v1/webhooks/{id}/recover', call);
    tell(data);
    await queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === 'get' });
  };
  return (
    <>
      <AllowedButton needs="operate" onPress={() => open(true)}>
        {say('recover')}
      </AllowedButton>
      <Confirm
        isOpen={isOpen}
        close={() => open(false)}
        title={say('recoverTitle')}
        action={say('recoverAction')}
        isHarmless
        run={recover}
        done={{
          title: say('recovered', { count: done?.requeued ?? 0 }),
          body: <p>{say(done?.complete === false ? 'recoverMore' : 'recoveredText')}</p>,
        }}
      >
        <label className="field">
          <span>{say('since')}</span>
          <select value={hours} onChange={({ target }) => choose(target.value)}>
            {Object.entries(SPANS).map(([each, key]) => (
              <option key={each} value={each}>
                {say(`since-${key}`)}
              </option>
            ))}
          </select>
        </label>
        <p>{say('recoverText')}</p>
      </Confirm>
    </>
  );
}
