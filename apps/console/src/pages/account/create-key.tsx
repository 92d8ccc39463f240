import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import {
  Button,
  Dialog,
  Form,
  Heading,
  Input,
  Label,
  Modal,
  ModalOverlay,
  TextField,
} from 'react-aria-components';
import { api } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { Problem } from '../../parts/states.tsx';
import { Copy } from '../../parts/text.tsx';

const say = sayer('keys');

/** Makes a key. Its text is shown once, in this dialog, and is nowhere afterwards. */
export default function CreateKey({ close }: { readonly close: () => void }) {
  const [made, show] = useState<string>();
  const [error, fail] = useState<unknown>();
  const queries = useQueryClient();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const role = form.get('role') === 'full' ? 'full' : 'runtime';
    try {
      const { data } = await api.POST('/v1/keys', { body: { name: String(form.get('name')), role } });
      show(data?.apiKey);
      await queries.invalidateQueries({ queryKey: ['get', '/v1/keys'] });
    } catch (failure) {
      fail(failure);
    }
  };
  return (
    <ModalOverlay className="overlay" isOpen onOpenChange={close}>
      <Modal className="dialog">
        <Dialog>
          <Heading slot="title">{made === undefined ? say('create') : say('made')}</Heading>
          {error !== undefined && <Problem error={error} />}
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
                <Button className="button" onPress={close}>
                  {say('cancel')}
                </Button>
                <Button className="button strong" type="submit">
                  {say('create')}
                </Button>
              </div>
            </Form>
          ) : (
            <>
              <p>{say('madeText')}</p>
              <p className="secret">
                <code>{made}</code> <Copy text={made} of={say('title')} />
              </p>
              <div className="buttons">
                <Button className="button strong" onPress={close}>
                  {say('saved')}
                </Button>
              </div>
            </>
          )}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
