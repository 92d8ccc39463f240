import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Button, Form, Input, Label, TextArea, TextField } from 'react-aria-components';
import { number, sayer } from '../../messages/language.ts';
import { announce } from '../../parts/announcer.tsx';
import { Page, Panel } from '../../parts/page.tsx';
import { type Checked, checkSignature, type SignatureReport } from './check-signature.ts';

const say = sayer('signature');

const OLDEST = 300; // seconds, as the guide has it

/** Says whether a delivery that a program received is signed with a secret. The browser computes it, and sends nothing. */
export function Signature() {
  const [report, show] = useState<SignatureReport | 'unreadable'>();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const given = (name: string) => String(form.get(name) ?? '');
    const pasted = { secret: given('secret').trim(), headers: given('headers'), body: lf(given('body')) };
    const found = await checkSignature(pasted, Date.now()).catch(() => 'unreadable' as const);
    show(found);
    announce(summaryOf(found));
  };
  return (
    <Page trail={<Link to="/webhooks">{say('webhooks')}</Link>} title={say('title')} lead={say('lead')}>
      <Panel title={say('paste')}>
        <Form className="form" onSubmit={(event) => void submit(event)} autoComplete="off">
          <TextField name="secret" isRequired maxLength={200}>
            <Label>{say('secret')}</Label>
            <Input placeholder="whsec_…" spellCheck="false" type="password" />
          </TextField>
          <TextField name="headers" isRequired>
            <Label>{say('headers')}</Label>
            <TextArea rows={6} spellCheck="false" placeholder={say('headersForm')} />
          </TextField>
          <TextField name="body" isRequired>
            <Label>{say('body')}</Label>
            <TextArea rows={6} spellCheck="false" placeholder={say('bodyForm')} />
          </TextField>
          <Button className="button strong" type="submit">
            {say('check')}
          </Button>
        </Form>
      </Panel>
      {report !== undefined && (
        <Panel title={say('result')}>
          <p className={isGood(report) ? 'verdict good' : 'verdict bad'}>{summaryOf(report)}</p>
          {report !== 'unreadable' && (
            <>
              <ul className="rows">
                {report.schemes.map(({ scheme, verdict }) => (
                  <li key={scheme}>
                    <code>{scheme}</code>
                    <span>{say(verdict)}</span>
                  </li>
                ))}
              </ul>
              <p className="aside">{ageOf(report)}</p>
            </>
          )}
        </Panel>
      )}
    </Page>
  );
}

/** A form sends line ends of its own. A body of the service has none that are not escaped. */
const lf = (body: string) => body.replaceAll('\r\n', '\n');

const isGood = (report: SignatureReport | 'unreadable') =>
  report !== 'unreadable' && verdictOf(report) === 'good';

/** The best of those that were sent; the service makes all three from one secret. */
function verdictOf({ schemes }: SignatureReport): Checked['verdict'] {
  const order = ['good', 'changed', 'bad'] as const;
  return order.find((each) => schemes.some(({ verdict }) => verdict === each)) ?? 'absent';
}

const summaryOf = (report: SignatureReport | 'unreadable') =>
  report === 'unreadable' ? say('unreadable') : say(`is-${verdictOf(report)}`);

function ageOf({ age }: SignatureReport): string {
  if (age === undefined) return say('noTime');
  const minutes = number(Math.round(Math.abs(age) / 60));
  return say(Math.abs(age) > OLDEST ? 'old' : 'fresh', { minutes });
}
