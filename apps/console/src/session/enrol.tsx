import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { sayer } from '../messages/language.ts';
import { Problem } from '../parts/states.tsx';
import { registerPasskey } from './passkey.ts';
import { SESSION, signOut } from './session.ts';

const say = sayer('enrol');

/** The first thing that the first owner of a live account does: without a passkey their session opens nothing. */
export function Enrol() {
  const queries = useQueryClient();
  const [error, fail] = useState<unknown>();
  const register = async () => {
    try {
      queries.setQueryData(SESSION, await registerPasskey());
    } catch (failure) {
      fail(failure);
    }
  };
  return (
    <main className="alone">
      <p className="brand">Behest</p>
      <h1>{say('title')}</h1>
      <p className="lead">{say('text')}</p>
      {error !== undefined && <Problem error={error} title={say('failed')} />}
      <div className="actions">
        <Button className="button strong" onPress={() => void register()}>
          {say('make')}
        </Button>
        <Button className="button" onPress={() => void signOut().finally(() => location.assign('/console'))}>
          {say('later')}
        </Button>
      </div>
    </main>
  );
}
