import { createServer, Packet } from 'dns2';

/** A real name server, with the records that a test sets. */
export async function startNameServer() {
  const records = new Map<string, string[]>();
  const silent = new Set<string>();
  const server = createServer({
    udp: true,
    handle(request, send) {
      const [question] = request.questions;
      if (!question || silent.has(question.name)) return;
      const response = Packet.createResponseFromRequest(request);
      const texts = records.get(question.name);
      if (!texts) response.header.rcode = Packet.RCODE.NXDOMAIN;
      for (const text of texts ?? []) {
        const data = text.match(/.{1,20}/g) ?? []; // a record may come in pieces
        response.answers.push(Packet.createResourceFromQuestion(question, { data }));
      }
      send(response);
    },
  });
  await server.listen({ udp: { port: 0, address: '127.0.0.1' } });
  const { port } = server.addresses().udp ?? { port: 0 };
  return { records, silent, address: `127.0.0.1:${port}`, close: () => server.close() };
}

export type NameServer = Awaited<ReturnType<typeof startNameServer>>;
