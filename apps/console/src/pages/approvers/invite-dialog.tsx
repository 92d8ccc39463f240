import { useQueryClient } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { Button, Form, Input, Label, Text, TextField } from 'react-aria-components';
import { api, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { OnceDialog, SecretOnce, useOnce } from '../../parts/secret-once.tsx';

const say = sayer('approvers');

/** Invites somebody to approve. A link that was not mailed is shown once, in this dialog. */
export default function InviteDialog({ close }: { readonly close: () => void }) {
  const once = useOnce<Schemas['ApproverInvitation']>();
  const { made } = once;
  const queries = useQueryClient();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const given = (name: string) => String(form.get(name) ?? '').trim();
    const groups = given('groups')
      .split(/[\s,]+/)
      .filter(Boolean);
    await once.run(async () => {
      const body = { email: given('email'), displayName: given('name'), groups };
      const { data } = await api.POST('/v1/approvers', { body });
      void queries.invalidateQueries({ queryKey: ['get', '/v1/approvers'] });
      return data;
    });
  };
  return (
    <OnceDialog
      title={say(made === undefined ? 'invite' : made.link === null ? 'mailed' : 'made')}
      once={once}
      close={close}
    >
      {made === undefined ? (
        <Form className="form" onSubmit={(event) => void submit(event)}>
          <TextField name="email" type="email" isRequired maxLength={254} autoFocus>
            <Label>{say('email')}</Label>
            <Input />
          </TextField>
          <TextField name="name" isRequired maxLength={100}>
            <Label>{say('name')}</Label>
            <Input />
          </TextField>
          <TextField name="groups">
            <Label>{say('groups')}</Label>
            <Input placeholder="finance" spellCheck="false" />
            <Text slot="description" className="aside">
              {say('groupsText')}
            </Text>
          </TextField>
          <div className="buttons">
            <Button className="button" isDisabled={once.isBusy === true} onPress={close}>
              {say('cancel')}
            </Button>
            <Button className="button strong" type="submit">
              {say('invite')}
            </Button>
          </div>
        </Form>
      ) : made.link === null ? (
        <>
          <p>{say('mailedText')}</p>
          <div className="buttons">
            <Button className="button strong" onPress={close}>
              {say('close')}
            </Button>
          </div>
        </>
      ) : (
        <SecretOnce secret={made.link} of={say('link')} text={say('madeText')} close={close} />
      )}
    </OnceDialog>
  );
}
