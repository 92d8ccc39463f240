import { useQueryClient } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { Button, Form, Input, Label, TextField } from 'react-aria-components';
import { api } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { OnceDialog, SecretOnce, useOnce } from '../../parts/secret-once.tsx';
import { useSession } from '../../session/session.ts';
import { rolesOf } from './rights.ts';

const say = sayer('members');

/** Invites a person. The link is shown once, in this dialog, and is nowhere afterwards. */
export default function InviteDialog({ close }: { readonly close: () => void }) {
  const once = useOnce<string>();
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
    <OnceDialog title={made === undefined ? say('invite') : say('made')} once={once} close={close}>
      {made === undefined ? (
        <Form className="form" onSubmit={(event) => void submit(event)}>
          <TextField name="email" type="email" isRequired maxLength={254} autoFocus>
            <Label>{say('email')}</Label>
            <Input />
          </TextField>
          <label className="field">
            <span>{say('role')}</span>
            <select name="role" defaultValue="auditor">
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
              {say('invite')}
            </Button>
          </div>
        </Form>
      ) : (
        <SecretOnce secret={made} of={say('link')} text={say('madeText')} close={close} />
      )}
    </OnceDialog>
  );
}
