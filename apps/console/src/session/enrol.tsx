import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { sayer } from '../messages/language.ts';
import { Problem } from '../parts/states.tsx';
import { Codes } from './codes.tsx';
import { registerPasskey } from './passkey.ts';
import { SESSION, type Session, signOut } from './session.ts';

const say = sayer('enrol');

/** What the first owner of a live account does first, and who lost their passkeys: without one the session opens nothing. */
export function Enrol() {
  const queries = useQueryClient();
  const [error, fail] = useState<unknown>();
  const [made, show] = useState<Awaited<ReturnType<typeof registerPasskey>>>();
  const enter = (session: Session | undefined) => queries.setQueryData(SESSION, session);
  const register = async () => {
    try {
      const registered = await registerPasskey();
      if (registered.codes.length === 0) enter(registered.session);
      else show(registered);
    } catch (failure) {
      fail(failure);
    }
  };
  if (made)
    return (
      <main className="alone">
        <p className="brand">Behest</p>
        <h1>{say('codes')}</h1>
        <Codes codes={made.codes} close={() => enter(made.session)} />
      </main>
    );
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
