import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { api, query } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Panel } from '../../parts/page.tsx';
import { useSession } from '../../session/session.ts';

const say = sayer('changes');

/** Whether the account asks for two people, and the button of its owners. */
export function Rule() {
  const { data } = query.useQuery('get', '/v1/me');
  const { developer, capabilities } = useSession();
  const [isOpen, open] = useState(false);
  const queries = useQueryClient();
  if (developer.mode === 'sandbox')
    return (
      <Panel title={say('rule')}>
        <p className="aside">{say('ruleSandbox')}</p>
      </Panel>
    );
  if (!data) return null;
  const isOn = data.requireTwoForLoosening;
  const isOwner = capabilities.includes('own');
  const action = isOn ? say('turnOff') : say('turnOn');
  const change = async () => {
    try {
      await api.PATCH('/v1/me', { body: { requireTwoForLoosening: !isOn } });
    } finally {
      await queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === 'get' });
    }
  };
  return (
    <Panel
      title={say('rule')}
      actions={
        <span className="actions">
          {!isOwner && <span className="aside">{say('owners')}</span>}
          <Button className="button" isDisabled={!isOwner} onPress={() => open(true)}>
            {action}
          </Button>
        </span>
      }
    >
      <p>{isOn ? say('ruleOn') : say('ruleOff')}</p>
      <Confirm
        isOpen={isOpen}
        close={() => open(false)}
        title={say('rule')}
        action={action}
        isHarmless
        run={change}
      >
        <p>{isOn ? say('turnOffText') : say('turnOnText')}</p>
      </Confirm>
    </Panel>
  );
}
