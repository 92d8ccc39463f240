import { once } from 'node:events';
import { createServer } from 'node:net';
import { onTestFinished } from 'vitest';

/** An entry as a directory sends it. */
interface LdapEntry {
  readonly dn: string;
  readonly attributes: Readonly<Record<string, readonly (string | Buffer)[]>>;
}

interface Behaviour {
  /** The answer to a bind: a result code, and the message beside it. */
  bind: (dn: string, password: string) => { readonly code: number; readonly message?: string };
  /** The answer to a search below this base. */
  search: (base: string) => { readonly entries?: readonly LdapEntry[]; readonly code?: number };
}

const lengthOf = (length: number): Buffer =>
  length < 128 ? Buffer.of(length) : Buffer.of(0x83, length >> 16, (length >> 8) & 255, length & 255);
const tlv = (tag: number, ...parts: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.of(tag), lengthOf(content.length), content]);
};
const octets = (text: string | Buffer, tag = 0x04) => tlv(tag, Buffer.from(text));

interface Element {
  readonly tag: number;
  readonly content: Buffer;
  readonly end: number;
}

/** The element at a place of BER, once all of it has come. */
function elementAt(bytes: Buffer, at: number): Element | undefined {
  if (bytes.length < at + 2) return undefined;
  const first = bytes.readUInt8(at + 1);
  const more = first < 128 ? 0 : first & 127;
  const start = at + 2 + more;
  if (bytes.length < start) return undefined;
  const length = more === 0 ? first : bytes.readUIntBE(at + 2, more);
  if (bytes.length < start + length) return undefined;
  return { tag: bytes.readUInt8(at), content: bytes.subarray(start, start + length), end: start + length };
}

function elementsIn(bytes: Buffer): Element[] {
  const elements: Element[] = [];
  for (let at = 0, next = elementAt(bytes, 0); next; next = elementAt(bytes, at)) {
    elements.push(next);
    at = next.end;
  }
  return elements;
}

const resultOf = (tag: number, code: number, message = '') =>
  tlv(tag, tlv(0x0a, Buffer.of(code)), octets(''), octets(message));

const entryOf = ({ dn, attributes }: LdapEntry) => {
  const listed = Object.entries(attributes).map(([name, values]) =>
    tlv(0x30, octets(name), tlv(0x31, ...values.map((value) => octets(value)))),
  );
  return tlv(0x64, octets(dn), tlv(0x30, ...listed));
};

/** A directory that answers what a test makes it answer (RFC 4511), for answers that OpenLDAP does not give. */
export async function startLdapServer(behaviour: Behaviour) {
  const server = createServer((socket) => {
    let bytes = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      for (let message = elementAt(bytes, 0); message; message = elementAt(bytes, 0)) {
        bytes = bytes.subarray(message.end);
        const [id, operation] = elementsIn(message.content);
        const say = (part: Buffer) => socket.write(tlv(0x30, tlv(0x02, id?.content ?? Buffer.of(0)), part));
        const parts = operation ? elementsIn(operation.content) : [];
        const textAt = (index: number) => String(parts[index]?.content ?? '');
        if (operation?.tag === 0x60) {
          const { code, message: said } = behaviour.bind(textAt(1), textAt(2));
          say(resultOf(0x61, code, said));
        } else if (operation?.tag === 0x63) {
          const { entries = [], code = 0 } = behaviour.search(textAt(0));
          for (const entry of entries) say(entryOf(entry));
          say(resultOf(0x65, code));
        } else socket.end();
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `ldap://127.0.0.1:${Object(server.address()).port}`, behaviour };
}
