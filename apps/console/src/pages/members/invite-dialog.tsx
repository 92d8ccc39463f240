import { useQueryClient } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { Button, Form, Input, Label, TextField } from 'react-aria-components';
import { api, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { OnceDialog, SecretOnce, useOnce } from '../../parts/secret-once.tsx';
import { useSession } from '../../session/session.ts';
import { rolesOf } from './rights.ts';

const say = sayer('members');

interface InviteDialogProps {
  readonly close: () => void;
  /** An open invitation, in whose place the person gets a new link. */
  readonly again?: Pick<Schemas['Invitation'], 'email' | 'role'>;
}

/** Invites a person. A link that was not mailed is shown once, in this dialog, and is nowhere afterwards. */
export default function InviteDialog({ close, again }: InviteDialogProps) {
  const once = useOnce<string | null>();
  const { made } = once;
  const roles = rolesOf(useSession());
  const queries = useQueryClient();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const role = roles.find((each) => each === form.get('role')) ?? 'auditor';
    await once.run(async () => {
      const body = { email: String(form.get('email')).trim(), role };
      const { data } = await api.POST('/v1/members/invitations', { body });
      void queries.invalidateQueries({ queryKey: ['get', '/v1/members/invitations'] });
      return data?.link;
    });
  };
  return (
    <OnceDialog
      title={say(made !== undefined ? 'made' : again ? 'resend' : 'invite')}
      once={once}
      close={close}
    >
      {made === undefined ? (
        <Form className="form" onSubmit={(event) => void submit(event)}>
          <TextField
            name="email"
            type="email"
            isRequired
            maxLength={254}
            autoFocus={!again}
            isReadOnly={again !== undefined}
            defaultValue={again?.email ?? ''}
          >
            <Label>{say('email')}</Label>
            <Input />
          </TextField>
          <label className="field">
            <span>{say('role')}</span>
            <select name="role" defaultValue={again?.role ?? 'auditor'}>
              {roles.map((role) => (
                <option key={role} value={role}>
                  {say(role)}
                </option>
              ))}
            </select>
          </label>
          <div className="buttons">
            <Button className="button" isDisabled={once.isBusy === true} onPress={close}>
              {say('cancel')}
            </Button>
            <Button className="button strong" type="submit">
              {say(again ? 'resend' : 'invite')}
            </Button>
          </div>
        </Form>
      ) : made === null ? (
        <>
          <p>{say('mailedText')}</p>
          <div className="buttons">
            <Button className="button strong" onPress={close}>
              {say('close')}
            </Button>
          </div>
        </>
      ) : (
        <SecretOnce secret={made} of={say('link')} text={say('madeText')} close={close} />
      )}
    </OnceDialog>
  );
}
