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
import { useSession } from '../../session/session.ts';
import { rolesOf } from './rights.ts';

const say = sayer('members');

/** Invites a person. The link is shown once, in this dialog, and is nowhere afterwards. */
export default function InviteDialog({ close }: { readonly close: () => void }) {
  const [made, show] = useState<string>();
  const [error, fail] = useState<unknown>();
  const roles = rolesOf(useSession());
  const queries = useQueryClient();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const role = roles.find((each) => each === form.get('role')) ?? 'auditor';
    try {
      const body = { email: String(form.get('email')).trim(), role };
      const { data } = await api.POST('/v1/members/invitations', { body });
      show(data?.link);
      await queries.invalidateQueries({ queryKey: ['get', '/v1/members/invitations'] });
    } catch (failure) {
      fail(failure);
    }
  };
  return (
    <ModalOverlay className="overlay" isOpen onOpenChange={close}>
      <Modal className="dialog">
        <Dialog>
          <Heading slot="title">{made === undefined ? say('invite') : say('made')}</Heading>
          {error !== undefined && <Problem error={error} />}
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
                <Button className="button" onPress={close}>
                  {say('cancel')}
                </Button>
                <Button className="button strong" type="submit">
                  {say('invite')}
                </Button>
              </div>
            </Form>
          ) : (
            <>
              <p>{say('madeText')}</p>
              <p className="secret">
                <code>{made}</code> <Copy text={made} of={say('link')} />
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
