import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useEffect, useState } from 'react';
import { Button, Form, Input, Label, TextField } from 'react-aria-components';
import { sayer } from '../messages/language.ts';
import { Problem } from '../parts/states.tsx';
import { signInByPasskey } from './passkey.ts';
import { goToProvider, recover, SESSION, type Session, signInByKey } from './session.ts';

const say = sayer('signIn');

/** The ways in: a passkey of a member, their organisation, or a key of the account. @param refusal of a link that was used before, or is too old */
export function SignIn({ refusal }: { readonly refusal: unknown }) {
  const queries = useQueryClient();
  const [state, set] = useState<{ readonly isBusy?: true; readonly error?: unknown }>({});

  const failure = state.error ?? refusal;

  useEffect(() => {
    document.title = `${say('title')} – Behest`;
  }, []);

  const enter = async (session: Promise<Session>) => {
    set({ isBusy: true });
    try {
      queries.setQueryData(SESSION, await session);
    } catch (error) {
      set({ error });
    }
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const [key, displayName, email] = ['key', 'displayName', 'email'].map((name) =>
      String(form.get(name)).trim(),
    );
    void enter(signInByKey(key ?? '', { displayName: displayName ?? '', email: email ?? '' }));
  };

  const submitCode = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    void enter(recover({ email: String(form.get('email')).trim(), code: String(form.get('code')) }));
  };

  return (
    <main className="alone">
      <p className="brand">Behest</p>
      <h1>{say('title')}</h1>
      <p className="lead">{say('lead')}</p>
      {failure !== undefined && <Problem error={failure} title={say('failed')} />}
      <section className="panel">
        <h2>{say('passkey')}</h2>
        <p>{say('passkeyText')}</p>
        <Button
          className="button strong wide-button"
          isDisabled={state.isBusy === true}
          onPress={() => void enter(signInByPasskey())}
        >
          {say('usePasskey')}
        </Button>
        <details>
          <summary>{say('lostPasskey')}</summary>
          <p>{say('recoverText')}</p>
          <Form className="form" onSubmit={submitCode}>
            <TextField name="email" type="email" isRequired maxLength={254} autoComplete="email">
              <Label>{say('memberEmail')}</Label>
              <Input />
            </TextField>
            <TextField name="code" isRequired minLength={16} maxLength={64} autoComplete="off">
              <Label>{say('code')}</Label>
              <Input spellCheck="false" />
            </TextField>
            <Button type="submit" className="button" isDisabled={state.isBusy === true}>
              {say('recover')}
            </Button>
          </Form>
        </details>
      </section>
      <section className="panel">
        <h2>{say('organisation')}</h2>
        <Form
          className="form"
          onSubmit={(event) => {
            event.preventDefault();
            goToProvider(String(new FormData(event.currentTarget).get('organisation')).trim());
          }}
        >
          <TextField name="organisation" isRequired maxLength={254} autoComplete="organization">
            <Label>{say('domain')}</Label>
            <Input spellCheck="false" placeholder="example.com" />
          </TextField>
          <Button type="submit" className="button strong wide-button">
            {say('useOrganisation')}
          </Button>
        </Form>
      </section>
      <section className="panel">
        <h2>{say('key')}</h2>
        <p>{say('keyText')}</p>
        <Form className="form" onSubmit={submit}>
          <TextField name="key" type="password" isRequired autoComplete="off">
            <Label>{say('keyField')}</Label>
            <Input spellCheck="false" />
          </TextField>
          <TextField name="displayName" isRequired maxLength={100} autoComplete="name">
            <Label>{say('name')}</Label>
            <Input />
          </TextField>
          <TextField name="email" type="email" isRequired maxLength={254} autoComplete="email">
            <Label>{say('email')}</Label>
            <Input />
          </TextField>
          <Button type="submit" className="button strong" isDisabled={state.isBusy === true}>
            {say('useKey')}
          </Button>
        </Form>
      </section>
      <p className="aside">{say('lost')}</p>
    </main>
  );
}
