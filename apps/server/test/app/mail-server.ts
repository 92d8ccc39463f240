import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';

/** Takes every mail (RFC 5321) from this account, and keeps each line that it receives. */
export async function startMailServer(account: { readonly user: string; readonly password: string }) {
  const lines: string[] = [];
  let refusal = '';
  const server = createServer((socket) => {
    const say = (text: string) => socket.write(`${text}\r\n`);
    let isText = false;
    say('220 mail.test');
    createInterface({ input: socket }).on('line', (line) => {
      lines.push(line);
      if (isText) {
        isText = line !== '.';
        if (!isText) say('250 taken');
        return;
      }
      const verb = line.split(' ')[0];
      isText = verb === 'DATA';
      if (verb === 'RCPT' && refusal) say(refusal);
      else if (verb === 'EHLO') say('250-mail.test\r\n250 AUTH PLAIN');
      else if (verb === 'DATA') say('354 go on');
      else if (verb === 'QUIT') socket.end('221 bye\r\n');
      else say(verb === 'AUTH' ? '235 come in' : '250 fine');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const { user, password } = account;
  return {
    lines,
    /** Refuses every recipient with this answer. */
    refuse(answer: string) {
      refusal = answer;
    },
    env: { SMTP_URL: `smtp://${user}:${password}@127.0.0.1:${port}`, MAIL_FROM: 'behest@example.org' },
  };
}
