import { Button } from 'react-aria-components';
import { sayer } from '../messages/language.ts';
import { Copy } from '../parts/text.tsx';

const say = sayer('codes');

interface CodesProps {
  readonly codes: readonly string[];
  readonly close: () => void;
}

/** Recovery codes, which are nowhere afterwards. */
export const Codes = ({ codes, close }: CodesProps) => (
  <>
    <p>{say('text')}</p>
    <ol className="secret codes">
      {codes.map((code) => (
        <li key={code}>
          <code>{code.replaceAll(/.{4}(?=.)/g, '$&-')}</code>
        </li>
      ))}
    </ol>
    <div className="buttons">
      <Copy text={codes.join('\n')} of={say('codes')} />
      <Button className="button strong" onPress={close}>
        {say('saved')}
      </Button>
    </div>
  </>
);
