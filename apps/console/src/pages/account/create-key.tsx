import { useQueryClient } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { Button, Form, Input, Label, TextField } from 'react-aria-components';
import { api } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { OnceDialog, SecretOnce, useOnce } from '../../parts/secret-once.tsx';

const say = sayer('keys');

/** Makes a key. Its text is shown once, in this dialog, and is nowhere afterwards. */
export default function CreateKey({ close }: { readonly close: () => void }) {
  const once = useOnce<string>();
  const { made } = once;
  const queries = useQueryClient();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const role = form.get('role') === 'full' ? 'full' : 'runtime';
    await once.run(async () => {
      const { data } = await api.POST('/v1/keys', { body: { name: String(form.get('name')), role } });
      void queries.invalidateQueries({ queryKey: ['get', '/v1/keys'] });
      return data?.apiKey;
    });
  };
  return (
    <OnceDialog title={made === undefined ? say('create') : say('made')} once={once} close={close}>
      {made === undefined ? (
        <Form className="form" onSubmit={(event) => void submit(event)}>
          <TextField name="name" isRequired maxLength={100} autoFocus>
            <Label>{say('name')}</Label>
            <Input />
          </TextField>
          <label className="field">
            <span>{say('role')}</span>
            <select name="role" defaultValue="runtime">
              <option value="runtime">{say('runtimeText')}</option>
              <option value="full">{say('fullText')}</option>
            </select>
          </label>
          <div className="buttons">
            <Button className="button" isDisabled={once.isBusy === true} onPress={close}>
              {say('cancel')}
            </Button>
            <Button className="button strong" type="submit">
              {say('create')}
            </Button>
          </div>
        </Form>
      ) : (
        <SecretOnce secret={made} of={say('title')} text={say('madeText')} close={close} />
      )}
    </OnceDialog>
  );
}
