import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { api } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { OnceDialog, SecretOnce, useOnce } from '../../parts/secret-once.tsx';

const say = sayer('webhooks');

/** How long the old secret signs beside the new one, in seconds. */
const GRACES = { '86400': 'graceDay', '604800': 'graceWeek', '3600': 'graceHour', '0': 'graceNone' } as const;

/** Gives a webhook a new secret, which is shown once. */
export default function RotateDialog({ id, close }: { readonly id: string; readonly close: () => void }) {
  const [graceSeconds, choose] = useState(86_400);
  const once = useOnce<string>();
  const secret = once.made;
  const queries = useQueryClient();
  const rotate = async () => {
    const call = { params: { path: { id } }, body: { graceSeconds } };
    await once.run(async () => {
      const { data } = await api.POST('/v1/webhooks/{id}/rotate-secret', call);
      void queries.invalidateQueries({ queryKey: ['get', '/v1/webhooks/{id}'] });
      return data?.secret;
    });
  };
  return (
    <OnceDialog
      title={secret === undefined ? say('rotateTitle') : say('rotated')}
      once={once}
      role="alertdialog"
      close={close}
    >
      {secret === undefined ? (
        <>
          <label className="field">
            <span>{say('grace')}</span>
            <select value={graceSeconds} onChange={({ target }) => choose(Number(target.value))}>
              {Object.entries(GRACES).map(([seconds, key]) => (
                <option key={seconds} value={seconds}>
                  {say(key)}
                </option>
              ))}
            </select>
          </label>
          <p>{say(graceSeconds === 0 ? 'rotateNow' : 'rotateText')}</p>
          <div className="buttons">
            <Button className="button" isDisabled={once.isBusy === true} onPress={close}>
              {say('cancel')}
            </Button>
            <Button className="button strong" onPress={() => void rotate()}>
              {say('rotate')}
            </Button>
          </div>
        </>
      ) : (
        <SecretOnce secret={secret} of={say('secret')} text={say('madeText')} close={close} />
      )}
    </OnceDialog>
  );
}
