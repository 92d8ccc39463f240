import { Button } from 'react-aria-components';
import { sayer } from '../../messages/language.ts';
import { Copy } from '../../parts/text.tsx';

const say = sayer('webhooks');

interface SecretOnceProps {
  readonly secret: string;
  readonly text: string;
  readonly close: () => void;
}

/** A secret in a dialog that is nowhere afterwards. */
export const SecretOnce = ({ secret, text, close }: SecretOnceProps) => (
  <>
    <p>{text}</p>
    <p className="secret">
      <code>{secret}</code> <Copy text={secret} of={say('secret')} />
    </p>
    <div className="buttons">
      <Button className="button strong" onPress={close}>
        {say('saved')}
      </Button>
    </div>
  </>
);
